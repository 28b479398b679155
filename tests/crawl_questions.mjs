// crawl_questions.mjs records WARCIO FILE...: the records of archives as npm's warcio reads them, a JSON object each line.
// crawl_questions.mjs urls: reads lines [URL of the page, href of base or null, texts], and writes the list of their URLs,
// or null, by the URL class of Node.
import {createReadStream} from "node:fs";
import {join, resolve} from "node:path";
import {createInterface} from "node:readline";
import {pathToFileURL} from "node:url";

const [what, folder, ...files] = process.argv.slice(2);

function parse(text, base) {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}

function write(value) {
  process.stdout.write(JSON.stringify(value) + "\n");
}

if (what === "urls") {
  for await (const line of createInterface({input: process.stdin})) {
    const [page, href, texts] = JSON.parse(line);
    const outer = parse(page), own = href === null ? null : parse(href, outer ?? undefined);
    const base = own && !/^(data|javascript):/.test(own.href) ? own : outer;
    write(texts.map(text => parse(text, base ?? undefined)?.href ?? null));
  }
} else {
  const {WARCParser} = await import(pathToFileURL(join(resolve(folder), "dist", "index.js")));
  for (const file of files) {
    for await (const record of new WARCParser(createReadStream(file))) {
      const body = await record.readFully(true);
      const http = record.httpHeaders;
      write({fields: [...record.warcHeaders.headers], status: http ? http.statusline : null, http: http ? [...http.headers] : [],
             body: Buffer.from(body).toString("base64")});
    }
  }
}
