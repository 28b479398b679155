#!/usr/bin/env node
// Compares the trees of `hpar parse` with those of parse5, page by page. See tests/README.md.
//
//   node tests/parse5_compare.mjs --parse5 DIR [--mode MODE] [--scripting] HPAR FILE|DIRECTORY...
//
// Bytes that are not UTF-8 are U+FFFD for both. parse5 knows neither processing instructions nor today's select. A `<?`
// that the standard now makes a processing instruction is printed as one, and such pages are counted, as are those
// whose trees differ only below select elements. Exit status: 0 no other difference, 1 a difference or an unreadable
// page, 2 wrong usage.

import { isUtf8 } from 'node:buffer';
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync, statSync, existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const usage = 'usage: node tests/parse5_compare.mjs --parse5 DIR [--mode MODE] [--scripting] HPAR FILE|DIRECTORY...';

function fail(message) {
  console.error(message);
  process.exit(2);
}

let folder = null, mode = 'sequential', scripting = false;
const rest = [];
const args = process.argv.slice(2);
while (args.length) {
  const arg = args.shift();
  if (arg === '--parse5') folder = args.shift() ?? fail(usage);
  else if (arg === '--mode') mode = args.shift() ?? fail(usage);
  else if (arg === '--scripting') scripting = true;
  else if (arg === '--help') { console.log(usage); process.exit(0); }
  else if (arg.startsWith('--')) fail(usage);
  else rest.push(arg);
}
if (rest.length < 2) fail(usage);
const [hpar, ...paths] = rest;

const entry = folder && join(resolve(folder), 'node_modules', 'parse5', 'dist', 'index.js');
if (!entry || !existsSync(entry)) {
  fail(`${usage}\nparse5 is not in ${folder ?? 'any folder given'}: npm install parse5@8 --prefix DIR`);
}
const parse5 = await import(pathToFileURL(entry).href);

const namespaces = new Map([
  ['http://www.w3.org/1999/xhtml', ''],
  ['http://www.w3.org/2000/svg', 'svg '],
  ['http://www.w3.org/1998/Math/MathML', 'math '],
]);

function attributeLines(element, indent) {
  return element.attrs
    .map(({ prefix, namespace, name, value }) => {
      const designator = namespace === 'http://www.w3.org/2000/xmlns/' ? 'xmlns' : prefix;
      return [designator ? `${designator} ${name}` : name, value];
    })
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([name, value]) => `| ${indent}${name}="${value}"`);
}

const instruction = /^<\?([A-Za-z_][A-Za-z0-9_-]*)(?=[\t\n\f\r ?>])[\t\n\f\r ]*/;

/** The line of a comment, or of the processing instruction that it is by now. */
function commentLine(node, source, found) {
  const place = node.sourceCodeLocation;
  if (place && node.data.startsWith('?')) {
    const match = instruction.exec(source.slice(place.startOffset, place.startOffset + 1000));
    if (match && !/^xml(-stylesheet)?$/i.test(match[1])) {
      const target = match[1];
      const data = node.data.slice(1 + target.length).replace(/^[\t\n\f ]+/, '').replace(/\?$/, '');
      found.instructions++;
      return `<?${target} ${data}?>`;
    }
  }
  return `<!-- ${node.data} -->`;
}

/** The tree in the format of html5lib-tests, without recursion. */
function dump(document, source, found) {
  const lines = [];
  const stack = [...document.childNodes].reverse().map((node) => [node, 0]);
  while (stack.length) {
    const [node, depth] = stack.pop();
    const indent = '  '.repeat(depth);
    if (node === null) {
      lines.push(`| ${indent}content`);
    } else if (node.nodeName === '#documentType') {
      const ids = node.publicId || node.systemId ? ` "${node.publicId}" "${node.systemId}"` : '';
      lines.push(`| ${indent}<!DOCTYPE ${node.name}${ids}>`);
    } else if (node.nodeName === '#comment') {
      lines.push(`| ${indent}${commentLine(node, source, found)}`);
    } else if (node.nodeName === '#text') {
      lines.push(`| ${indent}"${node.value}"`);
    } else {
      if (node.tagName === 'select') found.selects++;
      lines.push(`| ${indent}<${namespaces.get(node.namespaceURI)}${node.tagName}>`);
      for (const line of attributeLines(node, `${indent}  `)) lines.push(line);
      for (let i = node.childNodes.length - 1; i >= 0; i--) stack.push([node.childNodes[i], depth + 1]);
      if (node.content) {
        for (let i = node.content.childNodes.length - 1; i >= 0; i--) stack.push([node.content.childNodes[i], depth + 2]);
        stack.push([null, depth + 1]);
      }
    }
  }
  return lines.length ? `${lines.join('\n')}\n` : '';
}

