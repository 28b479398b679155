"""A document as columns."""
from __future__ import annotations

from collections.abc import Iterator, KeysView
from typing import Any

from ._core import Document, Nodes


class Table:
    """The nodes of a document as columns, one row for each node in document order.

    Each column is a read-only memoryview. numpy.asarray(table['depth']) therefore copies nothing.

    =============  ==================================================================================
    kind           1 document, 2 fragment, 3 doctype, 4 element, 5 text, 6 comment, 7 processing instruction
    namespace      0 none, 1 HTML, 2 SVG, 3 MathML
    name           index in `names`; -1: none
    parent         row of the parent; -1: none
    next           row of the next sibling; -1: none
    stop           row after the last descendant
    depth          number of ancestors
    attributes     number of attributes
    start, end     byte range of the start tag; -1 without positions=True, or without a tag
    close_start    byte range of the end tag, together with close_end
    text_start     range of the data of texts and comments in `text`, together with text_end
    =============  ==================================================================================

    The contents of template elements are not in the table.

    >>> table = hpar.parse('<p>a<b>c</b>').table()
    >>> len(table), list(table['depth'])
    (8, [0, 1, 2, 2, 3, 4, 4, 5])
    >>> table.nodes[4].tag, table.data(5)
    ('p', 'a')
    """

    document: Document
    columns: dict[str, memoryview]
    names: list[str]
    nodes: Nodes
    text: memoryview

    def __init__(self, document: Document) -> None:
        self.document = document
        self.columns, self.names, self.nodes, self.text = document._columns()

    def __len__(self) -> int:
        return len(self.nodes)

    def __getitem__(self, name: str) -> memoryview:
        return self.columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def keys(self) -> KeysView[str]:
        """Returns the names of the columns."""
        return self.columns.keys()

    def data(self, row: int) -> str:
        """Returns the data of the text or comment in a row."""
        return bytes(self.text[self["text_start"][row]:self["text_end"][row]]).decode("utf-8", "replace")

    def to_numpy(self) -> dict[str, Any]:
        """Returns a dict of numpy arrays that share the memory of the columns."""
        import numpy
        return {name: numpy.asarray(column) for name, column in self.columns.items()}

    def to_pandas(self) -> Any:
        """Returns a pandas.DataFrame. Its column `name` has the names."""
        import pandas
        frame = pandas.DataFrame(self.to_numpy())
        frame["name"] = pandas.Categorical.from_codes(frame["name"], categories=self.names)
        return frame


def table(document: Document) -> Table:
    """Returns the columns of a document."""
    return Table(document)
