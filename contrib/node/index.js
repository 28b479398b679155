// HTMLRewriter with the interface of Cloudflare's workers, and parse() with a tree to read.
'use strict';
const native = require(process.env.HPAR_NODE || './hpar.node');

// The numbers of units, and of hpar_where.
const ELEMENT = 0, COMMENT = 1, TEXT = 2, END_TAG = 3, DOCTYPE = 4, DOCUMENT_END = 5;
const BEFORE = 0, AFTER = 1, PREPEND = 2, APPEND = 3, INNER = 4, REPLACE = 5;

function isHtml(options) {
  return Boolean(options && options.html);
}

// What elements, comments and texts have in common.
class Unit {
  constructor(owner, kind) {
    this._owner = owner;
    this._call = owner._calls;
    this._kind = kind;
    this._removed = false;
  }

  // The native rewriter knows only the unit of the running handler: an older one must not edit it.
  get _rewriter() {
    if (this._call !== this._owner._calls) native.throwInvalid();
    return this._owner._native;
  }

  _insert(where, content, options) {
    native.insert(this._rewriter, this._kind, where, String(content), isHtml(options));
    return this;
  }

  before(content, options) {
    return this._insert(BEFORE, content, options);
  }

  after(content, options) {
    return this._insert(AFTER, content, options);
  }

  replace(content, options) {
    this._removed = true;
    return this._insert(REPLACE, content, options);
  }

  remove() {
    this._removed = true;
    native.remove(this._rewriter, this._kind);
    return this;
  }

  get removed() {
    return this._removed;
  }
}

const NAMESPACES = ['', 'http://www.w3.org/1999/xhtml', 'http://www.w3.org/2000/svg',
  'http://www.w3.org/1998/Math/MathML'];

function* attributesOf(element) {
  for (let i = 0, pair; (pair = native.attributeAt(element._rewriter, i)); i++) yield pair;
}

class Element extends Unit {
  constructor(owner, name) {
    super(owner, ELEMENT);
    this._name = name;
    this._endNumber = 0;
  }

  get tagName() {
    return this._name;
  }

  set tagName(name) {
    native.setName(this._rewriter, ELEMENT, String(name));
    this._name = String(name);
  }

  get namespaceURI() {
    return NAMESPACES[native.elementState(this._rewriter) >> 2];
  }

  get removed() {
    return Boolean(native.elementState(this._rewriter) & 1);
  }

  get attributes() {
    return attributesOf(this);
  }

  getAttribute(name) {
    return native.getAttribute(this._rewriter, String(name).toLowerCase());
  }

  hasAttribute(name) {
    return this.getAttribute(name) !== null;
  }

  setAttribute(name, value) {
    native.setAttribute(this._rewriter, String(name).toLowerCase(), String(value));
    return this;
  }

  removeAttribute(name) {
    native.setAttribute(this._rewriter, String(name).toLowerCase());
    return this;
  }

  prepend(content, options) {
    return this._insert(PREPEND, content, options);
  }

  append(content, options) {
    return this._insert(APPEND, content, options);
  }

  setInnerContent(content, options) {
    return this._insert(INNER, content, options);
  }

  removeAndKeepContent() {
    native.unwrap(this._rewriter);
    return this;
  }

  // The last handler of an element counts.
  onEndTag(handler) {
    if (!(native.elementState(this._rewriter) & 2)) throw new TypeError('Parser error: No end tag.');
    if (!this._endNumber) {
      this._endNumber = ++this._owner._lastEnd;
      native.onEnd(this._rewriter, this._endNumber);
    }
    this._owner._ends.set(this._endNumber, [handler, this]);
  }
}

// An element of Edge Side Includes with the option enableEsiTags: it has no content.
class VoidElement extends Element {
  after(content, options) {
    return this._insert(PREPEND, content, options);
  }

  replace(content, options) {
    return this._insert(BEFORE, content, options).remove();
  }

  remove() {
    native.unwrap(this._rewriter);
    return this;
  }

  prepend() {
    return this;
  }

  append() {
    return this;
  }

  setInnerContent() {
    return this;
  }

  onEndTag() {
    throw new TypeError('Parser error: No end tag.');
  }
}

class EndTag extends Unit {
  constructor(owner, name) {
    super(owner, END_TAG);
    this._name = name;
  }

