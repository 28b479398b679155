"""Parsing many pages on several threads."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, Optional, Union, overload

from ._core import Document, LimitError, _start_batch
from .types import Input

if TYPE_CHECKING:
    from ._core import Batch


@overload
def parse_many(inputs: Iterable[Input], *, ordered: Literal[True] = True, return_errors: Literal[False] = False,
               batch: int = 256, **options: Any) -> Iterator[Document]: ...


@overload
def parse_many(inputs: Iterable[Input], *, ordered: Literal[True] = True, return_errors: Literal[True],
               batch: int = 256, **options: Any) -> Iterator[Union[Document, LimitError]]: ...


@overload
def parse_many(inputs: Iterable[Input], *, ordered: Literal[False], return_errors: Literal[False] = False,
               batch: int = 256, **options: Any) -> Iterator[tuple[int, Document]]: ...


@overload
def parse_many(inputs: Iterable[Input], *, ordered: Literal[False], return_errors: Literal[True],
               batch: int = 256, **options: Any) -> Iterator[tuple[int, Union[Document, LimitError]]]: ...


def parse_many(inputs: Iterable[Input], *, ordered: bool = True, return_errors: bool = False, batch: int = 256,
               **options: Any) -> Iterator[Any]:
    """Parses many pages, each on one of `threads` threads; several parse one that is longer than all others together.

    Returns an iterator. It yields the documents in the order of the inputs. With ordered=False it yields
    (index, document) as soon as each document is complete. The parse needs no lock of the interpreter.

    `inputs` is any iterable of what parse() takes. The function takes `batch` inputs at a time, and parses the next
    batch while the program uses the documents of the last one. All inputs of a batch are str, or none is. The options
    are those of parse(). At a limit the iterator raises LimitError. With return_errors it yields the LimitError in
    place of the document, and goes on. An error of an input, such as a missing file, is raised after the documents of
    the batch before. An iterator that is dropped waits until the batches that it has begun are parsed.

    >>> [doc.css_first('p').text() for doc in hpar.parse_many([b'<p>a', b'<p>b'], threads=2)]
    ['a', 'b']
    >>> sorted((i, doc.text()) for i, doc in hpar.parse_many(['<p>a', '<p>b'], ordered=False))
    [(0, 'a'), (1, 'b')]
    """
    if batch < 1:
        raise ValueError("batch must be at least 1")
    return _results(iter(inputs), ordered, return_errors, batch, options)


def _start(inputs: Iterator[Input], batch: int, options: dict[str, Any]) -> Optional[tuple[Batch, int]]:
    taken = list(islice(inputs, batch))
    return (_start_batch(taken, **options), len(taken)) if taken else None


def _results(inputs: Iterator[Input], ordered: bool, return_errors: bool, batch: int,
             options: dict[str, Any]) -> Iterator[Any]:
    running, first = _start(inputs, batch, options), 0
    failure: Optional[Exception] = None
    while running:
        documents, count = running
        following = None
        for number in range(count):
            value: Union[Document, LimitError]
            try:
                value = documents.result(number) if ordered else documents.next_completed()
            except LimitError as error:
                if not return_errors:
                    raise
                value = error
            if number == count // 2:
                try:
                    following = _start(inputs, batch, options)
                except Exception as error:  # of the inputs of the next batch: those of this one come first
                    failure = error
            yield value if ordered else (first + documents.index, value)
        if failure is not None:
            raise failure
        first += count
        running = following
