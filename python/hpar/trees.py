"""Documents as other trees: xml.etree.ElementTree, xml.dom.minidom and lxml."""
from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Optional, cast
from xml.etree import ElementTree

from ._core import Document

if TYPE_CHECKING:
    from xml.dom import minidom

# By the numbers of hpar_namespace.
NAMESPACES = (None, "http://www.w3.org/1999/xhtml", "http://www.w3.org/2000/svg", "http://www.w3.org/1998/Math/MathML",
              "http://www.w3.org/1999/xlink", "http://www.w3.org/XML/1998/namespace", "http://www.w3.org/2000/xmlns/")


def _etree_tags(namespace_html: bool) -> list[str]:
    prefixes = [f"{{{uri}}}" if uri else "" for uri in NAMESPACES]
    if not namespace_html:
        prefixes[1] = ""
    return prefixes


def etree_fragment(document: Document, namespaceHTMLElements: bool = True) -> ElementTree.Element:
    """Returns an element whose children are those of the document node, as html5lib's fragment has them.

    >>> len(etree_fragment(hpar.parse('<td>a<td>b', fragment='tr')))
    2
    """
    prefixes = _etree_tags(namespaceHTMLElements)
    new, comment, instruction = ElementTree.Element, ElementTree.Comment, ElementTree.ProcessingInstruction
    top = parent = new("DOCUMENT_FRAGMENT")
    stack: list[ElementTree.Element] = []
    last: Any = None  # the preceding sibling, which takes a text as its tail
    for event in document._events():
        if event is None:
            last, parent = parent, stack.pop()
        elif event.__class__ is str:
            if last is None:
                parent.text = event
            else:
                last.tail = event
        elif len(event) == 3:
            name, namespace, attributes = event
            element = new(prefixes[namespace] + name)
            if attributes:
                for key, value in attributes.items():
                    element.set(key if key.__class__ is str else prefixes[key[2]] + key[1], value)
            parent.append(element)
            stack.append(parent)
            parent, last = element, None
        elif len(event) < 3:
            last = comment(*event) if len(event) == 1 else instruction(*event)
            parent.append(last)
    return top


def to_etree(document: Document, namespaceHTMLElements: bool = True) -> Optional[ElementTree.Element]:
    """Returns the root element; None for an empty fragment."""
    top = etree_fragment(document, namespaceHTMLElements)
    root = next((child for child in top if child.tag.__class__ is str), None)
    if root is not None:
        root.tail = None
    return root


def _new_dom() -> minidom.Document:
    from xml.dom import minidom
    return minidom.DOMImplementation().createDocument(None, None, None)


def to_dom(document: Document, namespaceHTMLElements: bool = True) -> minidom.Document:
    """Returns an xml.dom.minidom.Document."""
    result = _new_dom()
    _fill_dom(document, result, result, namespaceHTMLElements)
    return result


def dom_fragment(document: Document, namespaceHTMLElements: bool = True) -> minidom.DocumentFragment:
    """Returns a minidom DocumentFragment."""
    owner = _new_dom()
    fragment = owner.createDocumentFragment()
    _fill_dom(document, owner, fragment, namespaceHTMLElements)
    return fragment


def _set_dom_attributes(element: minidom.Element, attributes: dict[Any, str]) -> None:
    for key, value in attributes.items():
        if key.__class__ is str:
            element.setAttribute(key, value)
        else:
            prefix, local, namespace = key
            element.setAttributeNS(NAMESPACES[namespace] or "", f"{prefix}:{local}" if prefix else local, value)


def _fill_dom(document: Document, owner: Any, parent: Any, namespace_html: bool) -> None:
    outer: list[Any] = []  # an element is appended at its end, because appendChild visits all elements around the parent
    for event in document._events():
        if event is None:
            element, parent = parent, outer.pop()
            parent.appendChild(element)
        elif event.__class__ is str:
            parent.appendChild(owner.createTextNode(event))
        elif len(event) == 3:
            name, namespace, attributes = event
            if namespace == 1 and not namespace_html:
                element = owner.createElement(name)
            else:
                element = owner.createElementNS(NAMESPACES[namespace], name)
            if attributes:
                _set_dom_attributes(element, attributes)
            outer.append(parent)
            parent = element
        elif len(event) == 1:
            parent.appendChild(owner.createComment(event[0]))
        elif len(event) == 2:
            parent.appendChild(owner.createProcessingInstruction(*event))
        else:
            doctype = owner.implementation.createDocumentType(event[0], event[1] or None, event[2] or None)
            doctype.ownerDocument = owner
            parent.appendChild(doctype)


