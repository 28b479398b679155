"""Rewriting pages by rules, without a change to the other bytes."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Optional, Tuple, Union

from . import _core
from ._core import (RewriteComment as Comment, RewriteDoctype as Doctype, RewriteDocumentEnd as DocumentEnd,
                    RewriteElement as Element, RewriteEnd as ElementEnd, RewriteText as Text)
from .copies import input_of
from .types import Buffer

__all__ = ["Comment", "Doctype", "DocumentEnd", "Element", "ElementEnd", "Rewriter", "Rule", "Rules", "Text", "rewrite"]

Rule = Tuple[Any, ...]  # (selector or None, action, arguments...), or (selector or None, [unit,] function)

# name: (kind of hpar_action_kind, names of the arguments)
_ACTIONS = {
    "before": (0, ("value",)), "after": (1, ("value",)), "prepend": (2, ("value",)), "append": (3, ("value",)),
    "inner": (4, ("value",)), "replace": (5, ("value",)), "remove": (6, ()), "unwrap": (7, ()),
    "rename": (8, ("name",)), "set": (9, ("name", "value")), "unset": (10, ("name",)),
    "prefix": (11, ("name", "value", "replacement")), "find": (12, ("value", "replacement", "name")),
    "prefix-urls": (13, ("value",)), "rebase": (14, ("value",)),
}
_UNITS = {"element": 0, "text": 1, "comment": 2, "doctype": 3, "end": 4, "conditional": 5, "instruction": 6}
# The units of callbacks, in the order of the extension.
_CALLED = ("element", "element:end", "text", "comment", "doctype", "end")


# In the order of hpar_utf16, of hpar_on_failure, and of the limits of hpar_rewrite_options.
_UTF16 = ("decode", "pass", "refuse")
_ON_FAILURE = ("stop", "pass")
_LIMITS = ("memory", "token", "text", "depth", "input", "time_ns")


class Rules:
    """Compiled rules for rewrite(). Any number of threads may use them.

    A rule is a tuple: a CSS selector, the name of an action, and the arguments of the action. The selector None
    stands for the document. Several actions on one selector are several rules.

    ==========================================  ================================================================
    'before', 'after', 'prepend', 'append'      insert HTML relative to the element: (html)
    'inner', 'replace'                          replace the content, or the element: (html)
    'remove', 'unwrap'                          remove the element, or its tags only
    'rename', 'unset'                           (name); 'unset' also (pattern), as in 'on*'
    'set'                                       an attribute: (name, value)
    'prefix'                                    of an attribute's value: (name, old, new)
    'prefix-urls', 'rebase'                     of all URLs: (path) before those that begin with one '/';
                                                (url) of the page, to make them absolute
    'text:find'                                 in each text inside the element: (old, new), or (old, new, places)
                                                with places 'text', 'script', 'style', 'title', 'comment', 'all'
    'text:remove', 'comment:remove'             each text, or comment, inside the element; also 'before', 'after' and
                                                'replace': (html)
    'conditional:unwrap', 'conditional:remove'  each conditional comment, as <!--[if IE]>; with 'unwrap', its HTML stays
    'instruction:remove'                        each processing instruction, as <?xml?>
    'doctype:remove', 'end:append'              with the selector None
    ==========================================  ================================================================

    A function in place of the action receives each element that matches: (selector, function). With a unit, it
    receives 'element:end', 'text' or 'comment'; with the selector None, also 'doctype' and 'end', the end of the
    document: (selector, unit, function). With `implied`, rules also match elements without a tag of their own. With
    `across_tags`, 'text:find' in visible text also finds "ab" in a<b>b</b>: it replaces the first piece, and removes
    the others. The module hpar.rewriting has the types Element, ElementEnd, Text,
    Comment, Doctype and DocumentEnd of these objects. The function returns None, or 'retire' to be called no more. An
    exception ends the rewrite, and rewrite() raises it. The interpreter's lock is held only while functions run.

    >>> def https(element):
    ...     element.set('href', element.get('href').replace('http:', 'https:'))
    >>> hpar.rewrite(b'<a href=http://a.b>c</a>', [('a[href]', https), ('a', 'text', lambda t: t.replace(t.text.upper()))])
    b'<a href=https://a.b>C</a>'

    >>> rules = hpar.Rules([('script', 'remove'), ('a[href]', 'set', 'rel', 'nofollow')])
    >>> hpar.rewrite(b'<a href=b>c</a><script>d</script>', rules)
    b'<a href=b rel="nofollow">c</a>'
    """

    def __init__(self, rules: Iterable[Rule], *, implied: bool = False, across_tags: bool = False) -> None:
        self._compiled = _core.Rules([(*_read(number, rule), implied, across_tags) for number, rule in enumerate(rules)])


def _read(number: int, rule: Rule) -> tuple[Any, ...]:
    """(selector, actions, functions) for the extension."""
    if not isinstance(rule, (tuple, list)) or len(rule) < 2:
        raise TypeError(f"rule {number} must be a tuple of a selector, an action and its arguments, not {rule!r}")
    selector, action, *arguments = rule
    if callable(action):
        action, arguments = "element", [action, *arguments]
    if action in _CALLED:
        if len(arguments) != 1 or not callable(arguments[0]):
            raise ValueError(f"rule {number}: the unit {action!r} needs one function")
        return selector, [], tuple(arguments[0] if unit == action else None for unit in _CALLED)
    unit, _, name = str(action).rpartition(":")
    if name not in _ACTIONS or (unit or "element") not in _UNITS:
        raise ValueError(f"rule {number}: there is no action {action!r}; help(hpar.Rules) lists the actions")
    kind, names = _ACTIONS[name]
    if len(arguments) != len(names) and (name, len(arguments)) != ("find", 2):
        raise ValueError(f"rule {number}: the action {action!r} has {len(names)} arguments: {', '.join(names) or 'none'}")
    values = dict(zip(names, arguments))
    for argument, value in values.items():
        if not isinstance(value, (str, bytes)):
            raise TypeError(f"rule {number}: {argument} must be str or bytes, not {type(value)!r}")
    html = 0 if name == "find" else 1
    return (selector, [(_UNITS[unit or "element"], kind, html, values.get("name"), values.get("value", ""),
                        values.get("replacement", ""))], (None,) * len(_CALLED))


def rewrite(data: Any, rules: Rules | Iterable[Rule], *, encoding: str | None = None, fragment: str | None = None,
            scripting: bool = True, quirks: bool = False, filter: bool = False, utf16: str = "decode",
            on_failure: str = "stop", limits: dict[str, int] | None = None,
            stats: dict[str, Any] | None = None) -> bytes:
    """Returns the page with the edits of the rules, as bytes. All other bytes are those of the input.

    `data` is bytes, another buffer, or str. `rules` are Rules, or an iterable of tuples for Rules. If `stats` is a
    dict, the function adds counters to it.

    `scripting` is the scripting flag, on by default as in browsers. `filter` is for hostile pages: see the guide
    "Filters". Input in UTF-16 is decoded, and the result is UTF-8; with `utf16` 'pass' no rule applies to it, and
    with 'refuse' it is an error. `limits` may have the keys memory, token, text, depth, input and time_ns. A limit
    raises LimitError. With `on_failure` 'pass', the rest of the page follows without edits instead, and the counter
    'failure' names the limit; it is None otherwise.

    >>> hpar.rewrite('<p>colour', [('p', 'text:find', 'colour', 'color')])
    b'<p>color'
    """
    if not isinstance(rules, Rules):
        rules = Rules(rules)
    output, counters = _core._rewrite(data, rules._compiled,
                                      **_read_options(encoding, fragment, scripting, quirks, filter, utf16, on_failure,
                                                      limits))
    if stats is not None:
        stats.update(counters)
    return output


class Rewriter:
    """Rewrites a page while it arrives. The options are those of rewrite().

    The output is that of rewrite(), however the input is divided.

    >>> rewriter = hpar.Rewriter([('b', 'unwrap')])
    >>> rewriter.feed(b'<p>a<') + rewriter.feed(b'b>c') + rewriter.close()
    b'<p>ac'
    """

    #: The counters of the page, after close().
    stats: Optional[dict[str, Any]]

    def __init__(self, rules: Union[Rules, Iterable[Rule]], *, encoding: Optional[str] = None,
                 fragment: Optional[str] = None, scripting: bool = True, quirks: bool = False, filter: bool = False,
                 utf16: str = "decode", on_failure: str = "stop", limits: Optional[dict[str, int]] = None) -> None:
        self.stats = None
        compiled = (rules if isinstance(rules, Rules) else Rules(rules))._compiled
        options = _read_options(encoding, fragment, scripting, quirks, filter, utf16, on_failure, limits)
        self._stream = _core._start_rewrite(compiled, **options)

    def feed(self, data: Union[Buffer, str]) -> bytes:
        """Rewrites a piece of the input, and returns the output that is complete. All pieces are str, or none is.

        A limit, or an exception of a function, closes the rewriter.
        """
        return self._stream.feed(data)

    def close(self) -> bytes:
        """Ends the input, and returns the rest of the output."""
        output, self.stats = self._stream.close()
        return output

    async def feed_async(self, data: Union[Buffer, str]) -> bytes:
        """The same as feed(), with functions that may be asynchronous. The first call must be this one, too.

        The rewriter waits for a function before it goes on, and the event loop goes on meanwhile. The object of the
        function is valid until it returns. An exception, or a cancellation, closes the rewriter.

        >>> async def rewrite_slowly():
        ...     async def change(element):
        ...         await asyncio.sleep(0)
        ...         element.set('class', 'late')
        ...     rewriter = hpar.Rewriter([('b', change)])
        ...     return await rewriter.feed_async(b'<b>c') + await rewriter.close_async()
        >>> import asyncio
        >>> asyncio.run(rewrite_slowly())
        b'<b class="late">c'
        """
        parts, last = await self._answer(self._stream.begin_feed(data))
        return b"".join((*parts, last))

    async def close_async(self) -> bytes:
        """The same as close(), with functions that may be asynchronous."""
        parts, (output, self.stats) = await self._answer(self._stream.begin_close())
        return b"".join((*parts, output))

    async def _answer(self, step: tuple[Any, Any]) -> tuple[list[bytes], Any]:
        parts = []
        output, awaitable = step
        while awaitable is not None:
            parts.append(output)
            try:
                result = await awaitable
            except BaseException:
                self._stream.abort()
                raise
            output, awaitable = self._stream.resume(result)
        return parts, output


def _read_options(encoding: Optional[str], fragment: Optional[str], scripting: bool, quirks: bool, filter: bool,
                  utf16: str, on_failure: str, limits: Optional[dict[str, int]]) -> dict[str, Any]:
    return {"encoding": encoding, "fragment": fragment, "scripting": scripting, "quirks": quirks, "filter": filter,
            "utf16": _choose("utf16", _UTF16, utf16), "on_failure": _choose("on_failure", _ON_FAILURE, on_failure),
            "limits": _read_limits(limits or {})}


def _choose(name: str, choices: Sequence[str], value: str) -> int:
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}")
    return choices.index(value)


def _read_limits(limits: dict[str, int]) -> tuple[int, ...]:
    if not isinstance(limits, Mapping):
        raise TypeError("limits must be a mapping or None")
    unknown = next((key for key in limits if key not in _LIMITS), None)
    if unknown is not None:
        raise ValueError(f"there is no limit {unknown!r}: the limits are {', '.join(_LIMITS)}")
    return tuple(limits.get(key, 0) for key in _LIMITS)


def _of_document(document: _core.Document, rules: Union[Rules, Iterable[Rule]], **options: Any) -> bytes:
    options = {"encoding": document.encoding, **options}
    return rewrite(input_of(document), rules, **options)
