'use strict';
const assert = require('node:assert');
const test = require('node:test');
const { HTMLRewriter, parse } = require('..');

// Rewrites the page in pieces of so many bytes.
async function rewrite(page, prepare, size = 1 << 20) {
  const bytes = new TextEncoder().encode(page), output = [];
  const rewriter = new HTMLRewriter((chunk) => output.push(chunk));
  prepare(rewriter);
  for (let at = 0; at < bytes.length; at += size) await rewriter.write(bytes.subarray(at, at + size));
  await rewriter.end();
  rewriter.free();
  return Buffer.concat(output).toString();
}

const later = () => new Promise((resolve) => setImmediate(resolve));

const page = '<!doctype html><title>t</title><p class=a id="b">\u00e9x<b>y</b> &amp; z</p><!--c--><ul><li>1<li>2</ul>'
  + '<img src=i><svg><a xlink:href=x>l</a></svg><script>s()</script>';

// A handler for each unit. With `wait`, each of them is asynchronous.
function handleAll(rewriter, log, wait) {
  const turn = (name, edit) => wait
    ? async (unit) => { log.push(name); await later(); edit(unit); await later(); }
    : (unit) => { log.push(name); edit(unit); };
  rewriter.on('*', {
    element: turn('element', (e) => {
      e.before(`[${e.tagName}`, { html: true }).after(']').setAttribute('n', [...e.attributes].length);
      if (e.tagName !== 'img') e.onEndTag(turn('end', (end) => end.before('/')));
    }),
    comments: turn('comment', (c) => { c.text += '!'; }),
    text: turn('text', (t) => { t.before('{').after('}', { html: true }); }),
  }).onDocument({
    doctype: turn('doctype', () => {}),
    end: turn('document', (end) => end.append('<end>', { html: true })),
  });
}

test('asynchronous handlers give the output and the order of synchronous ones', async () => {
  for (const size of [1 << 20, 1, 7]) {
    const logs = [[], []], outputs = [];
    for (const wait of [false, true])
      outputs.push(await rewrite(page, (rewriter) => handleAll(rewriter, logs[Number(wait)], wait), size));
    assert.strictEqual(outputs[1], outputs[0]);
    assert.deepStrictEqual(logs[1], logs[0]);
    assert.ok(logs[0].length > 30);
  }
});

test('a text comes in whole characters, and its last chunk is empty', async () => {
  const chunks = [];
  await rewrite('<p>a\u00e9\u20ac\u{1f600}</p>', (rewriter) => rewriter.on('p', {
    text(text) { chunks.push([text.text, text.lastInTextNode]); },
  }), 1);
  assert.strictEqual(chunks.map(([text]) => text).join(''), 'a\u00e9\u20ac\u{1f600}');
  assert.ok(!chunks.some(([text]) => text.includes('\ufffd')));
  assert.deepStrictEqual(chunks.pop(), ['', true]);
  assert.ok(chunks.every(([, last]) => !last));
});

test('content around the chunks of a text keeps its order', async () => {
  const handlers = {
    text(text) { text.before('1').before('2').after('4').after('3'); },
  };
  assert.strictEqual(await rewrite('<p>x</p>', (rewriter) => rewriter.on('p', handlers)), '<p>12x341234</p>');
});

test('exceptions end the stream and reach the caller', async () => {
  const own = Symbol('own');
  for (const element of [() => { throw own; }, async () => { await later(); throw own; }]) {
    const rewriter = new HTMLRewriter(() => {});
    rewriter.on('p', { element });
    await assert.rejects(rewriter.write(Buffer.from('<p>')), (error) => error === own);
    await assert.rejects(rewriter.write(Buffer.from('<p>')));
  }
  assert.throws(() => new HTMLRewriter(() => {}).on('p:has(', { element() {} }), TypeError);
  await assert.rejects(new HTMLRewriter(() => {}).write('text'), TypeError);
});

test('a unit is valid in its handler only', async () => {
  let kept;
  await rewrite('<p>', (rewriter) => rewriter.on('p', { element(element) { kept = element; } }));
  for (const use of [() => kept.before('x'), () => kept.getAttribute('a'), () => kept.removed])
    assert.throws(use, /no longer valid/);
});