  get name() {
    return this._name;
  }

  set name(name) {
    native.setName(this._rewriter, END_TAG, String(name));
    this._name = String(name);
  }
}

class Comment extends Unit {
  constructor(owner, text) {
    super(owner, COMMENT);
    this._text = text;
  }

  get text() {
    return this._text;
  }

  set text(text) {
    native.setName(this._rewriter, COMMENT, String(text));
    this._text = String(text);
  }
}

class TextChunk extends Unit {
  constructor(owner, text, isLast) {
    super(owner, TEXT);
    this._text = text;
    this._isLast = isLast;
  }

  get text() {
    return this._text;
  }

  get lastInTextNode() {
    return this._isLast;
  }
}

// The last piece of a text that is not empty: an empty chunk follows it at the same place. The
// library inserts content after a piece in front of earlier content, so that it goes there in the
// end, from the last one to the first.
class FirstChunk extends TextChunk {
  constructor(owner, text) {
    super(owner, text, false);
    this._after = [];
  }

  after(content, options) {
    this._after.unshift([String(content), options]);
    return this;
  }
}

class LastChunk extends TextChunk {
  constructor(owner, first) {
    super(owner, '', true);
    this._inside = [];
    this._after = [];
    this._first = first;
  }

  before(content, options) {
    this._inside.push([String(content), options]);
    return this;
  }

  after(content, options) {
    this._after.unshift([String(content), options]);
    return this;
  }

  replace(content, options) {
    this._removed = true;
    return this.before(content, options);
  }

  remove() {
    this._removed = true;
    return this;
  }

  _finish() {
    const all = [...this._first._after, ...this._inside, ...this._after];
    for (const [content, options] of all.reverse()) this._insert(AFTER, content, options);
  }
}

class Doctype {
  constructor(owner, name) {
    this.name = name;
    [this.publicId, this.systemId] = native.doctypeIds(owner._native);
  }
}

class DocumentEnd extends Unit {
  constructor(owner) {
    super(owner, DOCUMENT_END);
  }

  append(content, options) {
    return this._insert(APPEND, content, options);
  }
}

function isPromise(value) {
  return value !== null && typeof value === 'object' && typeof value.then === 'function';
}

class HTMLRewriter {
  constructor(outputSink, options) {
    this._sink = outputSink;
    this._hasEsi = Boolean(options && options.enableEsiTags);
    this._handlers = [];
    this._ends = new Map();
    this._lastEnd = 0;
    this._calls = 0; // of handlers
    this._pending = null;
    this._callback = (kind, number, text, isLast) => this._dispatch(kind, number, text, isLast);
    this._native = native.newRewriter(this._callback, (options && options.maxToken) || 0);
  }

  on(selector, handlers) {
    return this._add(String(selector), handlers, { [ELEMENT]: 'element', [COMMENT]: 'comments', [TEXT]: 'text' });
  }

  onDocument(handlers) {
    return this._add(null, handlers,
      { [COMMENT]: 'comments', [TEXT]: 'text', [DOCTYPE]: 'doctype', [DOCUMENT_END]: 'end' });
  }

  _add(selector, handlers, names) {
    let units = 0;
    for (const [kind, name] of Object.entries(names)) if (handlers[name] != null) units |= 1 << kind;
    if (units) this._handlers[native.addRule(this._native, selector, units)] = handlers;
    return this;
  }

  // Runs a handler. Returns true if it waits for a promise.
  _dispatch(kind, number, text, isLast) {
    const handlers = this._handlers[number];
    let result;
    this._calls++;
    switch (kind) {
      case ELEMENT: {
        const isVoid = this._hasEsi && text.startsWith('esi:');
        result = handlers.element(isVoid ? new VoidElement(this, text) : new Element(this, text));
        break;
      }
      case COMMENT: result = handlers.comments(new Comment(this, text)); break;
      case TEXT: result = this._text(handlers, text, isLast); break;
      case END_TAG: {
        const [handler, element] = this._ends.get(number);
        this._ends.delete(number);
        result = handler.call(element, new EndTag(this, text));
        break;
      }
      case DOCTYPE: result = handlers.doctype(new Doctype(this, text)); break;
      default: result = handlers.end(new DocumentEnd(this));
    }
    if (!isPromise(result)) return false;
    this._pending = result;
    return true;
  }

