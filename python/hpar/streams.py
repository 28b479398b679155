"""Parsing input that arrives in pieces, and parsing beside an asyncio event loop."""
from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable
from typing import Any, Optional, Union

from . import _core
from ._core import Document
from .types import Buffer, Input


def to_utf8(text: str) -> bytes:
    """The text in UTF-8, with U+FFFD in place of each lone surrogate."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


class Parser:
    """Parses a page while it arrives. The options are those of parse(), except `copy`.

    The tree is that of the whole input, however it is divided. feed() runs without the interpreter's lock.

    >>> parser = hpar.Parser()
    >>> for piece in (b'<p>a<', b'b>', b'c'):
    ...     parser.feed(piece)
    >>> parser.close().body.html
    '<body><p>a<b>c</b></p></body>'
    """

    def __init__(self, **options: Any) -> None:
        self._options = options
        self._text: Optional[bool] = None
        self._feed = _core._start_feed(**options)

    def feed(self, data: Union[Buffer, str]) -> None:
        """Parses a piece of the input: bytes or another buffer, or str. All pieces are str, or none is.

        At a limit, LimitError is raised and the parser is closed.
        """
        text = isinstance(data, str)
        if self._text is None:
            if text:
                _core._check_encoding(self._options.get("encoding"))
                self._feed = _core._start_feed(**{**self._options, "encoding": "utf-8"})
            self._text = text
        if text != self._text:
            raise TypeError("the pieces of a page are either str or bytes, not both")
        self._feed.feed(to_utf8(data) if isinstance(data, str) else data)

    def close(self) -> Document:
        """Ends the input, and returns the document."""
        return self._feed.close()


async def parse_async(data: Union[Input, AsyncIterable[bytes], AsyncIterable[str]], **options: Any) -> Document:
    """Parses a page in a thread, so that the event loop goes on. The parse needs no lock of the interpreter.

    `data` is what parse() takes, or an asynchronous iterable of the pieces of a page. The options are those of
    parse().

    >>> import asyncio
    >>> asyncio.run(hpar.parse_async(b'<title>a</title>')).title
    'a'
    """
    if not isinstance(data, AsyncIterable):
        return await asyncio.to_thread(_core.parse, data, **options)
    parser = Parser(**options)
    async for piece in data:
        await asyncio.to_thread(parser.feed, piece)
    return await asyncio.to_thread(parser.close)
