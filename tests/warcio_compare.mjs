// warcio_compare.mjs BUILD [RECORDS] [WARCIO]: compares the reader of web archives with npm's warcio.
//
// hpar-corpus in the folder BUILD generates archives: two large ones, small ones of four records and others of fifty, most
// with damaged records. Both readers must report the same records: offset, type, URI, length and hash of the block. For
// damaged archives this holds for the records before the first damaged one; the script counts how often warcio reads the
// records after it. For the small archives, hpar-records also cuts the stream at every byte and compares its own reports.
// With HPAR_TEST_FULL=1, all records are in small archives that are cut at every byte.
// WARCIO is the folder of the package (npm install warcio). Exit status: 0 equal, 1 a difference, 77 no warcio.
import {execFileSync} from "node:child_process";
import {createReadStream, mkdtempSync, openSync, closeSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {join, resolve} from "node:path";
import {pathToFileURL} from "node:url";

const [build, wanted = "100000", folder = "node_modules/warcio"] = process.argv.slice(2);
let WARCParser;
try {
  ({WARCParser} = await import(pathToFileURL(join(resolve(folder), "dist", "index.js"))));
} catch (error) {
  console.log(`skipped: no warcio in ${folder}: ${error.message}`);
  process.exit(77);
}
console.warn = () => {};
const work = mkdtempSync(join(tmpdir(), "hpar-warcio-"));
const program = name => join(resolve(build), name);

function generate(path, options) {
  const file = openSync(path, "w");
  execFileSync(program("hpar-corpus"), ["generate", ...options], {stdio: ["ignore", file, "inherit"]});
  closeSync(file);
}

// The records of each file, as lists of fields.
function own(options, paths) {
  const bytes = execFileSync(program("hpar-records"), [...options, ...paths],
                             {maxBuffer: 1 << 30, stdio: ["ignore", "pipe", "inherit"]});
  // warcio replaces bytes of a head that are not valid UTF-8.
  const output = Buffer.from(bytes.toString("utf8"), "utf8").toString("latin1");
  const files = [[]];
  for (const line of output.split("\n").slice(0, -1)) {
    if (line === "end") files.push([]);
    else files.at(-1).push(line.split("\t"));
  }
  return files.slice(0, -1);
}

function hash(bytes) {
  let value = 0x811c9dc5;
  for (const byte of bytes) value = Math.imul(value ^ byte, 0x01000193) >>> 0;
  return value.toString(16).padStart(8, "0");
}

async function theirs(path) {
  const records = [];
  try {
    const parser = new WARCParser(createReadStream(path), {parseHttp: false});
    for await (const record of parser) {
      const block = await record.readFully(false);
      records.push(["fine", String(parser.offset), record.warcType ?? "", record.warcTargetURI ?? "",
                    String(block.length), hash(block)]);
    }
  } catch (error) {
    records.error = error;
  }
  return records;
}

const text = record => record.join(" ");
let compared = 0, differences = 0, after = 0, afterEqual = 0, stale = 0;
function same(a, b, where, before) {
  compared++;
  if (a && b && text(a) === text(b)) return;
  // After a record without line breaks at its end, warcio reports the offset of that record again.
  if (a && b && before && b[1] === before[1] && text([a[0], ...a.slice(2)]) === text([b[0], ...b.slice(2)])) {
    stale++;
    return;
  }
  if (differences++ < 10) console.log(`${where}: hpar ${a && text(a)}\n  warcio ${b && text(b)}`);
}

// Compares the records of each archive before its first damaged one.
async function compareFiles(paths, seed, options) {
  for (const [i, a] of own(options, paths).entries()) {
    const b = await theirs(paths[i]);
    const first = a.findIndex(record => record[0] !== "fine"), end = first < 0 ? Math.max(a.length, b.length) : first;
    for (let j = 0; j < end; j++) same(a[j], b[j], `seed ${seed + i}, record ${j}`, b[j - 1]);
    const known = new Set(b.map(text));
    for (const record of a.slice(end)) {
      if (record[0] !== "fine") continue;
      after++;
      afterEqual += known.has(text(record));
    }
    rmSync(paths[i]);
  }
}

// Compares archives of this many records until `most` records are compared. Half of them are compressed.
const BATCH = 100;
async function compareMany(records, most, options, damage) {
  let archives = 0;
  for (let seed = 1; compared < most && seed < most; seed += BATCH) {
    const paths = [];
    for (let i = seed; i < seed + BATCH; i++) {
      paths.push(join(work, String(i)));
      generate(paths.at(-1), ["--warc", String(records), "--small", "--seed", String(1000 + i), "--first", String(i % 7),
                              "--damage", damage(i), ...(i % 2 ? ["--gzip"] : [])]);
    }
    await compareFiles(paths, seed, options);
    archives += BATCH;
  }
  return archives;
}

let divided = 0;
try {
  const most = Number(wanted), full = process.env.HPAR_TEST_FULL;
  for (const format of full ? [] : ["plain", "gzip"]) {
    const path = join(work, "large");
    const options = ["--warc", String(Math.floor(most * 0.3)), "--small", "--seed", "11"];
    generate(path, format === "gzip" ? [...options, "--gzip"] : options);
    const [[a], b] = [own([], [path]), await theirs(path)];
    for (let i = 0; i < Math.max(a.length, b.length); i++) same(a[i], b[i], `${format}, record ${i}`, b[i - 1]);
    rmSync(path);
  }
  divided = await compareMany(4, full ? most : most * 0.64, ["--splits"], i => i % 4 < 2 ? "0" : "25");
  if (!full) await compareMany(50, most, [], () => "2");
} finally {
  rmSync(work, {recursive: true});
}
console.log(`${compared} records compared, ${differences} differences, ${stale} stale offsets of warcio, ` +
            `${divided} archives cut at every byte; ` +
            `after damage hpar reads ${after} records, of which warcio reads ${afterEqual} equally`);
process.exit(differences ? 1 : 0);