  _text(handlers, text, isLast) {
    if (!isLast || !text) return handlers.text(new TextChunk(this, text, isLast));
    const first = new FirstChunk(this, text), last = new LastChunk(this, first);
    const result = handlers.text(first);
    if (isPromise(result)) return this._finishText(result, handlers, last);
    const ended = handlers.text(last);
    if (isPromise(ended)) return ended.then(() => last._finish());
    last._finish();
    return undefined;
  }

  async _finishText(promise, handlers, last) {
    await promise;
    await handlers.text(last);
    last._finish();
  }

  async write(chunk) {
    if (!(chunk instanceof Uint8Array)) throw new TypeError('write() takes a Uint8Array');
    await this._run(chunk);
  }

  async end() {
    await this._run(null);
    native.free(this._native); // the collector does not know how much it holds
  }

  async _run(chunk) {
    let [output, isWaiting] = native.feed(this._native, chunk);
    while (isWaiting) {
      const pending = Promise.resolve(this._pending);
      pending.catch(() => {}); // a sink that throws ends the wait
      try {
        if (output) this._sink(output);
        await pending;
      } catch (error) {
        native.resume(this._native, true);
        throw error;
      }
      [output, isWaiting] = native.resume(this._native, false);
    }
    if (output) this._sink(output);
  }

  free() {
    native.free(this._native);
  }
}

/*** the tree ***/

// The numbers of hpar_node_type, as those of the DOM.
const NODE_TYPES = [0, 9, 11, 10, 1, 3, 8, 7];

class Node {
  constructor(document, number) {
    this._document = document;
    this._number = number;
    this._kind = native.kind(document, number);
  }

  get nodeType() {
    return NODE_TYPES[this._kind];
  }

  get nodeName() {
    switch (this.nodeType) {
      case 1:
        return native.namespace(this._document, this._number) === 1 ? this.localName.toUpperCase() : this.localName;
      case 3: return '#text';
      case 8: return '#comment';
      case 9: return '#document';
      case 11: return '#document-fragment';
      default: return this.localName;
    }
  }

  get localName() {
    return native.nodeText(this._document, this._number, 0);
  }

  // The text of a text node or a comment; null for other nodes.
  get data() {
    return [3, 7, 8].includes(this.nodeType) ? native.nodeText(this._document, this._number, 1) : null;
  }

  get textContent() {
    return this.data ?? (this.nodeType === 10 ? null : native.nodeText(this._document, this._number, 2));
  }

  get innerHTML() {
    return native.nodeText(this._document, this._number, 3);
  }

  get outerHTML() {
    return native.nodeText(this._document, this._number, 4);
  }

  get attributes() {
    const flat = native.nodeAttributes(this._document, this._number), list = [];
    for (let i = 0; i < flat.length; i += 2) list.push({ name: flat[i], value: flat[i + 1] });
    return list;
  }

  getAttribute(name) {
    const found = this.attributes.find((attribute) => attribute.name === name);
    return found ? found.value : null;
  }

  _node(number) {
    return number ? new Node(this._document, number) : null;
  }

  get parentNode() {
    return this._node(native.parent(this._document, this._number));
  }

  get firstChild() {
    return this._node(native.firstChild(this._document, this._number));
  }

  get nextSibling() {
    return this._node(native.next(this._document, this._number));
  }

  get childNodes() {
    const list = [];
    for (let child = this.firstChild; child; child = child.nextSibling) list.push(child);
    return list;
  }

  querySelector(selector) {
    return this._node(native.select(this._document, this._number, String(selector), true));
  }

  querySelectorAll(selector) {
    return native.select(this._document, this._number, String(selector), false).map((number) => this._node(number));
  }

  isSameNode(other) {
    return other instanceof Node && other._document === this._document && other._number === this._number;
  }
}

// Parses a page: a string, or its bytes, of which the encoding is detected.
function parse(html) {
  const isPage = typeof html === 'string' || html instanceof Uint8Array;
  if (!isPage) throw new TypeError('parse() takes a string or a Uint8Array');
  const document = native.parse(html);
  return new Node(document, native.root(document));
}

module.exports = { HTMLRewriter, Element, EndTag, Comment, TextChunk, Doctype, DocumentEnd, Node, parse };