# Characters that XML, and therefore lxml, cannot have.
_BAD_TEXT = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_GOOD_NAME = re.compile(r"[A-Za-z_][\w.-]*\Z", re.ASCII)


def _xml_text(text: str) -> str:
    return _BAD_TEXT.sub(lambda match: " " if match[0] == "\f" else "\ufffd", text)


def _xml_name(name: str) -> str:
    """Returns a name that XML accepts: other characters become U and five hexadecimal digits."""
    if _GOOD_NAME.match(name):
        return name
    return re.sub(r"[^\w.-]|^[\d.-]", lambda match: f"U{ord(match[0]):05X}", name, flags=re.ASCII)


def _lxml_attributes(attributes: dict[Any, str]) -> dict[str, str]:
    result = {}
    for key, value in attributes.items():
        if key.__class__ is tuple:
            name = f"{{{NAMESPACES[key[2]]}}}{_xml_name(key[1])}" if key[2] != 6 else None
        else:
            name = _xml_name(key) if key != "xmlns" else None
        if name:
            result[name] = _xml_text(value)
    return result


def to_lxml(document: Document) -> Any:
    """Returns the root as an element of lxml.html: HTML elements have no namespace.

    XML lacks some names and characters of HTML. A character that a name cannot have becomes U and its code, as in
    html5lib. A character that a text cannot have becomes U+FFFD, and a form feed becomes a space. Two dashes in a
    comment are parted by a space, as are ?> in a processing instruction. Attributes xmlns are left out below the root.
    Comments and processing instructions outside the root are left out.
    """
    from lxml import etree, html
    xml = document._xml()
    if xml is None:
        return None
    parser = etree.XMLParser(encoding="utf-8", huge_tree=True, collect_ids=False, resolve_entities=False)
    parser.set_element_class_lookup(html.HtmlElementClassLookup())
    try:
        root = etree.fromstring(xml, parser)
    except (etree.LxmlError, etree.XMLSyntaxError):  # the elements are too deep, or a name is too long, for libxml2
        return _build_lxml(document)
    # The elements move to a document of HTML, where libxml2 has the rules of HTML for changes.
    result = html.HTMLParser().makeelement(root.tag, dict(_root_namespace(document), **root.attrib), root.nsmap)
    result.text = root.text
    result.extend(list(root))
    return result


def _root_namespace(document: Document) -> dict[str, str]:
    """The attribute xmlns of an HTML root."""
    root = document.root
    value = None if root is None or root.namespace != "html" else root.get("xmlns")
    return {} if value is None else {"xmlns": _xml_text(value)}


def _build_lxml(document: Document) -> Any:
    """Returns what to_lxml() returns, element by element, which takes longer."""
    from lxml import etree, html
    make = html.HTMLParser().makeelement
    prefixes = ["", "", f"{{{NAMESPACES[2]}}}", f"{{{NAMESPACES[3]}}}"]
    root: Any = None
    parent: Any = None
    last: Any = None
    for event in document._events():
        if event is None:
            last, parent = parent, cast(Any, parent).getparent()
            if parent is None:
                break
        elif event.__class__ is str:
            if parent is not None:
                if last is None:
                    parent.text = _xml_text(event)
                else:
                    last.tail = _xml_text(event)
        elif len(event) == 3:
            name, namespace, attributes = event
            element = make(prefixes[namespace] + _xml_name(name), _lxml_attributes(attributes) if attributes else None)
            if parent is None:
                root = element
                root.attrib.update(_root_namespace(document))
            else:
                parent.append(element)
            parent, last = element, None
        elif len(event) == 1 and parent is not None:
            last = etree.Comment(re.sub(r"-(?=-|\Z)", "- ", _xml_text(event[0])))
            parent.append(last)
        elif len(event) == 2 and parent is not None:
            target = _xml_name(event[0])
            data = _xml_text(event[1]).replace("?>", "? >")
            last = etree.ProcessingInstruction("_" + target if target.lower() == "xml" else target or "U", data)
            parent.append(last)
    return root
