"""Changes of editable documents that consist of several changes."""
from __future__ import annotations

from collections.abc import Iterable, MutableMapping
from typing import Any, Union

from ._core import Attributes, Document, Node

_MISSING: Any = object()


def attributes_pop(attributes: Attributes, name: str, default: Any = _MISSING) -> Any:
    if default is not _MISSING and name not in attributes:
        return default
    value = attributes[name]
    del attributes[name]
    return value


def attributes_setdefault(attributes: Attributes, name: str, default: str = "") -> str:
    if name not in attributes:
        attributes[name] = default
    return attributes[name]


# The other operations of the abstract class need only those that Attributes has.
attributes_popitem = MutableMapping.popitem
attributes_update = MutableMapping.update


def strip_tags(top: Union[Document, Node], tags: Iterable[str]) -> None:
    for node in _elements(top, tags):
        node.decompose()


def unwrap_tags(top: Union[Document, Node], tags: Iterable[str], delete_empty: bool = False) -> None:
    for node in _elements(top, tags):
        node.unwrap(delete_empty)


def _elements(top: Union[Document, Node], tags: Iterable[str]) -> list[Node]:
    if isinstance(tags, str):
        raise TypeError("tags must be an iterable of names, not one str")
    names = list(tags)
    return list(top.css(", ".join(names))) if names else []


def merge_text_nodes(top: Node) -> None:
    for node in list(top.traverse(include_text=True)):
        if node.tag != "-text" or (node.prev is not None and node.prev.tag == "-text"):
            continue
        run, after = [], node.next
        while after is not None and after.tag == "-text":
            run.append(after)
            after = after.next
        if run:
            node.data = "".join(text.data for text in [node, *run])
            for text in run:
                text.decompose()


def extract(node: Node) -> Node:
    node.decompose()
    return node


def clear(node: Node) -> None:
    for child in node.children:
        child.decompose()

