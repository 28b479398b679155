"""Lines and columns of offsets in the input."""
from __future__ import annotations

import re
from bisect import bisect_right
from typing import Optional, Tuple, Union

Place = Tuple[Optional[int], Optional[int]]
_LINE_END = re.compile(rb"\r\n?|\n")


def _to_utf8(text: str) -> bytes:
    """The text in UTF-8, with U+FFFD in place of each lone surrogate."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


class Places:
    """The line, from 1, and the column, from 0, of bytes of a page.

    A column counts characters in a str and in UTF-8, and bytes in other encodings. In UTF-16 there are no lines.
    """

    def __init__(self, page: Union[str, bytes], encoding: Optional[str]) -> None:
        self._data = _to_utf8(page) if isinstance(page, str) else bytes(page)
        self._characters = isinstance(page, str) or encoding == "UTF-8"
        self._begins = None
        if self._characters or not str(encoding).startswith("UTF-16"):
            self._begins = [0, *(match.end() for match in _LINE_END.finditer(self._data))]
        # The last place. A later one in its line counts from there, so that a long line is read once.
        self._line, self._offset, self._column = 0, 0, 0

    def __call__(self, offset: int) -> Place:
        if self._begins is None or offset < 0:
            return None, None
        line = bisect_right(self._begins, offset)
        if line != self._line or offset < self._offset:
            self._line, self._offset, self._column = line, self._begins[line - 1], 0
        between = self._data[self._offset:offset]
        column = self._column + len(between.decode("utf-8", "replace") if self._characters else between)
        if not self._characters or self._data[offset:offset + 1] < b"\x80":  # no place inside a character
            self._offset, self._column = offset, column
        return line, column
