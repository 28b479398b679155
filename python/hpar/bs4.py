"""HPar as a parser of Beautiful Soup. This import makes "hpar" the name of a parser:

>>> import hpar.bs4
>>> from bs4 import BeautifulSoup
>>> BeautifulSoup('<p>a<b>c', 'hpar').b.string
'c'

The soup equals that of "html5lib" where html5lib follows the standard. Each tag has the line and the column of the
end of its start tag, as "html5lib" has them, unless the tag is implied.
"""
from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import Any, Optional

from bs4.builder import HTMLTreeBuilder, builder_registry
from bs4.element import Comment, Doctype, NamespacedAttribute, NavigableString, ProcessingInstruction, Tag

try:
    from bs4.builder import DetectsXMLParsedAsHTML
except ImportError:  # before 4.11
    DetectsXMLParsedAsHTML = None

from . import _core
from .places import Place, Places
from .trees import NAMESPACES


class HparTreeBuilder(HTMLTreeBuilder):
    """Builds the soup from a parsed document."""

    NAME = "hpar"
    features = [NAME]  # not "html" and the like: the import must not change what other soups are made by
    TRACKS_LINE_NUMBERS = True

    def prepare_markup(self, markup: Any, user_specified_encoding: Optional[str] = None,
                       document_declared_encoding: Optional[str] = None,
                       exclude_encodings: Optional[Iterable[str]] = None) -> Iterator[tuple[Any, None, None, bool]]:
        """Yields the markup as it is: the parser finds the encoding."""
        if exclude_encodings:
            warnings.warn("the tree builder hpar does not support exclude_encodings", stacklevel=3)
        if DetectsXMLParsedAsHTML:
            DetectsXMLParsedAsHTML.warn_if_markup_looks_like_xml(markup)
        self._encoding = user_specified_encoding
        yield markup, None, None, False

    def feed(self, markup: Any) -> None:
        """Parses the markup and fills the soup."""
        if self.soup.parse_only is not None:
            warnings.warn("the tree builder hpar parses the whole document, and ignores parse_only", stacklevel=4)
        text = isinstance(markup, str)
        places: Optional[Iterator[Place]] = None
        lines = self.store_line_numbers
        document = _core.parse(markup, encoding=None if text else self._encoding, positions=bool(lines))
        if lines:
            place = Places(markup, document.encoding)
            places = (place(end - 1 if end > 0 else -1) for end in document._tag_ends())
        self.soup.original_encoding = None if text else str(document.encoding).lower()
        _fill(self.soup, self, document._events(), places)

    def test_fragment_to_document(self, fragment: str) -> str:
        """Returns the fragment in a page."""
        return f"<html><head></head><body>{fragment}</body></html>"


def _fill(soup: Any, builder: HparTreeBuilder, events: list[Any], places: Optional[Iterator[Place]]) -> None:
    """Links the objects of the soup. This is what BeautifulSoup.object_was_parsed does for a node at the end."""
    classes = soup.element_classes
    string_class, comment_class, tag_class = (classes.get(cls, cls) for cls in (NavigableString, Comment, Tag))
    doctype_class = classes.get(Doctype, Doctype)
    instruction_class = classes.get(ProcessingInstruction, ProcessingInstruction)
    stack: list[Any] = []
    parent = previous = soup
    siblings, sibling = soup.contents, None
    for event in events:
        if event is None:
            sibling = parent
            parent = stack.pop()
            siblings = parent.contents
            continue
        start = False
        if event.__class__ is str:
            node = string_class(event)
        elif len(event) == 3:
            name, namespace, attributes = event
            if attributes and not all(key.__class__ is str for key in attributes):
                attributes = {key if key.__class__ is str else NamespacedAttribute(key[0], key[1], NAMESPACES[key[2]]):
                              value for key, value in attributes.items()}
            line, column = next(places) if places else (None, None)
            node = tag_class(None, builder, name, NAMESPACES[namespace], None, attributes, sourceline=line,
                             sourcepos=column)
            start = True
        elif len(event) == 1:
            node = comment_class(event[0])
        elif len(event) == 2:
            node = instruction_class(" ".join(filter(None, event)))
        else:
            name, public_id, system_id, _ = event
            node = doctype_class.for_name_and_ids(name, public_id or None, system_id or None)
        node.parent = parent
        node.previous_element = previous
        node.next_element = node.next_sibling = None
        node.previous_sibling = sibling
        previous.next_element = node
        if sibling is not None:
            sibling.next_sibling = node
        siblings.append(node)
        previous = sibling = node
        if start:
            stack.append(parent)
            parent, siblings, sibling = node, node.contents, None
    soup._most_recent_element = previous


builder_registry.register(HparTreeBuilder)
