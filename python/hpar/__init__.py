"""HPar: an exact and parallel HTML parser.

parse() reads a page with the tree construction of the HTML standard, and returns a Document. A document
never changes unless the program makes it editable. Any number of threads may use it.

>>> import hpar
>>> doc = hpar.parse(b'<ul><li class=a>one<li>two</ul>')
>>> [li.text() for li in doc.css('li')]
['one', 'two']
>>> doc.css_first('li.a').attributes
{'class': 'a'}
"""
from collections import abc as _abc
from typing import Any as _Any

from . import warc
from ._core import (Attributes, Document, Error, LimitError, Links, Node, Nodes, Selector, SelectorError, XPath,
                    XPathError, library_version, parse)
from .many import parse_many
from .rewriting import Rewriter, Rules, rewrite
from .streams import Parser, parse_async
from .study import Comparison, Profile, Projection, compare, explain, profile, project
from .tables import Table

__version__ = library_version()
__all__ = ["Attributes", "Comparison", "Document", "Error", "HTMLParser", "LexborHTMLParser", "LimitError", "Links", "Node",
           "Nodes", "Parser", "Profile", "Projection", "Rewriter", "Rules", "Selector", "SelectorError", "Table",
           "XPath", "XPathError", "compare", "explain", "library_version", "parse", "parse_async", "parse_many",
           "profile", "project", "rewrite", "warc"]

for _abstract, _type in ((_abc.MutableMapping, Attributes), (_abc.Sequence, Nodes), (_abc.Sequence, Links)):
    getattr(_abstract, "register")(_type)  # by name, because type checkers do not know it


def HTMLParser(html: _Any, detect_encoding: bool = True, use_meta_tags: bool = True,
               decode_errors: str = "ignore") -> Document:
    """Parses a page as selectolax.parser.HTMLParser does, and returns a Document.

    The document is editable. Its encoding is always detected as the standard defines it. The other arguments have
    no effect.

    >>> tree = hpar.HTMLParser('<p>a<b>c</b>')
    >>> tree.css_first('b').decompose()
    >>> tree.css_first('p').text()
    'a'
    """
    return parse(html, editable=True)


LexborHTMLParser = HTMLParser
