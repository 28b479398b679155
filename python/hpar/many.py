"""Parsing many pages on several threads."""
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from ._core import LimitError, _start_batch


def parse_many(inputs: Iterable[Any], *, ordered: bool = True, return_errors: bool = False, batch: int = 256,
               **options: Any) -> Iterator[Any]:
    """Parses many pages, each with the sequential parser on one of `threads` threads.

    Returns an iterator. It yields the documents in the order of the inputs. With ordered=False it yields
    (index, document) as soon as each document is complete. The parse needs no lock of the interpreter.

    `inputs` is any iterable. The function takes `batch` inputs at a time, and parses the next batch while the
    program uses the documents of the last one. All inputs of a batch are str, or none is. The options are those
    of parse(). At a limit the iterator raises LimitError. With return_errors it yields the LimitError in place of
    the document, and goes on.

    >>> [doc.css_first('p').text() for doc in hpar.parse_many([b'<p>a', b'<p>b'], threads=2)]
    ['a', 'b']
    >>> sorted((i, doc.text()) for i, doc in hpar.parse_many(['<p>a', '<p>b'], ordered=False))
    [(0, 'a'), (1, 'b')]
    """
    if batch < 1:
        raise ValueError("batch must be at least 1")
    return _results(iter(inputs), ordered, return_errors, batch, options)


def _start(inputs, batch, options):
    taken = list(islice(inputs, batch))
    return (_start_batch(taken, **options), len(taken)) if taken else None


def _results(inputs, ordered, return_errors, batch, options):
    running, first = _start(inputs, batch, options), 0
    while running:
        documents, count = running
        following = None
        for number in range(count):
            try:
                value = documents.result(number) if ordered else documents.next_completed()
            except LimitError as error:
                if not return_errors:
                    raise
                value = error
            if number == count // 2:
                following = _start(inputs, batch, options)
            yield value if ordered else (first + documents.index, value)
        first += count
        running = following
