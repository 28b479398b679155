#!/bin/sh
# Checks hpar crawl --python: the rows of a function, equal for one process, two, a resumed crawl and
# units by number. Errors, ends of the process, and records above the limits of time and memory go
# to the quarantine, and cost no other record.

hpar=$1
source=$(cd "$(dirname "$0")" && pwd)
corpus=$HPAR_BUILD_DIR/hpar-corpus
. "$source/support/tally.sh"
if ! python3 -c 'import resource' 2>/dev/null; then
  echo 'skipped: python3 not found'
  exit 77
fi
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2

check() { if eval "$2"; then fine; else wrong "$1 (status $status): $2"; fi; }
crawl() {
  "$hpar" crawl "$@" >out 2>err
  status=$?
}
equal() { check "$1" "test $status = 0 && cmp -s one/rows.jsonl $1/rows.jsonl && cmp -s one/summary.json $1/summary.json && cmp -s one/quarantine.jsonl $1/quarantine.jsonl"; }
# usage TEXT STATUS ARGUMENT...: checks a message of one line and the status.
usage() {
  text=$1 expected=$2
  shift 2
  crawl "$@"
  check "crawl $*" "test $status = $expected && test \$(wc -l <err) = 1 && grep -q \"$text\" err && test ! -e x"
}

mkdir data
for seed in 1 2 3; do
  "$corpus" generate --warc 100 --seed $seed --small --damage 5 >data/$seed.warc || exit 2
done
cat >count.py <<'END'
import hashlib
number = 0
def record(r):
    global number
    number += 1
    print("standard output is standard error")
    if r.offset % 7 == 0:
        raise ValueError("offset\t%d" % r.offset)
    yield {"url": r.url, "date": r.date, "type": r.type, "offset": r.offset, "bytes": len(r.body), "status": r.status,
           "sha": hashlib.sha256(r.body).hexdigest(), "encoding": r.encoding, "kind": r.http_headers.get("content-type")}
    if r.offset % 5 == 0:
        yield ["a second row", {"\u00e9": None}]
END
set -- data --profile none --python count.py
crawl "$@" --out one --threads 1
check "one process" 'test $status = 0 && test ! -s out && test -s one/rows.jsonl && grep -q "standard output is" err'
pages=$(sed -n 's/^"pages":\([0-9]*\),*/\1/p' one/summary.json)
check "a row for each page" 'test $pages -gt 50 && test $(($(grep -c "\"url\"" one/rows.jsonl) + $(grep -c "python: Traceback" one/quarantine.jsonl))) = $pages'
check "the traceback" 'grep -q "\"offset\":[0-9]*,.*count.py.*line 8, in record.*ValueError: offset" one/quarantine.jsonl'
crawl "$@" --out two --threads 2
equal two
rm "$(ls two/units/*.tsv | head -n 1)" "$(ls two/rows/*.jsonl | head -n 1)"
crawl "$@" --out two --resume
equal two
crawl "$@" --out plan --engine parallel
crawl run plan 1-99
crawl run plan 0
crawl reduce plan
equal plan
crawl data --python count.py --out counted --select p
check "with other counts" 'test $status = 0 && cmp -s one/rows.jsonl counted/rows.jsonl && grep -q "^\"elements\"" counted/summary.json'
crawl data --profile none --python count.py --rows-of records --out all
check "all records" 'test $status = 0 && test $(wc -l <all/rows.jsonl) -gt $(wc -l <one/rows.jsonl) && grep -q "\"type\": \"warcinfo\"\|\"type\": \"request\"" all/rows.jsonl'
if python3 -c 'import sqlite3' 2>/dev/null; then
  printf 'def record(r):\n    yield {"url": r.url, "n": 3}\n' >rows.py
  crawl data/1.warc --python rows.py --profile none --out table
  crawl export table --sqlite table.db
  check "SQLite" 'test $status = 0 && test "$(python3 -c "import sqlite3; print(sqlite3.connect(\"table.db\").execute(\"select count(*), min(n) from rows\").fetchone())")" = "($(wc -l <table/rows.jsonl), '"'3'"')"'
  printf 'def record(r):\n    yield {"n": 3, "u": {"a": [1]}}\n    yield {"n": None, "\\"": 0.5}\n    yield [1]\n    yield 2\n    yield {"N": "a\\ud800", "bytes": 1 << 70}\n' >mixed.py
  crawl data/1.warc --python mixed.py --profile none --sample 1/10 --out mixed
  crawl export mixed --sqlite mixed.db
  python3 -c "import sqlite3; [print(ascii(row)) for row in sqlite3.connect('mixed.db').execute('select * from rows limit 5')]" >got
  cat >expected <<'END'
