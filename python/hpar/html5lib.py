"""The calls of html5lib, with HPar as the parser.

>>> import hpar.html5lib as html5lib
>>> html5lib.parse('<p>a', namespaceHTMLElements=False).find('body/p').text
'a'
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _core, trees

_BUILDERS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {"etree": (trees.to_etree, trees.etree_fragment), "dom": (trees.to_dom, trees.dom_fragment)}


def _builder(treebuilder: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    try:
        return _BUILDERS[treebuilder]
    except KeyError:
        raise ValueError(f"there is no tree builder {treebuilder!r}; it is 'etree' or 'dom'") from None


def _parse(data: Any, options: dict[str, Any]) -> _core.Document:
    encoding = None
    for name in ("override_encoding", "transport_encoding"):
        encoding = encoding or options.pop(name, None)
    for name in ("likely_encoding", "same_origin_parent_encoding", "default_encoding", "useChardet"):
        options.pop(name, None)  # the parser finds the encoding as the standard defines it
    if hasattr(data, "read"):
        data = data.read()
    if isinstance(data, str):
        encoding = None
    return _core.parse(data, encoding=encoding, **options)


def parse(doc: Any, treebuilder: str = "etree", namespaceHTMLElements: bool = True, **kwargs: Any) -> Any:
    """Parses a page and returns html5lib's tree: an Element, or a minidom Document.

    `doc` is str, bytes or a file. The arguments `override_encoding`, `transport_encoding` and `scripting` are those
    of html5lib.
    """
    return _builder(treebuilder)[0](_parse(doc, kwargs), namespaceHTMLElements)


def parseFragment(doc: Any, container: str = "div", treebuilder: str = "etree", namespaceHTMLElements: bool = True,
                  **kwargs: Any) -> Any:
    """Parses a fragment in the context of an element, and returns html5lib's fragment.

    >>> [child.tag for child in parseFragment('<b>a</b>c', namespaceHTMLElements=False)]
    ['b']
    """
    return _builder(treebuilder)[1](_parse(doc, {"fragment": container, **kwargs}), namespaceHTMLElements)


class HTMLParser:
    """A parser with html5lib's interface. `tree` is 'etree' or 'dom'."""

    def __init__(self, tree: str = "etree", strict: bool = False, namespaceHTMLElements: bool = True,
                 debug: bool = False) -> None:
        if strict:
            raise ValueError("strict is not supported")
        self._tree, self._namespaces = tree, namespaceHTMLElements

    def parse(self, stream: Any, **kwargs: Any) -> Any:
        """Parses a page."""
        return parse(stream, self._tree, self._namespaces, **kwargs)

    def parseFragment(self, stream: Any, container: str = "div", **kwargs: Any) -> Any:
        """Parses a fragment."""
        return parseFragment(stream, container, self._tree, self._namespaces, **kwargs)
