"""Web archives: the records of WARC files, by the reader of the program hpar.

>>> import io
>>> head = b'WARC/1.1\\r\\nWARC-Type: response\\r\\nWARC-Target-URI: http://a/\\r\\nContent-Length: 36\\r\\n\\r\\n'
>>> archive = head + b'HTTP/1.1 200 OK\\r\\n\\r\\n<title>a</title>\\r\\n\\r\\n'
>>> for record in hpar.warc.records(io.BytesIO(archive)):
...     print(record.type, record.url, record.status, record.document().title)
response http://a/ 200 a
"""
from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import IO, Any, NamedTuple, Optional, Union

from ._core import Document, Error, _fields, _message, _open_archive, parse

_PIECE = 1 << 16
_USUAL_LIMIT = 1 << 30


class Headers(Mapping[str, str]):
    """The fields of a head. A name has any case, and stands for the first field of that name.

    `fields` is a list of all fields as (name, value).
    """

    __slots__ = ("fields", "_values")

    def __init__(self, head: bytes) -> None:
        self.fields: list[tuple[str, str]] = _fields(head)
        self._values: dict[str, tuple[str, str]] = {}
        for name, value in self.fields:
            self._values.setdefault(name.lower(), (name, value))

    def __getitem__(self, name: str) -> str:
        return self._values[name.lower()][1]

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self._values.values())

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Headers({self.fields!r})"


class Damage(NamedTuple):
    """A place in an archive that holds no whole record.

    `problem` is 'truncated', 'length', 'too-large', 'head', 'garbage' or 'compression'. `offset` is that of the record
    in the file, or of its compressed member, and `inner` the one within the contents of that member. `url` may be ''.
    """

    problem: str
    offset: int
    inner: int
    url: str


class Record:
    """A record. `block` is what follows its head, and `payload` the body of the HTTP response in it.

    `offset` is that of the record in the file, or of its compressed member, and `inner` the one within that member.
    `type`, `url` and `date` are '' if the record lacks the field.
    """

    __slots__ = ("type", "url", "date", "offset", "inner", "block", "_head", "_limit", "_headers", "_read")

    type: str
    url: str
    date: str
    offset: int
    inner: int
    block: bytes

    def __init__(self, values: tuple[Any, ...], limit: int) -> None:
        _, self.offset, self.inner, self._head, self.block, self.type, self.url, self.date = values
        self._limit = limit
        self._headers: Optional[Headers] = None
        self._read: Optional[tuple[Optional[str], int, bytes, Optional[str], str, bytes]] = None

    def __repr__(self) -> str:
        return f"<Record {self.type} {self.url} {len(self.block):,} bytes>"

    @property
    def headers(self) -> Headers:
        """The fields of the record's head."""
        if self._headers is None:
            self._headers = Headers(self._head)
        return self._headers

    @property
    def _http(self) -> tuple[Optional[str], int, bytes, Optional[str], str, bytes]:
        if self._read is None:
            if self.type.lower() in ("response", "revisit"):
                self._read = _message(self.block, self._limit)
            else:
                self._read = (None, 0, b"", None, "", self.block)
        return self._read

    @property
    def status(self) -> Optional[int]:
        """The status of the HTTP response, or None."""
        return self._http[1] or None

    @property
    def http_headers(self) -> Headers:
        """The fields of the HTTP response."""
        return Headers(self._http[2])

    @property
    def payload(self) -> bytes:
        """The body of the HTTP response without its codings, or the block of another record."""
        return self._http[5]

    @property
    def payload_problem(self) -> Optional[str]:
        """What is wrong with the payload, or None.

        'http-head': the block is no HTTP response, and the payload all of it. 'damaged-body': the payload has what comes
        before the damage. 'content-coding' and 'body-too-large': the payload still has its coding.
        """
        return self._http[0]

    def document(self, **options: Any) -> Document:
        """Parses the payload. The options are those of hpar.parse().

        The encoding is that of the HTTP head, unless an option gives one. hpar.Error is raised if the payload still has
        its content coding.
        """
        problem, _, _, encoding, coding, payload = self._http
        if problem in ("content-coding", "body-too-large"):
            raise Error(f"the payload has the content coding {coding}: {problem}")
        options.setdefault("encoding", encoding)
        return parse(payload, **options)


class Records(Iterator[Record]):
    """The whole records of an archive, as an iterator. `errors` lists what is damaged so far."""

    def __init__(self, source: Union[str, os.PathLike[str], IO[bytes]], max_record: int = _USUAL_LIMIT) -> None:
        self.errors: list[Damage] = []
        self._limit = max_record or _USUAL_LIMIT
        self._archive = _open_archive(max_record)
        self._opened: Optional[IO[bytes]] = None
        if isinstance(source, (str, os.PathLike)):
            source = self._opened = open(source, "rb")
        self._file: Optional[IO[bytes]] = source

    def __next__(self) -> Record:
        while True:
            values = self._archive.next()
            if values is None:
                if self._file is None:
                    raise StopIteration
                self._continue(self._file)
            elif values[0] is None:
                return Record(values, self._limit)
            else:
                self.errors.append(Damage(values[0], values[1], values[2], values[6]))

    def _continue(self, file: IO[bytes]) -> None:
        try:
            piece: Optional[bytes] = file.read(_PIECE)
            if piece:
                self._archive.feed(piece)
            elif piece is not None:
                self._archive.close()
        except BaseException:
            self.close()
            raise
        if piece is None:
            raise BlockingIOError(errno.EAGAIN, "the file has no bytes yet: wait for it, and call next() again")
        if not piece:
            self.close()

    def close(self) -> None:
        """Closes the file if this object has opened it. Only the records that have been read follow."""
        self._file = None
        if self._opened is not None:
            self._opened.close()

    def __enter__(self) -> Records:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()


def records(source: Union[str, os.PathLike[str], IO[bytes]], *, max_record: int = _USUAL_LIMIT) -> Records:
    """Returns an iterator over the records of a web archive, a Records: WARC 0.17 to 1.1, plain or compressed with gzip.

    `source` is a path or a file that is open in binary mode. Damage never ends the iteration: the iterator goes on with
    the next record that it finds, and `errors` lists the damaged places. A record of more than `max_record` bytes is such
    a place. The payload is limited by the same number. Other compressions depend on the build; hpar.Error names the
    library that it lacks.

    >>> import io
    >>> records = hpar.warc.records(io.BytesIO(b'WARC/1.0\\r\\nWARC-Type: resource\\r\\n'))
    >>> list(records), records.errors
    ([], [Damage(problem='truncated', offset=0, inner=0, url='')])
    """
    return Records(source, max_record)
