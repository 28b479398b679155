#!/usr/bin/env python3
"""How often speculation is right: chunks without a wrong assumption, bytes parsed again, log entries.

    experiments/accuracy/run.py [--hpar HPAR] [--seed N] [--deleted PERCENT] [OPTION OF hpar compare...] FILE|FOLDER...

Each page in 16 chunks, in chunks of 32 KB and of 128 KB, all of them by a worker (inline); then the same pages with one
in a hundred of their end tags deleted at random. One line each; a tree that differs ends it with status 1."""

import argparse, json, pathlib, random, re, subprocess, sys, tempfile

END_TAG = re.compile(rb"</[A-Za-z][^>]*>")
KEYS = ["tokens", "bytes", "chunks", "chunks_right_start", "chunks_right", "chunks_clean", "log_entries", "bytes_reparsed"]


def damage(page, percent, seed):
    draw = random.Random(seed)
    return END_TAG.sub(lambda tag: b"" if draw.random() * 100 < percent else tag.group(), page)


def measure(hpar, options, files):
    command = [hpar, "compare", "--executor", "inline", "--repeat", "1", "--json", *options, *map(str, files)]
    out = subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout
    pages = json.loads(out)["pages"]
    sums, wrong = dict.fromkeys(KEYS, 0), {}
    for page in pages:
        stats = page["modes"]["parallel"]["stats"]
        for key in KEYS:
            sums[key] += stats[key]
        for kind, count in stats["wrong_assumptions_by_kind"].items():
            wrong[kind] = wrong.get(kind, 0) + count
    return pages, sums, {kind: count for kind, count in wrong.items() if count}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hpar", default="build/release/hpar")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--deleted", type=float, default=1)
    arguments, rest = parser.parse_known_args()
    named = [item for item in rest if pathlib.Path(item).exists()]
    options = [item for item in rest if item not in named]
    files = []
    for path in map(pathlib.Path, named):
        files += sorted(path.glob("*.htm*")) if path.is_dir() else [path]
    if not files:
        parser.error("name a page or a folder")
    code = 0
    with tempfile.TemporaryDirectory() as folder:
        damaged = []
        for number, file in enumerate(files):
            copy = pathlib.Path(folder) / f"{number}-{file.name}"
            copy.write_bytes(damage(file.read_bytes(), arguments.deleted, arguments.seed * 1000003 + number))
            damaged.append(copy)
        print("pages      chunks          equal    number  right start    right    clean  again    log  wrong")
        for name, pages in (("whole", files), (f"-{arguments.deleted:g}% ends", damaged)):
            for how in (["--chunks", "16"], ["--chunk-size", "32768"], ["--chunk-size", "131072"]):
                measured, sums, wrong = measure(arguments.hpar, how + options, pages)
                equal = sum(page["equal"] for page in measured)
                code |= equal != len(pages)
                part = lambda key, of: 100 * sums[key] / max(sums[of], 1)
                print(f"{name:10} {' '.join(how)[2:]:17} {equal}/{len(pages)} {sums['chunks']:7}"
                      f" {part('chunks_right_start', 'chunks'):11.2f}% {part('chunks_right', 'chunks'):7.2f}%"
                      f" {part('chunks_clean', 'chunks'):7.2f}% {part('bytes_reparsed', 'bytes'):5.2f}%"
                      f" {part('log_entries', 'tokens'):5.2f}%  {wrong}", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
