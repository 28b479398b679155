"""Pickle and copy. A document that nobody has changed travels as its input, from which the same tree is parsed.
Any other document travels as its nodes, and so does a node, which is then one without a parent."""
from __future__ import annotations

from typing import Any, Union

from ._core import Document, Node, _load, parse


def reduce_document(document: Document) -> tuple[Any, tuple[Any, ...]]:
    """What pickle and copy ask of a document."""
    origin = document._origin()
    if origin is None:
        return _load, (document._save(), document.editable)
    data: Any = input_of(document)
    if isinstance(data, memoryview):
        whole = isinstance(data.obj, bytes) and data.nbytes == len(data.obj)  # not a part of the bytes
        data = data.obj if whole else bytes(data)
    return _parse_again, (data, origin)


def input_of(document: Document) -> Union[memoryview, str]:
    """The input of a document, if it has one."""
    data = document.data
    if data is None:
        raise ValueError("the document has no input: it is from a parser that was fed, or a copy of nodes")
    return data


def _parse_again(data: Union[bytes, str], options: dict[str, Any]) -> Document:
    of_parse: dict[str, Any] = {**options, "limits": None}
    document = parse(data, **of_parse)
    return document.edit(limits=options.get("limits")) if document.editable else document


def reduce_node(node: Node) -> tuple[Any, tuple[Any, ...]]:
    """What pickle and copy ask of a node."""
    if node.type == "document":
        return _node_of, reduce_document(node.document)
    return _load, (node._save(), node.document.editable)


def _node_of(make: Any, arguments: tuple[Any, ...]) -> Node:
    document: Document = make(*arguments)
    return document.node
