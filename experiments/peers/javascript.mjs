// parse5 and htmlparser2: node javascript.mjs NAME DIR LIST. DIR is the folder of npm. Pages are strings before
// the clock runs, as both require. README.md lists its commands.

import { readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [name, folder, list] = process.argv.slice(2);
const require = createRequire(join(resolve(folder), 'package.json'));
const library = await import(pathToFileURL(require.resolve(name)).href);
const version = JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'))).version;
const pages = readFileSync(list, 'utf8').split('\n').filter(Boolean).map((path) => readFileSync(path, 'utf8'));
const parse = {
  parse5: (page) => library.parse(page, { scriptingEnabled: false }),
  htmlparser2: (page) => library.parseDocument(page),
}[name];

const prefixes = new Map([
  ['http://www.w3.org/1999/xhtml', ''],
  ['http://www.w3.org/2000/svg', 'svg '],
  ['http://www.w3.org/1998/Math/MathML', 'math '],
]);

function attributeLines(element, indent) {
  return element.attrs
    .map(({ prefix, namespace, name, value }) => {
      const shown = namespace === 'http://www.w3.org/2000/xmlns/' ? 'xmlns' : prefix;
      return [shown ? `${shown} ${name}` : name, value];
    })
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([name, value]) => `| ${indent}${name}="${value}"`);
}

function dump(document) {
  const lines = [];
  const stack = [...document.childNodes].reverse().map((node) => [node, 0]);
  while (stack.length) {
    const [node, depth] = stack.pop();
    const indent = '  '.repeat(depth);
    if (node === null) lines.push(`| ${indent}content`);
    else if (node.nodeName === '#documentType') {
      const ids = node.publicId || node.systemId ? ` "${node.publicId}" "${node.systemId}"` : '';
      lines.push(`| ${indent}<!DOCTYPE ${node.name}${ids}>`);
    } else if (node.nodeName === '#comment') lines.push(`| ${indent}<!-- ${node.data} -->`);
    else if (node.nodeName === '#text') lines.push(`| ${indent}"${node.value}"`);
    else {
      lines.push(`| ${indent}<${prefixes.get(node.namespaceURI)}${node.tagName}>`, ...attributeLines(node, `${indent}  `));
      for (const child of [...node.childNodes].reverse()) stack.push([child, depth + 1]);
      if (node.content) {
        for (const child of [...node.content.childNodes].reverse()) stack.push([child, depth + 2]);
        stack.push([null, depth + 1]);
      }
    }
  }
  return lines.join('\n') + '\n';
}

const peak = () => Number(/VmHWM:\s*(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) * 1024;

const answers = {
  fresh: () =>
    pages.map((page) => {
      const begin = process.hrtime.bigint();
      parse(page);
      return process.hrtime.bigint() - begin;
    }).join(' '),
  memory: () => {
    const before = peak();
    globalThis.kept = pages.map(parse);
    return peak() - before;
  },
  dump: (index, path) => {
    if (name !== 'parse5') return 'none';
    writeFileSync(path, dump(parse(pages[index])));
    return 'done';
  },
};

console.log(`${name} ${version}, Node.js ${process.versions.node}`);
for await (const line of createInterface({ input: process.stdin })) {
  const [word, ...rest] = line.split(' ');
  console.log(String((answers[word] ?? (() => 'none'))(...rest)));
}