test('a unit of an earlier handler does not edit that of a later one', async () => {
  const edits = {
    element: [(e) => e.setAttribute('x', '1'), (e) => e.before('x'), (e) => e.remove(), (e) => e.removed,
      (e) => { e.tagName = 'i'; }, (e) => e.onEndTag(() => {}), (e, attributes) => [...attributes]],
    comments: [(comment) => { comment.text = 'x'; }, (comment) => comment.after('x')],
    text: [(text) => text.before('x'), (text) => text.remove()],
  };
  const source = '<p a=1><!--1-->1</p><p b=2><!--2-->2</p>';
  for (const [name, uses] of Object.entries(edits)) {
    for (const use of uses) {
      for (const wait of [() => undefined, later]) {
        const kept = [];
        const handler = (unit) => {
          if (kept.length) assert.throws(() => use(...kept), /no longer valid/);
          else kept.push(unit, unit.attributes);
          return wait();
        };
        assert.strictEqual(await rewrite(source, (rewriter) => rewriter.on('p', { [name]: handler })), source);
      }
    }
  }
  // The edit comes while the handler of the next element waits.
  let edit = null, error = null;
  const first = (element) => { edit = () => element.setAttribute('x', '1'); };
  const next = async () => {
    setImmediate(() => {
      try {
        edit();
      } catch (thrown) {
        error = thrown;
      }
    });
    await later().then(later);
  };
  const prepare = (rewriter) => rewriter.on('p[a]', { element: first }).on('p[b]', { element: next });
  assert.strictEqual(await rewrite(source, prepare), source);
  assert.match(String(error), /no longer valid/);
});

test('a NUL character in a name is refused', async () => {
  const refused = { name: 'TypeError', message: /^name: a NUL character$/ };
  const output = await rewrite('<a onclick=x><!--c--></a>', (rewriter) => rewriter.on('a', {
    element(a) {
      for (const use of [() => a.setAttribute('onclick\0x', ''), () => a.getAttribute('onclick\0'),
        () => a.removeAttribute('onclick\0'), () => { a.tagName = 'b\0c'; }]) assert.throws(use, refused);
      assert.strictEqual(a.tagName, 'a');
      a.setAttribute('y', 'v\0w').before('<\0>');
      a.onEndTag((end) => assert.throws(() => { end.name = 'b\0c'; }, refused));
    },
    comments(comment) { comment.text = 'd\0e'; },
  }));
  assert.strictEqual(output, '&lt;\0&gt;<a onclick=x y="v\0w"><!--d\0e--></a>');
  const document = parse('<p>'), rewriter = new HTMLRewriter(() => {});
  for (const use of [() => rewriter.on('p\0.none', { element() {} }), () => document.querySelector('p\0.none'),
    () => document.querySelectorAll(`${'p,'.repeat(1000)}p\0.none`)])
    assert.throws(use, { name: 'TypeError', message: 'selector: a NUL character' });
});

test('a long tag needs maxToken', async () => {
  const page = Buffer.from(`<img src="data:${'a'.repeat(2e6)}">`);
  for (const maxToken of [undefined, 1e6, 3e6]) {
    let length = 0;
    const rewriter = new HTMLRewriter((chunk) => { length += chunk.length; }, { maxToken });
    rewriter.on('img', { element(image) { image.setAttribute('a', ''); } });
    if (maxToken === 3e6) {
      await rewriter.write(page);
      await rewriter.end();
      assert.strictEqual(length, page.length + 5);
    } else {
      await assert.rejects(rewriter.write(page), /longer than .*max_token/);
    }
  }
});

test('other calls while a handler waits', async () => {
  let resolve;
  const output = [], rewriter = new HTMLRewriter((chunk) => output.push(...chunk));
  const input = Buffer.from('<b>a<i>b');
  rewriter.on('i', { element: (e) => new Promise((done) => { resolve = done; }).then(() => { e.before('x'); }) });
  const writing = rewriter.write(input);
  input.fill(0); // the input is the rewriter's
  await later();
  assert.strictEqual(Buffer.from(output).toString(), '');
  await assert.rejects(rewriter.write(Buffer.from('y')), /not over/);
  await assert.rejects(rewriter.end(), /not over/);
  resolve();
  await writing;
  await rewriter.end();
  assert.strictEqual(Buffer.from(output).toString(), '<b>ax<i>b');
});

