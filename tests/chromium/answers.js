// The page of scripts/compare-chromium: fetches questions with HPar's answers, answers them by the DOM of this browser,
// and posts the answers that differ. tests/support/answers_main.c has HPar's side of each kind.
"use strict";
const XLINK = "http://www.w3.org/1999/xlink", HTML = "http://www.w3.org/1999/xhtml";
const prefixes = {[HTML]: "", "http://www.w3.org/2000/svg": "svg ", "http://www.w3.org/1998/Math/MathML": "math ",
                  [XLINK]: "xlink ", "http://www.w3.org/XML/1998/namespace": "xml ", "http://www.w3.org/2000/xmlns/": "xmlns "};
const wait = ms => new Promise(done => setTimeout(done, ms));
const bytesOf = item => Uint8Array.fromBase64(item.page);
const decode = bytes => new TextDecoder().decode(bytes);
const parse = text => new DOMParser().parseFromString(text, "text/html");

// The format of html5lib-tests, without recursion.
function tree(root) {
  const lines = [], open = [[root.firstChild, ""]];
  const put = (indent, text) => lines.push("| " + indent + text + "\n");
  while (open.length) {
    const top = open[open.length - 1], node = top[0], indent = top[1];
    if (!node) {
      open.pop();
      continue;
    }
    top[0] = node.nextSibling;
    switch (node.nodeType) {
      case 1: {
        put(indent, "<" + (prefixes[node.namespaceURI] ?? "? ") + node.localName + ">");
        const shown = Array.from(node.attributes, a => [(a.namespaceURI ? prefixes[a.namespaceURI] ?? "? " : "") + a.localName, a.value]);
        shown.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
        for (const [name, value] of shown) put(indent + "  ", name + "=\"" + value + "\"");
        if (node.localName == "template" && node.namespaceURI == HTML) {
          if (node.firstChild) open.push([node.firstChild, indent + "  "]);
          put(indent + "  ", "content");
          open.push([node.content.firstChild, indent + "    "]);
        } else if (node.firstChild) {
          open.push([node.firstChild, indent + "  "]);
        }
        break;
      }
      case 3: put(indent, "\"" + node.data + "\""); break;
      case 7: put(indent, "<?" + node.target + " " + node.data + "?>"); break;
      case 8: put(indent, "<!-- " + node.data + " -->"); break;
      case 10: {
        const ids = node.publicId || node.systemId ? " \"" + node.publicId + "\" \"" + node.systemId + "\"" : "";
        put(indent, "<!DOCTYPE " + node.name + ids + ">");
      }
    }
  }
  return lines.join("");
}

function selectors(page, item) {
  const numbers = new Map(), lines = [];
  for (const e of page.querySelectorAll("*")) numbers.set(e, numbers.size);
  for (const selector of item.selectors) {
    let line = "";
    try {
      for (const e of page.querySelectorAll(selector)) line += numbers.get(e) + " ";
    } catch {
      line = "error";
    }
    lines.push(line + "\n");
  }
  return lines.join("");
}

// docs/guides/text-and-links.md, without srcset and imagesrcset.
const linked = {src: "audio embed frame iframe img input script source track video", href: "a area link", ping: "a area",
                action: "form", formaction: "button input", cite: "blockquote del ins q", data: "object", poster: "video",
                background: "body", longdesc: "frame iframe img"};
function links(page) {
  let found = "", number = 0;
  for (const e of page.querySelectorAll("*")) {
    for (const a of e.attributes) {
      const isSvg = e.namespaceURI == "http://www.w3.org/2000/svg" && a.localName == "href" && (!a.namespaceURI || a.namespaceURI == XLINK);
      const isHtml = e.namespaceURI == HTML && !a.namespaceURI && (" " + linked[a.name] + " ").includes(" " + e.localName + " ");
      if (!isSvg && !isHtml) continue;
      for (const value of a.name == "ping" ? a.value.split(/[\t\n\f\r ]+/).filter(Boolean) : [a.value]) {
        const valid = URL.canParse(value, page.baseURI);
        const url = !valid ? "" : isHtml && a.name == "href" ? e.href : new URL(value, page.baseURI).href;
        found += number + " " + a.localName + " " + url + "\n";
      }
    }
    number++;
  }
  return found;
}

// Loads a document in a frame, and returns the answer that `read` takes from it.
async function load(source, sandbox, read) {
  const frame = document.createElement("iframe");
  if (sandbox) frame.sandbox = sandbox;
  const loaded = new Promise(done => frame.onload = done);
  frame.src = URL.createObjectURL(new Blob([source], {type: "text/html;charset=utf-8"}));
  document.body.append(frame);
  await Promise.race([loaded, wait(20000)]);
  const answer = await read(frame.contentDocument, frame.contentWindow);
  URL.revokeObjectURL(frame.src);
  frame.remove();
  return answer;
}

let host; // a frame in which texts are rendered
async function rendered(text) {
  if (!host) {
    host = document.createElement("iframe");
    const loaded = new Promise(done => host.onload = done);
    host.srcdoc = "<!doctype html>";
    document.body.append(host);
    await loaded;
  }
  const page = host.contentDocument;
  page.documentElement.replaceWith(page.adoptNode(parse(text).documentElement));
  return page.body?.innerText ?? "";
}

