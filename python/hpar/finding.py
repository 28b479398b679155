"""find() and find_all() with the arguments of Beautiful Soup.

Names and values that are plain texts become a CSS selector. Any other condition is a Python function that
the elements with the right name must pass.
"""
from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Optional, Union

from ._core import Document, Node, Nodes

Test = Callable[[Node], bool]
_IDENTIFIER = re.compile(r"[a-z_][a-z0-9_-]*\Z", re.ASCII)
_ELEMENT = re.compile(r"[a-z][a-z0-9]*\Z", re.ASCII)
# The attributes whose value Beautiful Soup takes for a list of words, and their elements; None: all.
_LISTS: dict[str, Any] = {
    "class": None, "accesskey": None, "dropzone": None, "rel": ("a", "link", "area"), "rev": ("a", "link"),
    "headers": ("td", "th"), "accept-charset": ("form",), "archive": ("object",), "sizes": ("icon",),
    "sandbox": ("iframe",), "for": ("output",),
}


def find(top: Union[Document, Node], name: Any = None, attrs: Any = None, recursive: bool = True, string: Any = None,
         **attributes: Any) -> Optional[Node]:
    """Returns the first node of find_all(), or None."""
    return next(_found(top, name, attrs, recursive, string, attributes, True), None)


def find_all(top: Union[Document, Node], name: Any = None, attrs: Any = None, recursive: bool = True,
             string: Any = None, limit: Optional[int] = None, **attributes: Any) -> Nodes:
    """Returns the nodes below `top` that fulfil all conditions."""
    found = _found(top, name, attrs, recursive, string, attributes, limit == 1)
    document = top if isinstance(top, Document) else top.document
    return document._sequence(list(islice(found, limit or None)))


def _found(top: Union[Document, Node], name: Any, attrs: Any, recursive: bool, string: Any,
           attributes: dict[str, Any], first: bool) -> Iterator[Node]:
    values: dict[str, Any] = {}
    if string is None:
        string = attributes.pop("text", None)
    if isinstance(attrs, Mapping):
        values.update(attrs)
    elif attrs is not None:
        values["class"] = attrs
    values.update({key[:-1] if key in ("class_", "for_") else key: value for key, value in attributes.items()})
    if string is not None and name is None and not values:
        nodes: Iterable[Node] = top.descendants if recursive else top.children
        return (node for node in nodes if node.type == "text" and _fits(node.data, string))
    selector, tests = _compile(name, values)
    if string is not None:
        tests.append(lambda node: _fits(node.string, string))
    if recursive and first and not tests:
        node = top.css_first(selector)
        return iter(() if node is None else (node,))
    if recursive:
        nodes = top.css(selector)
    else:
        nodes = (node for node in top.iter() if node.type == "element" and node.matches(selector))
    return (node for node in nodes if all(test(node) for test in tests))


def _compile(name: Any, values: Mapping[str, Any]) -> tuple[str, list[Test]]:
    """A selector that all nodes sought match, and tests for what it does not say."""
    parts, tests = ["*"], []
    if isinstance(name, str) and _ELEMENT.match(name):
        parts[0] = name
    elif isinstance(name, (list, tuple, set, frozenset)) and all(isinstance(n, str) and _ELEMENT.match(n) for n in name):
        parts[0] = f":is({','.join(name)})" if name else ":not(*)"
    elif callable(name):
        tests.append(lambda node: bool(name(node)))
    elif name is not None and name is not True:
        tests.append(lambda node: _fits(node.name, name))
    for key, value in values.items():
        if _IDENTIFIER.match(key) and value is True:
            parts.append(f"[{key}]")
        elif _IDENTIFIER.match(key) and (value is None or value is False):
            parts.append(f":not([{key}])")
        elif _IDENTIFIER.match(key) and isinstance(value, str) and key not in _LISTS:
            parts.append(f"[{key}={_quoted(value)} s]")
        else:
            if isinstance(value, str) and key in _LISTS:
                parts.append(f"[{key}]")
            tests.append(_attribute_test(key, value))
    return "".join(parts), tests


def _quoted(value: str) -> str:
    return '"' + re.sub(r'[\x00-\x1f"\\\x7f]', lambda match: f"\\{ord(match[0]):x} ", value) + '"'


def _attribute_test(key: str, value: Any) -> Test:
    def test(node: Node) -> bool:
        actual = node.get(key)
        if actual is None or key not in _LISTS or not (_LISTS[key] is None or node.name in _LISTS[key]):
            return _fits(actual, value)
        words = actual.split()
        return any(_fits(word, value) for word in words) or _fits(" ".join(words), value)
    return test


def _fits(actual: Optional[str], wanted: Any) -> bool:
    if wanted is True:
        return actual is not None
    if wanted is None or wanted is False:
        return actual is None
    if isinstance(wanted, str):
        return actual == wanted
    if isinstance(wanted, re.Pattern):
        return actual is not None and wanted.search(actual) is not None
    if callable(wanted):
        return bool(wanted(actual))
    if isinstance(wanted, Iterable):
        return any(_fits(actual, choice) for choice in wanted)
    return actual == str(wanted)


def closest(node: Node, selector: Any) -> Optional[Node]:
    """The nearest of a node and its parents that matches."""
    here: Optional[Node] = node
    while here is not None and not (here.type == "element" and here.matches(selector)):
        here = here.parent
    return here


def strings(node: Node) -> list[str]:
    """The data of the texts below a node."""
    return [text.data for text in node.traverse(include_text=True) if text.type == "text"]


def stripped_strings(node: Node) -> list[str]:
    """The texts of strings() without white space around them, and without empty ones."""
    return [text for text in map(str.strip, strings(node)) if text]
