"""Parsing input that arrives in pieces, and parsing beside an asyncio event loop."""
from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable
from typing import Any, Union

from . import _core
from ._core import Document
from .types import Buffer, Input


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
        self._feed = _core._start_feed(**options)

    def feed(self, data: Union[Buffer, str]) -> None:
        """Parses a piece of the input: bytes or another buffer, or str. All pieces are str, or none is.

        At a limit, LimitError is raised and the parser is closed.
        """
        self._feed.feed(data)

    def close(self) -> Document:
        """Ends the input, and returns the document."""
        return self._feed.close()


async def parse_async(data: Union[Input, AsyncIterable[bytes], AsyncIterable[str]], **options: Any) -> Document:
    """Parses a page in a thread, so that the event loop goes on. The parse needs no lock of the interpreter.

    `data` is what parse() takes, or an asynchronous iterable of the pieces of a page. The options are those of
    parse(). An asynchronous generator is closed if the parse or the task ends before it.

    >>> import asyncio
    >>> asyncio.run(hpar.parse_async(b'<title>a</title>')).title
    'a'
    """
    from asyncio import to_thread
    if not isinstance(data, AsyncIterable):
        return await to_thread(_core.parse, data, **options)
    parser = Parser(**options)
    try:
        async for piece in data:
            await to_thread(parser.feed, piece)
    finally:
        if isinstance(data, AsyncGenerator):
            await data.aclose()
    return await to_thread(parser.close)