test('free while a handler waits or runs', async () => {
  const waiting = new HTMLRewriter(() => {});
  waiting.on('p', { element: () => later() });
  const writing = waiting.write(Buffer.from('<p>'));
  waiting.free();
  await assert.rejects(writing);
  const running = new HTMLRewriter(() => {});
  running.on('p', { element: () => running.free() });
  await assert.rejects(running.write(Buffer.from('<p>')));
});

test('parse', () => {
  const document = parse(page);
  assert.strictEqual(document.nodeName, '#document');
  assert.deepStrictEqual(document.childNodes.map((node) => node.nodeName), ['html', 'HTML']);
  const p = document.querySelector('p');
  assert.deepStrictEqual(p.attributes, [{ name: 'class', value: 'a' }, { name: 'id', value: 'b' }]);
  assert.deepStrictEqual(p.childNodes.map((node) => node.nodeName), ['#text', 'B', '#text']);
  assert.strictEqual(p.textContent, '\u00e9xy & z');
  assert.strictEqual(p.outerHTML, '<p class="a" id="b">\u00e9x<b>y</b> &amp; z</p>');
  assert.strictEqual(p.getAttribute('id'), 'b');
  assert.strictEqual(p.getAttribute('none'), null);
  assert.ok(p.firstChild.parentNode.isSameNode(p));
  assert.deepStrictEqual(document.querySelectorAll('li').map((node) => node.innerHTML), ['1', '2']);
  assert.strictEqual(document.querySelector('svg a').attributes[0].name, 'xlink:href');
  assert.strictEqual(document.querySelector('svg a').nodeName, 'a');
  assert.strictEqual(document.querySelector('none'), null);
  assert.throws(() => document.querySelectorAll('p['), TypeError);
  assert.strictEqual(parse(new Uint8Array([0xe9])).textContent, '\u00e9');
  assert.strictEqual(parse('').textContent, '');
  for (const other of [new ArrayBuffer(3), new Uint16Array(3), null, 5]) assert.throws(() => parse(other), TypeError);
});

test('the garbage collector takes rewriters', async () => {
  require('node:v8').setFlagsFromString('--expose-gc');
  const collect = require('node:vm').runInNewContext('gc');
  const made = [];
  for (let i = 0; i < 100; i++) {
    const rewriter = new HTMLRewriter(() => {}).on('p', { element: () => later() });
    await rewriter.write(Buffer.from('<p>'));
    await rewriter.end();
    made.push(new WeakRef(rewriter));
  }
  // The collector takes them in its own time, and what deref returns lives until the next turn.
  let left = made.length;
  for (let i = 0; i < 500 && left >= 10; i++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    collect();
    left = made.filter((reference) => reference.deref()).length;
  }
  assert.ok(left < 10, `${left} of ${made.length} are left`);
});

test('the garbage collector takes documents before they need much memory', async () => {
  const large = Buffer.from('<p>hello <b>x</b>'.repeat(60000)), before = process.memoryUsage().rss;
  for (let i = 0; i < 60; i++) {
    parse(large); // takes 10 MB
    await later();
  }
  const growth = process.memoryUsage().rss - before;
  assert.ok(growth < 350e6, `${growth} bytes more`);
});

test('a sink that throws while a handler waits, and calls after free', async () => {
  const throwing = new HTMLRewriter(() => { throw new Error('full'); });
  throwing.on('p', { element: () => later() });
  await assert.rejects(throwing.write(Buffer.from(`${'text '.repeat(100000)}<p>`)), /full/);
  const freed = new HTMLRewriter(() => {});
  await freed.write(Buffer.from('<p><a>'));
  freed.free();
  await assert.rejects(freed.write(Buffer.from('<a>')), /freed/);
  assert.throws(() => freed.on('p', { element() {} }), /the rewriter was freed/);
});
