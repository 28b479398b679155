// The interface of HTMLRewriter is that of Cloudflare's workers and of html-rewriter-wasm.

export interface ContentTypeOptions {
  /** The content is HTML. Without it, the content is text. */
  html?: boolean;
}

declare class Unit {
  before(content: string, options?: ContentTypeOptions): this;
  after(content: string, options?: ContentTypeOptions): this;
  remove(): this;
}

declare class ReplaceableUnit extends Unit {
  replace(content: string, options?: ContentTypeOptions): this;
  readonly removed: boolean;
}

export class Element extends ReplaceableUnit {
  getAttribute(name: string): string | null;
  hasAttribute(name: string): boolean;
  setAttribute(name: string, value: string): this;
  removeAttribute(name: string): this;
  prepend(content: string, options?: ContentTypeOptions): this;
  append(content: string, options?: ContentTypeOptions): this;
  setInnerContent(content: string, options?: ContentTypeOptions): this;
  removeAndKeepContent(): this;
  /** The attributes of the tag in the input. */
  readonly attributes: IterableIterator<[string, string]>;
  readonly namespaceURI: string;
  tagName: string;
  onEndTag(handler: (this: this, endTag: EndTag) => void | Promise<void>): void;
}

export class EndTag extends Unit {
  name: string;
}

export class Comment extends ReplaceableUnit {
  text: string;
}

export class TextChunk extends ReplaceableUnit {
  readonly lastInTextNode: boolean;
  /** The text in the input: character references are not decoded. */
  readonly text: string;
}

export class Doctype {
  readonly name: string | null;
  readonly publicId: string | null;
  readonly systemId: string | null;
}

export class DocumentEnd {
  append(content: string, options?: ContentTypeOptions): this;
}

export interface ElementHandlers {
  element?(element: Element): void | Promise<void>;
  comments?(comment: Comment): void | Promise<void>;
  text?(text: TextChunk): void | Promise<void>;
}

export interface DocumentHandlers {
  doctype?(doctype: Doctype): void | Promise<void>;
  comments?(comment: Comment): void | Promise<void>;
  text?(text: TextChunk): void | Promise<void>;
  end?(end: DocumentEnd): void | Promise<void>;
}

export interface HTMLRewriterOptions {
  /** Elements of Edge Side Includes (esi:*) have no content. */
  enableEsiTags?: boolean;
  /** The most bytes of a tag, comment or doctype that the rewriter keeps; above it, write() rejects. Default: 1 MB. */
  maxToken?: number;
}

export class HTMLRewriter {
  constructor(outputSink: (chunk: Uint8Array) => void, options?: HTMLRewriterOptions);
  on(selector: string, handlers: ElementHandlers): this;
  onDocument(handlers: DocumentHandlers): this;
  /** Await each call before the next one. */
  write(chunk: Uint8Array): Promise<void>;
  end(): Promise<void>;
  free(): void;
}

/** A node of a parsed page, which cannot be changed. */
export interface Node {
  readonly nodeType: number;
  readonly nodeName: string;
  readonly localName: string;
  readonly data: string | null;
  readonly textContent: string | null;
  readonly innerHTML: string;
  readonly outerHTML: string;
  readonly attributes: { name: string; value: string }[];
  readonly parentNode: Node | null;
  readonly firstChild: Node | null;
  readonly nextSibling: Node | null;
  readonly childNodes: Node[];
  getAttribute(name: string): string | null;
  querySelector(selector: string): Node | null;
  querySelectorAll(selector: string): Node[];
  isSameNode(other: Node | null): boolean;
}

/** Parses a page: a string, or its bytes, of which the encoding is detected. */
export function parse(html: string | Uint8Array): Node;
