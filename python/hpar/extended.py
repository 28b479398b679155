"""Selectors beyond the standard, as parsel, Beautiful Soup and selectolax have them.

css() and css_first() take `:contains("text")` at the end of a selector, and selectors that begin with `>`. getall() and
getfirst() also take `::text` and `::attr(name)` there.
"""
from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple, Optional, Union

from ._core import Document, Node, Nodes, SelectorError

_TOKEN = re.compile(r"""\\.|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[(\[\])]|,|.""", re.DOTALL)
_STRING = r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[\w-]+)"""
_CONTAINS = re.compile(rf":(?:contains|-soup-contains|lexbor-contains)\(\s*{_STRING}(\s+i)?\s*\)\Z", re.DOTALL)
_VALUE = re.compile(r"::(?:(text)|attr\(\s*([^\s()]+)\s*\))\s*\Z")

_BELOW = re.compile(r"(?<=[^\s>+~])\s+\*?\Z")


class _Part(NamedTuple):
    """One selector of a list."""
    selector: str
    contains: tuple[tuple[str, bool], ...]
    value: Optional[str]  # "" for ::text, the name for ::attr(name), None for elements


def _split(text: str) -> list[str]:
    """The selectors of a list."""
    parts, depth = [""], 0
    for match in _TOKEN.finditer(text):
        token = match[0]
        depth += (token in "([") - (token in ")]")
        if token == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += token
    return parts


def _escaped(code: int) -> str:
    """The character of an escape, as CSS Syntax has it: U+FFFD in place of zero, a surrogate, and beyond Unicode."""
    return chr(code) if 0 < code < 0xD800 or 0xDFFF < code < 0x110000 else "\uFFFD"


def _unquote(text: str) -> str:
    if text[0] not in "\"'":
        return text
    return re.sub(r"\\(?:([0-9A-Fa-f]{1,6})\s?|\n|(.))",
                  lambda m: _escaped(int(m[1], 16)) if m[1] else m[2] or "", text[1:-1], flags=re.DOTALL)


@lru_cache(maxsize=256)
def _read(text: str) -> tuple[_Part, ...]:
    parts = []
    for part in _split(text):
        value, contains = None, []
        match = _VALUE.search(part)
        if match:
            part, value = part[:match.start()], match[2] or ""
        while True:
            selector = part.rstrip() if value is None or part.rstrip().endswith(")") and not part[-1:].isspace() else part
            match = _CONTAINS.search(selector)
            if not match:
                break
            contains.append((_unquote(match[1]), match[2] is not None))
            part = selector[:match.start()]
        around = _BELOW.sub("", part)
        if value == "" and around != part and not contains:
            # All texts below, with those of the element itself, also for "p *::text".
            part = f"{around}, {around} *"
        if (value is not None or contains) and (not part.strip() or part.rstrip()[-1] in ">+~"):
            part += "*"
        parts.append(_Part(_relative(part), tuple(contains), value))
    return tuple(parts)


def _relative(selector: str) -> str:
    return ", ".join(":scope " + one.strip() if one.strip().startswith(">") else one.strip() for one in _split(selector))


def css(top: Union[Document, Node], text: str) -> Any:
    """The matches of an extended selector; NotImplemented if `text` is none."""
    parts = _read(text)
    if any(part.value is not None for part in parts):
        raise SelectorError(f"{text!r} selects values: use getall() or getfirst()")
    if not any(part.contains for part in parts) and _relative(text) == ", ".join(map(str.strip, _split(text))):
        return NotImplemented
    return _elements(top, parts)


def _elements(top: Union[Document, Node], parts: tuple[_Part, ...]) -> Nodes:
    if len(parts) == 1:
        return _matches(top, parts[0])
    kept = {node for part in parts for node in _matches(top, part)}
    document = top if isinstance(top, Document) else top.document
    return document._sequence([node for node in _select(top, ", ".join(part.selector for part in parts)) if node in kept])


def _select(top: Union[Document, Node], selector: str) -> Nodes:
    try:
        return top.css(selector)
    except SelectorError as error:
        error.offset = None  # it is one in this selector, which is not as the program wrote it
        raise


def _matches(top: Union[Document, Node], part: _Part) -> Nodes:
    nodes = _select(top, part.selector)
    for needle, ignore_case in part.contains:
        nodes = nodes._containing(_node(top), needle, ignore_case)
    return nodes


def _node(top: Union[Document, Node]) -> Node:
    return top.node if isinstance(top, Document) else top


def getall(top: Union[Document, Node], selector: str) -> list[str]:
    """The values of a selector, as parsel's getall() returns them."""
    parts = _read(selector)
    values = {part.value for part in parts}
    if len(values) > 1:
        raise SelectorError(f"the selectors of {selector!r} end in different ways")
    nodes, value = _elements(top, parts), values.pop()
    if value == "":
        return nodes._texts(_node(top))
    if value is None:
        return [node.html for node in nodes]
    return [found for node in nodes if (found := node.get(value)) is not None]


def getfirst(top: Union[Document, Node], selector: str, default: Any = None) -> Any:
    """The first of getall(), or `default`."""
    return next(iter(getall(top, selector)), default)
