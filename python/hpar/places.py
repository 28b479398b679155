"""Lines and columns of offsets in the input."""
from __future__ import annotations

import re
from bisect import bisect_right
from typing import Optional, Tuple, Union

from .streams import to_utf8

Place = Tuple[Optional[int], Optional[int]]
_LINE_END = re.compile(rb"\r\n?|\n")


class Places:
    """The line, from 1, and the column, from 0, of bytes of a page.

    A column counts characters in a str and in UTF-8, and bytes in other encodings. In UTF-16 there are no lines.
    """

    def __init__(self, page: Union[str, bytes], encoding: Optional[str]) -> None:
        self._data = to_utf8(page) if isinstance(page, str) else bytes(page)
        self._characters = isinstance(page, str) or encoding == "UTF-8"
        self._begins = None
        if self._characters or not str(encoding).startswith("UTF-16"):
            self._begins = [0, *(match.end() for match in _LINE_END.finditer(self._data))]

    def __call__(self, offset: int) -> Place:
        if self._begins is None or offset < 0:
            return None, None
        line = bisect_right(self._begins, offset)
        before = self._data[self._begins[line - 1]:offset]
        return line, len(before.decode("utf-8", "replace")) if self._characters and not before.isascii() else len(before)
