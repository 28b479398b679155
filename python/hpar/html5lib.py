"""The calls of html5lib, with HPar as the parser.

>>> import hpar.html5lib as html5lib
>>> html5lib.parse('<p>a', namespaceHTMLElements=False).find('body/p').text
'a'
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

from . import _core, trees
from .places import Places

_BUILDERS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {"etree": (trees.to_etree, trees.etree_fragment), "dom": (trees.to_dom, trees.dom_fragment)}


def _builder(treebuilder: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    try:
        return _BUILDERS[treebuilder]
    except KeyError:
        raise ValueError(f"there is no tree builder {treebuilder!r}; it is 'etree' or 'dom'") from None


def _read(data: Any, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The page, and the options of hpar.parse() for it."""
    encoding = None
    for name in ("override_encoding", "transport_encoding"):
        encoding = encoding or options.pop(name, None)
    for name in ("likely_encoding", "same_origin_parent_encoding", "default_encoding", "useChardet"):
        options.pop(name, None)  # the parser finds the encoding as the standard defines it
    if hasattr(data, "read"):
        data = data.read()
    return data, {**options, "encoding": None if isinstance(data, str) else encoding}


def _parse(data: Any, options: dict[str, Any]) -> _core.Document:
    data, options = _read(data, options)
    return _core.parse(data, **options)


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
        self._builders, self._namespaces = _builder(tree), namespaceHTMLElements
        self._last: Any = None

    def parse(self, stream: Any, **kwargs: Any) -> Any:
        """Parses a page."""
        return self._run(0, stream, kwargs)

    def parseFragment(self, stream: Any, container: str = "div", **kwargs: Any) -> Any:
        """Parses a fragment."""
        return self._run(1, stream, {"fragment": container, **kwargs})

    def _run(self, kind: int, stream: Any, options: dict[str, Any]) -> Any:
        page, options = _read(stream, options)
        self._last = page, options
        document = _core.parse(page, **options)
        self._encoding = document.encoding
        return self._builders[kind](document, self._namespaces)

    @property
    def documentEncoding(self) -> Optional[str]:
        """The encoding of the last page, or None for str."""
        return None if self._last is None or isinstance(self._last[0], str) else str(self._encoding).lower()

    @property
    def errors(self) -> list[tuple[tuple[Optional[int], Optional[int]], str, dict[str, Any]]]:
        """The parse errors of the last page as ((line, column), code, {}), with the standard's codes.

        >>> parser = HTMLParser()
        >>> _ = parser.parse('<!doctype html>\\n<p')
        >>> parser.errors[0]
        ((2, 2), 'eof-in-tag', {})
        """
        if self._last is None:
            return []
        page, options = self._last
        document = _core.parse(page, max_errors=1 << 20, **options)
        place = Places(page, document.encoding)
        return [(place(offset), code, {}) for code, offset in document.errors]