('3', '{"a": [1]}', None, None, None, None)
(None, None, '0.5', None, None, None)
(None, None, None, '[1]', None, None)
(None, None, None, '2', None, None)
(None, None, None, None, 'a\ufffd', 1.1805916207174113e+21)
END
  check "rows with different keys in SQLite" 'test $status = 0 && cmp expected got'
fi

# The heads as --fields shows them, and what a function returns instead of yielding it.
{
  printf 'WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a/\303\251\r\nContent-Length: 72\r\n\r\n'
  printf 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-A: \303\251\r\n b:c\r\nX-B: \351\303\251\r\n\r\n<p>\r\n\r\n'
} >heads.warc
cat >heads.py <<'END'
def record(r):
    h = r.http_headers
    yield [r.url == "http://a/\xe9", h["x-a"] == "\xe9\r\n b:c", h["x-b"] == "\xe9\xc3\xa9", "b" in h]
END
crawl heads.warc --profile none --python heads.py --out heads
check "heads" 'test "$(cat heads/rows.jsonl)" = "[true, true, true, false]"'
for value in '{"url": r.url}' r.url; do
  printf 'def record(r):\n    return %s\n' "$value" >returns.py
  rm -rf returns
  crawl heads.warc --profile none --python returns.py --out returns
  check "a function that returns $value" 'test ! -s returns/rows.jsonl && grep -q "record() returns a .*: yield it" returns/quarantine.jsonl'
done

# What costs a record only.
cat >hostile.py <<'END'
import os, signal, sys
kept = []
def record(r):
    n = r.offset % 11
    if n == 1: os.kill(os.getpid(), signal.SIGSEGV)
    if n == 2: sys.exit(5)
    if n == 3: kept.append(bytearray(1 << 27))
    if n == 4: yield {1, 2}
    if n == 5: yield "x" * (70 << 20)
    if n == 6: yield {"x": float("nan")}
    if n == 7: yield [-float("inf")]
    yield n
END
crawl data/1.warc --profile none --python hostile.py --out hostile --limit memory=64M
reasons() { grep -c "\"reason\":\"python: $1" hostile/quarantine.jsonl; }
check "hostile functions" 'test $status = 0 && test $(reasons "ended by signal 11") -gt 0 && test $(reasons "ended with status 5") -gt 0 &&
  test $(reasons ".*MemoryError") -gt 0 && test $(reasons ".*TypeError") -gt 0 && test $(reasons ".*ValueError") -gt 1 &&
  test $(($(grep -c "python:" hostile/quarantine.jsonl) + $(wc -l <hostile/rows.jsonl))) = $(sed -n "s/^\"pages\":\([0-9]*\),*/\1/p" hostile/summary.json)'
first=$(sed -n '1s/.*"offset": \([0-9]*\).*/\1/p' one/rows.jsonl)
printf 'def record(r):\n    while r.offset == %d: pass\n    return [1]\n' "$first" >endless.py
crawl data --profile none --python endless.py --out endless --limit time=300ms
check "the limit of time" 'test $status = 0 && test $(grep -c "\"reason\":\"python: time\"" endless/quarantine.jsonl) -ge 1 && test $(($(grep -c "python:" endless/quarantine.jsonl) + $(wc -l <endless/rows.jsonl))) = $pages'

# Wrong usage.
echo 'def record(r) return' >wrong.py
usage "wrong.py: .*SyntaxError" 2 data --out x --python wrong.py
echo 'def other(r): pass' >other.py
usage "other.py: AttributeError.*record" 2 data --out x --python other.py
echo 'record = 5' >number.py
usage "number.py: TypeError: record is no function" 2 data --out x --python number.py
usage "none.py: cannot be read" 1 data --out x --python none.py
usage "excludes --fields" 2 data --out x --python count.py --fields url
echo '# another version' >>count.py
rm one/units/*
crawl run one 0
check "another file than that of the plan" 'test $status = 1 && grep -q "Python file is not that of the plan" err'

echo "$passed passed, $failed failed"
test $failed = 0