function* pages(path) {
  if (statSync(path).isDirectory()) {
    for (const name of readdirSync(path).sort()) if (/\.x?html?$/i.test(name)) yield join(path, name);
  } else {
    yield path;
  }
}

function firstDifference(file, ours, theirs) {
  const a = ours.split('\n'), b = theirs.split('\n');
  let i = 0;
  while (i < a.length && i < b.length && a[i] === b[i]) i++;
  const show = (line) => (line === undefined ? '(nothing)' : line.slice(0, 200));
  const before = a.slice(Math.max(0, i - 3), i).map((line) => `      ${show(line)}`);
  return [`${file}: differs at line ${i + 1} of the dump`, ...before, `  hpar   ${show(a[i])}`, `  parse5 ${show(b[i])}`].join('\n');
}

/** The dump without what is below select elements. */
function outsideSelect(lines) {
  const kept = [];
  let select = Infinity;
  let dropping = false;
  for (const line of lines.split('\n')) {
    const match = /^\| ( *)(.*)$/.exec(line); // others go on with the text of the line before
    if (match) {
      dropping = match[1].length > select;
      if (!dropping) select = match[2] === '<select>' ? match[1].length : Infinity;
    }
    if (!dropping) kept.push(line);
  }
  return kept.join('\n');
}

const count = { equal: 0, instructions: 0, inSelect: 0, invalid: 0, differing: 0, failed: 0 };
for (const path of paths) {
  let list;
  try {
    list = [...pages(path)];
  } catch (error) {
    console.error(error.message);
    count.failed++;
    continue;
  }
  for (const file of list) {
    let source;
    try {
      const bytes = readFileSync(file);
      source = new TextDecoder('utf-8').decode(bytes);
      if (!isUtf8(bytes)) count.invalid++;
    } catch (error) {
      console.error(`${file}: ${error.message}`);
      count.failed++;
      continue;
    }
    const run = spawnSync(
      hpar,
      ['parse', '--mode', mode, '--scripting', scripting ? 'on' : 'off', '--encoding', 'utf-8', '--format', 'tree', file],
      { maxBuffer: 2 ** 31, encoding: 'buffer' },
    );
    if (run.status !== 0) {
      console.error(`${file}: ${run.error?.message ?? `hpar: status ${run.status} ${run.stderr}`}`);
      count.failed++;
      continue;
    }
    const found = { instructions: 0, selects: 0 };
    const tree = parse5.parse(source, { scriptingEnabled: scripting, sourceCodeLocationInfo: source.includes('<?') });
    const theirs = dump(tree, source, found), ours = run.stdout.toString('utf8');
    if (ours === theirs) {
      count.equal++;
      if (found.instructions) {
        console.log(`${file}: equal, with ${found.instructions} processing instructions that parse5 makes comments`);
        count.instructions++;
      }
      continue;
    }
    if (found.selects && outsideSelect(ours) === outsideSelect(theirs)) {
      console.log(`${file}: differs below its ${found.selects} select elements only`);
      count.inSelect++;
      continue;
    }
    count.differing++;
    console.log(firstDifference(file, ours, theirs));
  }
}
console.log(
  `${count.equal} equal (${count.instructions} of them with processing instructions), ` +
    `${count.inSelect} different below select elements only, ${count.differing} different, ${count.failed} failed; ` +
    `${count.invalid} are not valid UTF-8`,
);
process.exit(count.differing || count.failed ? 1 : 0);
