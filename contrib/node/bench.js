// Measures HTMLRewriter beside that of html-rewriter-wasm from npm.
//
//   node bench.js PAGE...
//
// A round rewrites all pages by both packages, in chunks of 64 KB, once for each set of handlers. The table has the medians
// of the speeds and of their ratio in a round. HPAR_ROUNDS is the number of rounds (5). html-rewriter-wasm takes UTF-8 only:
// invalid bytes of the pages are replaced before.
'use strict';
const fs = require('fs');
const { HTMLRewriter } = require('.');

const rounds = Number(process.env.HPAR_ROUNDS || 5);
const CHUNK = 64 << 10;
const nothing = () => {};

let Peer;
try {
  Peer = require(require.resolve('html-rewriter-wasm', { paths: [process.cwd()] })).HTMLRewriter;
} catch {
  console.error('html-rewriter-wasm not found: npm install html-rewriter-wasm');
  process.exit(77);
}
if (process.argv.length < 3) {
  console.error('usage: node bench.js PAGE...');
  process.exit(2);
}

const nofollow = { element(a) { a.setAttribute('rel', 'nofollow'); } };
const handlers = {
  'a selector without a match': (r) => r.on('no-such-element', { element: nothing }),
  '`setAttribute` on `a[href]`': (r) => r.on('a[href]', nofollow),
  'the same with asynchronous handlers': (r) => r.on('a[href]', { async element(a) { nofollow.element(a); } }),
  'edits of links, scripts and images, and an end': (r) => r
    .on('a[href]', nofollow)
    .on('script', { element(e) { e.remove(); } })
    .on('img', { element(e) { e.before('<i>image</i>', { html: true }); e.removeAttribute('width'); } })
    .onDocument({ end(e) { e.append('<!-- end -->', { html: true }); } }),
  'a text handler for `p`': (r) => r.on('p', { text(t) { if (t.text.includes('no-such-text')) t.remove(); } }),
};

async function rewrite(Rewriter, add, page) {
  const rewriter = add(new Rewriter(nothing));
  for (let at = 0; at < page.length; at += CHUNK) await rewriter.write(page.subarray(at, at + CHUNK));
  await rewriter.end();
  rewriter.free();
}

async function seconds(Rewriter, add, pages) {
  const start = process.hrtime.bigint();
  for (const page of pages) await rewrite(Rewriter, add, page);
  return Number(process.hrtime.bigint() - start) / 1e9;
}

function median(values) {
  return values.sort((a, b) => a - b)[values.length >> 1];
}

async function main() {
  const pages = process.argv.slice(2).map((name) => Buffer.from(fs.readFileSync(name).toString()));
  const bytes = pages.reduce((sum, page) => sum + page.length, 0);
  console.log(`${pages.length} pages, ${(bytes / 1e6).toFixed(1)} MB, ${rounds} rounds\n`);
  console.log('| handlers | HPar, MB/s | html-rewriter-wasm, MB/s | ratio |\n| --- | ---: | ---: | ---: |');
  for (const [name, add] of Object.entries(handlers)) {
    const own = [], peer = [];
    for (let round = -1; round < rounds; round++) { // the first one warms up
      const both = [await seconds(HTMLRewriter, add, pages), await seconds(Peer, add, pages)];
      if (round >= 0) own.push(both[0]), peer.push(both[1]);
    }
    const ratio = median(own.map((time, i) => peer[i] / time));
    const speed = (times) => (bytes / median(times) / 1e6).toFixed(0);
    console.log(`| ${name} | ${speed(own)} | ${speed(peer)} | ${ratio.toFixed(1)} |`);
  }
}

main();