// The lines of HPar's answer that Chromium agrees with, and what it has fetched besides.
const fetchedKinds = new Set("script module style import image poster preload module-preload frame".split(" "));
async function resources(item) {
  return load(bytesOf(item), "", async (page, view) => {
    await wait(30);
    const fetched = new Set(view.performance.getEntriesByType("resource").map(e => e.name));
    const lines = item.answer.split("\n").filter(Boolean), known = new Set();
    let answer = "";
    for (const line of lines) {
      const [kind, flags, inPicture, url, ...candidates] = line.split(" ");
      for (const one of [url, ...candidates.filter(c => c.startsWith("http"))]) known.add(one);
      const isSure = fetchedKinds.has(kind) && !(flags & (4 | 32)) && inPicture == "0" && !candidates[0] && /^http:\/\/./.test(url);
      if (!isSure || fetched.has(url)) answer += line + "\n";
    }
    for (const url of fetched) if (url.startsWith("http") && !known.has(url)) answer += "fetched " + url + "\n";
    return answer;
  });
}

function* elements(root) { // in tree order, with the contents of templates
  for (const e of root.querySelectorAll("*")) {
    yield e;
    if (e.localName == "template" && e.content) yield* elements(e.content);
  }
}
function normalise(root) {
  root.normalize();
  for (const e of elements(root)) if (e.localName == "template") e.content?.normalize();
}

// The tree of HPar's output, and the tree that has the same edit.
const formatting = "a b big code em font i nobr s small strike strong tt u".split(" ");
function rewritten(item) {
  const page = parse(decode(bytesOf(item))), all = [...elements(page)], put = (name, isInside) => e => {
    const piece = ((isInside ? e : e.parentElement) ?? page.createElement("template")).cloneNode(false);
    piece.innerHTML = item.content;
    (isInside ? e.content ?? e : e)[name](...page.importNode(piece.content ?? piece, true).childNodes);
  };
  const edits = {
    set: e => e.setAttribute(item.name, item.content),
    unset: e => e.removeAttribute(item.name),
    remove: e => e.remove(),
    unwrap: e => e.replaceWith(...e.childNodes),
    rename: e => {
      const renamed = page.createElement(item.name);
      for (const a of [...e.attributes]) renamed.setAttributeNode(e.removeAttributeNode(a));
      renamed.append(...e.childNodes);
      e.replaceWith(renamed);
    },
    before: put("before"), after: put("after"), prepend: put("prepend", true), append: put("append", true),
    inner: put("replaceChildren", true), replace: put("replaceWith"),
  };
  // Edits of a formatting element's tag concern the elements that the parser opens again for it.
  const tagged = new Set(item.tagged), again = ["set", "unset", "unwrap", "remove"].includes(item.edit) ? formatting : [];
  const chosen = all.filter((e, n) => (tagged.has(n) || again.includes(e.localName)) && e.matches(item.selector));
  for (const e of chosen) edits[item.edit](e);
  normalise(page);
  const output = parse(decode(Uint8Array.fromBase64(item.answer)));
  normalise(output);
  return [tree(output), tree(page)];
}

const lines = text => text.replace(/[ \t\n\r\f\u00a0]+/g, m => (m.includes("\n") ? "\n" : m.includes("\t") ? "\t" : " ")).replace(/ ?([\n\t]) ?/g, "$1").trim();

// Each returns HPar's answer and Chromium's.
const kinds = {
  parse: item => {
    const page = parse(decode(bytesOf(item)));
    return [item.answer, page.compatMode + "\n" + tree(page)];
  },
  html: item => {
    const page = parse(decode(bytesOf(item)));
    const outer = n => {
      if (n.nodeType == 10) return "<!DOCTYPE " + n.name + ">";
      const host = page.createElement("div");
      host.append(n.cloneNode(true));
      return host.innerHTML;
    };
    const html = Array.from(page.childNodes, outer).join("");
    return [item.answer, html];
  },
  fragments: item => {
    const page = document.implementation.createHTMLDocument(""), [space, name] = item.context.split(" ");
    const uri = name ? Object.keys(prefixes).find(u => prefixes[u] == space + " ") : HTML;
    const context = page.createElementNS(uri, name ?? space);
    context.innerHTML = decode(bytesOf(item));
    return [item.answer, tree(context.localName == "template" ? context.content : context)];
  },
  selectors: item => [item.answer, selectors(parse(decode(bytesOf(item))), item)],
  links: item => [item.answer, links(parse(decode(bytesOf(item))))],
  content: item => [item.answer, parse(decode(bytesOf(item))).documentElement?.textContent ?? ""],
  text: async item => [lines(item.answer), lines(await rendered(decode(bytesOf(item))))],
  scripts: async item => [item.answer, await load(bytesOf(item), "", page => tree(page))],
  resources: async item => [item.answer, await resources(item)],
  rewrite: rewritten,
};

async function work() {
  for (let batches = 0;; batches++) {
    if (batches == 200) return location.reload(); // gives memory back
    const response = await fetch("/work");
    if (response.status == 204) continue;
    const batch = await response.json(), differing = [];
    await Promise.all(Array.from({length: batch.at_once}, async () => {
      for (let index; (index = batch.next = (batch.next ?? -1) + 1) < batch.items.length;) {
        const item = batch.items[index];
        try {
          const [hpar, chromium] = await kinds[batch.kind](item);
          if (hpar != chromium) differing.push([index, hpar, chromium]);
        } catch (error) {
          differing.push([index, item.answer, "exception: " + error + "\n" + error.stack]);
        }
      }
    }));
    await fetch("/done?" + batch.id, {method: "POST", body: JSON.stringify(differing)});
  }
}
onload = work;
