#!/bin/sh
# Checks the program hpar from the user's side: usage, missing files, output that fails, valid JSON,
# and broken input. The program is the first argument, or $HPAR.

hpar=${1:-$HPAR}
if [ -z "$hpar" ]; then
  echo "usage: $0 HPAR" >&2
  exit 2
fi
case $hpar in /*) ;; *) hpar=$PWD/$hpar ;; esac
. "$(dirname "$0")/support/tally.sh"
work=$(mktemp -d) || exit 2
trap 'chmod -R u+rwx "$work"; rm -rf "$work"' EXIT
cd "$work" || exit 2

# run STATUS ARGUMENT...: standard output goes to out, standard error to err; input comes from in.
: >in
run() {
  want=$1
  shift
  "$hpar" "$@" <in >out 2>err
  got=$?
  if [ $got -eq "$want" ]; then fine; else wrong "hpar $*: status $got, expected $want"; fi
  last="hpar $*"
}
out_is() { if [ "$(cat out; echo .)" = "$(printf "$1"; echo .)" ]; then fine; else wrong "$last: other output"; fi; }
out_has() { if grep -q -e "$1" out; then fine; else wrong "$last: output lacks $1"; fi; }
err_has() { if grep -q -e "$1" err; then fine; else wrong "$last: standard error lacks $1"; fi; }
err_empty() { if [ -s err ]; then wrong "$last: words on standard error"; else fine; fi; }
out_empty() { if [ -s out ]; then wrong "$last: words on standard output"; else fine; fi; }
if command -v python3 >/dev/null; then
  # json EXPRESSION: checks that out is JSON, and that the expression is true for it as `o`.
  json() {
    if python3 -c 'import json, sys; o = json.load(open("out")); assert eval(sys.argv[1]), o' "$1" 2>why; then
      fine
    else
      wrong "$last: not so: $1"
      tail -n 1 why
    fi
  }
else
  echo "skipped: JSON is not checked, python3 not found"
  json() { :; }
fi

parallel=no
"$hpar" parse --predictor help >names 2>/dev/null && parallel=yes

# Usage.
run 0 --version
out_has '^hpar [0-9]*\.[0-9]*\.[0-9]*$'
out_has '^build: \(no profile\|records a profile\|optimised by a profile\)$'
for command in "" parse compare tokens; do
  run 0 $command --help
  out_has '^usage: hpar'
  err_empty
done
run 2
err_has usage
run 2 frobnicate
err_has "no command 'frobnicate'"
printf '<p>x' >page.html
for wrong_use in parse "parse --nope page.html" "parse -x page.html" "parse page.html page.html" "parse page.html --mode" \
  "parse --mode fast page.html" "parse --format xml page.html" "parse --threads -1 page.html" \
  "parse --threads 1x page.html" "parse --threads 257 page.html" "parse --chunk-size= page.html" "parse --chunks x page.html" \
  "parse --cuts 2,1 page.html" "parse --cuts 1,,2 page.html" "parse --cuts 1,2, page.html" \
  "parse --cuts 5000 page.html" "parse --mode sequential --cuts 1 page.html" "parse --errors=yes page.html" \
  "parse --stats=xml page.html" "parse --fragment= page.html" "parse --scripting maybe page.html" \
  "parse --predictor crystal page.html" "parse --strategy crystal page.html" "parse --merge bush page.html" \
  "parse --pool puddle page.html" "parse --mode-predictor crystal page.html" "parse --cut crystal page.html" "parse --bind tight page.html" "parse --allocator mine page.html" \
  "parse --many --errors page.html" "parse --many --cuts 1 page.html" "parse --many --mode pipelined page.html" "parse --many" \
  compare "compare --repeat 0 page.html" "compare --json=1 page.html" \
  tokens "tokens --state nowhere page.html" "tokens page.html page.html"; do
  run 2 $wrong_use
  err_has '^hpar: '
  out_empty
done
run 2 parse --many --mode parallel page.html
err_has '^hpar: --many excludes --mode parallel .*: it parses the FILEs side by side'
run 0 parse --many --mode sequential --format none page.html
run 2 parse --encoding bogus page.html
err_has 'no label'
run 0 parse --encoding UTF-8 page.html
run 0 parse --encoding=utf8 page.html
cp page.html ./-dash.html
run 0 parse -- -dash.html
run 0 parse ./-dash.html

# parse.
tree='| <html>\n|   <head>\n|   <body>\n|     <p>\n|       "x"\n'
run 0 parse page.html
out_is "$tree"
err_empty
run 0 parse --mode sequential --format=tree page.html
out_is "$tree"
cp page.html in
run 0 parse -
out_is "$tree"
: >in
run 0 parse --format html page.html
out_is '<html><head></head><body><p>x</p></body></html>'
run 0 parse --format none page.html
out_empty

# Many documents, and the affinity of threads.
printf '<p>y' >other.html
run 0 parse --many page.html other.html
out_is "==> page.html <==\n$tree\n==> other.html <==\n$(printf "$tree" | sed 's/"x"/"y"/')\n"
run 1 parse --many page.html missing.html other.html
err_has 'missing.html: cannot be read'
out_has '"y"'
run 1 parse --many --max-nodes 2 page.html other.html
err_has 'page.html: .*; the tree ends there'
err_has 'other.html: .*; the tree ends there'
mkdir several
for i in 1 2 3 4 5 6 7; do printf '<p>%s' $i >several/$i.html; done
run 0 parse --many --format html several
if [ "$(tr -dc 1-7 <out)" = 11223344556677 ]; then fine; else wrong "$last: another order"; fi
run 0 parse --many --format none several
out_empty
run 0 parse --many --format none --stats several page.html
out_has '^documents  *8$'
run 0 parse --many --format none --stats=json --threads 2 several page.html
json 'o["documents"] == 8 and o["failed"] == 0 and o["bytes"] == 32 and sum(o["documents_per_worker"]) == 8 and o["bind"] == "none"'
if [ $parallel = yes ]; then
  run 0 parse --mode parallel --threads 2 --bind cores --format none --stats=json page.html
  json 'o["bind"] in ("cores", "processors") and len(o["processor_per_worker"]) == o["threads"] and o["allocator"] == "libc"'
  run 0 parse --mode parallel --threads 2 --bind cores --stats page.html
  out_is "$tree"
  err_has '^bind  *[cp][a-z]*: [0-9]*'
  run 0 compare --many --repeat 2 page.html other.html
  out_has 'copies side by side'
  run 0 compare --many --json --threads 3 --repeat 2 page.html
  json 'o["pages"][0]["modes"]["side-by-side"]["copies"] == 3 and o["pages"][0]["modes"]["side-by-side"]["stats"]["documents"] == 3 and o["summary"]["side_by_side"] > 0'
else
  run 2 parse --bind cores page.html
  err_has 'no parallel parser'
fi
"$hpar" parse --allocator jemalloc page.html >out 2>err
case $? in
0) out_is "$tree" ;;
2) err_has 'no jemalloc; install it' ;;
*) wrong "hpar parse --allocator jemalloc: status" ;;
esac

# Limits: a tree, the limit that was reached, and status 1.
printf '<div><p>a<p>b<div><i c=1 d=2>e' >limited.html
for limit in 'max-depth 3|open elements' 'max-nodes 5|nodes' 'max-memory 300|memory' 'max-attributes 1|attributes' 'max-input 6|input'; do
  run 1 parse --${limit%%|*} limited.html
  err_has "limited.html: the limit of ${limit#*|}.* was reached; the tree ends there"
done
out_is '| <html>\n|   <head>\n|   <body>\n|     <div>\n|       "<"\n'
awk 'BEGIN { for (i = 0; i < 200000; i++) print "<p>paragraph " i }' >slow.html
run 1 parse --max-time 1 --mode sequential --format none slow.html
err_has 'slow.html: the limit of time was reached; the tree ends there'
run 1 parse --many --max-depth 3 --format none --stats page.html limited.html
err_has 'limited.html: the limit of open elements'
out_has '^documents  *2$'
out_has '^  failed  *1$'
run 0 parse --max-depth 4 --max-nodes 6 --max-attributes 2 --max-time 1000000 --max-input 4 page.html
out_is "$tree"
# The preset, and one of its limits changed.
awk 'BEGIN { for (i = 0; i < 600; i++) printf "<div>" }' >deep.html
run 1 parse --limits untrusted --format none deep.html
err_has 'deep.html: the limit of open elements was reached; the tree ends there'
run 0 parse --limits untrusted --max-depth 700 --format none deep.html
run 0 parse --limits untrusted --limits none --format none deep.html
run 0 parse --limits untrusted page.html
out_is "$tree"
run 2 parse --limits trusted page.html
err_has "^hpar: --limits: 'trusted' is"
for option in max-depth max-nodes max-memory max-attributes max-time max-input; do
  run 2 parse --$option x page.html
  err_has "^hpar: --$option: 'x' is not a whole number"
done
run 2 parse --max-time 99999999999999999 page.html

printf '<td>a<td>b' >cells.html
run 0 parse --fragment tr cells.html
out_is '| <td>\n|   "a"\n| <td>\n|   "b"\n'
printf '<a/><p>' >foreign.html
run 0 parse --fragment 'svg path' foreign.html
out_has '^| <svg a>$'
printf '<noscript><p>a&amp;</noscript>' >noscript.html
run 0 parse --scripting on --fragment div noscript.html
out_is '| <noscript>\n|   "<p>a&amp;"\n'
run 0 parse --scripting on --fragment div --format html noscript.html
out_is '<noscript><p>a&amp;</noscript>'
run 0 parse --scripting off --fragment div noscript.html
out_is '| <noscript>\n|   <p>\n|     "a&"\n'

run 0 parse --stats page.html
out_is "$tree"
err_has '^tokens  *2$'
run 0 parse --stats --format none page.html
out_has '^tokens  *2$'
err_empty
keys='set("bytes tokens nodes mode threads strategy predictor mode_predictor cut merge merge_levels chunks chunks_right_start chunks_clean log_entries log_entries_by_kind wrong_assumptions_by_kind bytes_reparsed ns".split()) <= set(o)'
run 0 parse --stats=json --format none page.html
json "$keys"
json 'set("cut parse_per_worker merge patch total".split()) <= set(o["ns"]) and o["ns"]["patch"] == 0'
json 'o["bytes"] == 4 and o["tokens"] == 2 and len(o["ns"]["parse_per_worker"]) == o["threads"]'
run 0 parse --stats=json page.html
out_is "$tree"
mv err out
json "$keys"
: >err

if [ $parallel = yes ]; then
  # The kinds of failed assumptions; levels of a tree of merges; the pipeline.
  awk 'BEGIN { printf "<table>"; for (i = 0; i < 3000; i++) printf "x<tr>y<td>z<p></td>" }' >wrong.html
  run 0 parse --mode parallel --executor inline --chunk-size 3000 --predictor data --format none --stats wrong.html
  out_has '^wrong assumptions'
  out_has '^  mode  *[1-9]'
  out_has '^  splice  *[1-9]'
  run 0 parse --mode parallel --threads 2 --chunk-size 3000 --merge tree --format none --stats wrong.html
  out_has '^  level [0-9]* .* merges, [0-9]* entries answered$'
  run 0 parse --mode parallel --executor inline --chunk-size 3000 --strategy hpar2013 --format none --stats wrong.html
  out_has '^  foster  *[1-9]'
  printf '<!DOCTYPE html><title>a<b></title><svg><![CDATA[x]]></svg><br/><style>y</style>' >hazards.html
  run 0 parse --mode pipelined --pipeline-predictor optimistic --buffer-tokens 8 --batch 2 --format none --stats hazards.html
  out_has '^pipeline predictor  *optimistic$'
  out_has '^buffer, tokens  *8$'
  out_has '^batch  *2$'
  out_has '^  title  *1, 1 of them not foreseen$'
  run 0 parse --mode pipelined --pool sleep --format none --stats=json hazards.html
  json 'o["mode"] == "pipelined" and o["pipeline"]["hazards_by_kind"]["title"] == 1 and o["pipeline"]["rollbacks_by_kind"]["title"] == 0'
  run 0 parse --pipeline-stages --mode parallel --threads 4 --chunk-size 3000 --format none --stats=json wrong.html
  json 'o["mode"] == "parallel" and o["pipeline"]["predictor"] == "feedback"'
  awk 'BEGIN { for (i = 0; i < 200; i++) printf "<svg><desc><math><mi>"; printf "<title>a<b></title></mi><title>c<d></title>" }' >deep.html
  run 0 compare --mode pipelined --repeat 1 deep.html
  out_has '1 of 1 equal'
  run 0 compare --strategy enumerate --chunks 3 --repeat 1 deep.html
  out_has '^start hypotheses of a chunk: 14.0 at the cut; '
  out_has '^one is left in 0 of 2 chunks; the others are in raw text ([0-9]*), '
  run 0 compare --json --strategy enumerate --chunks 3 --repeat 1 deep.html
  json 'o["pages"][0]["convergence"]["chunks"] == 2 and o["summary"]["convergence"]["live_after"]["1"] == 28'
  run 0 compare --json --chunks 3 --repeat 1 deep.html
  json '"convergence" not in o["pages"][0] and "convergence" not in o["summary"]'
  run 2 parse --buffer-tokens 65537 page.html
  for option in "--chunk-size 64" "--chunks 4" "--strategy temppa" "--predictor data" "--mode-predictor body" "--cut even" "--merge tree"; do
    run 2 compare --mode pipelined $option --repeat 1 page.html
    err_has "${option%% *} has no meaning with --mode pipelined, which has no chunks"
    run 2 parse --mode indexed $option page.html
  done
  run 2 parse --mode pipelined --cuts 2 page.html
  err_has 'no meaning with --mode pipelined'
  for names in strategy predictor mode-predictor cut pipeline-predictor; do
    run 0 parse --$names help
    out_has '^  [a-z0-9-]*  '
    run 2 parse --$names nonsense page.html
    err_has "^hpar: --$names: 'nonsense' is not one of these:"
  done
  cp page.html in
  run 2 parse --cuts 2,900 -
  err_has '900 lies past the end of standard input'
  run 0 parse --cuts 2 -
  out_is "$tree"
  : >in
fi

printf 'a\n<p a=1 a=2>\n<!--' >errors.html
run 0 parse --errors --format none errors.html
err_has '^errors.html:2:[0-9]*: duplicate-attribute$'
err_has '^errors.html:3:5: eof-in-comment$'
# Tags that are ignored have an error for their solidus, too. Void and foreign elements have none.
printf '<!DOCTYPE html>\n<html/>\n<col/>\n<p/>\n<br/><image/><svg/><svg><g/>\n<p/>' >solidus.html
run 0 parse --errors --format none solidus.html
for line in 2 3 4 6; do err_has "^solidus.html:$line:1: non-void-html-element-start-tag-with-trailing-solidus$"; done
if [ "$(grep -c trailing-solidus err)" = 4 ]; then fine; else wrong "$last: other errors for a solidus"; fi

# tokens.
printf '<!DOCTYPE html><A HREF="x\t\042">t\302\251\000</a><br/><?pi data><!-- c -->' >tokens.html
run 0 tokens tokens.html
json 'o["tokens"][0] == ["DOCTYPE", "html", None, None, True]'
json 'o["tokens"][1][:2] == ["StartTag", "a"] and o["tokens"][1][2]["href"] == "x\t"'
json '["StartTag", "br", {}, True] in o["tokens"] and ["Comment", " c "] in o["tokens"]'
json '["ProcessingInstruction", "pi", "data"] in o["tokens"] and ["EndTag", "a"] in o["tokens"]'
json 'any(t[0] == "Character" and t[1].startswith("t\u00a9\0") for t in o["tokens"])'
json 'all(set(e) == {"code", "line", "col"} and e["line"] == 1 for e in o["errors"]) and o["errors"]'
printf '<b></title>&lt;</x>' >rcdata.html
run 0 tokens --state 'RCDATA state' --last-start-tag title rcdata.html
json 'o["tokens"] == [["Character", "<b>"], ["EndTag", "title"], ["Character", "<"], ["EndTag", "x"]]'
run 0 tokens --state plaintext rcdata.html
json 'o["tokens"] == [["Character", "<b></title>&lt;</x>"]]'
printf '\360\220\200\200&#0;\n\360\220\200\200\360\220\200\200\r\n\302\251\360\220\200\200<!--' >wide.html
run 0 tokens wide.html
json '[(e["code"], e["line"], e["col"]) for e in o["errors"]] == [("null-character-reference", 1, 7), ("eof-in-comment", 3, 8)]'
run 0 parse --errors --fragment div --format none wide.html
err_has '^wide.html:3:7: eof-in-comment$'
run 0 tokens in
json 'o == {"tokens": [], "errors": []}'

# compare.
mkdir -p folder/below folder/empty.html
for name in folder/b.html folder/below/a.HTM folder/c.txt; do cp page.html $name; done
run 0 compare --repeat 2 folder page.html
out_has '3 of 3 equal'
if grep -q c.txt out; then wrong "$last: takes c.txt"; else fine; fi
run 1 compare --repeat 2 page.html missing.html cells.html
out_has '2 of 2 equal'
err_has '^hpar: missing.html: '
mkdir hollow
run 1 compare hollow
err_has 'hollow: no .html'
run 0 compare --json --repeat=2 folder page.html
json 'set(o) >= {"machine", "version", "pages"} and len(o["pages"]) == 3 and isinstance(o["machine"], dict)'
json '[p["file"] for p in o["pages"]] == ["folder/b.html", "folder/below/a.HTM", "page.html"]'
json 'all(p["equal"] is True and p["bytes"] == 4 for p in o["pages"])'
json 'all({"ns_min", "ns_median", "speedup_min", "speedup_median", "stats"} <= set(m) for p in o["pages"] for m in p["modes"].values())'
json 'all(m["ns_runs"] == sorted(m["ns_runs"]) and m["ns_runs"][0] == m["ns_min"] for p in o["pages"] for m in p["modes"].values())'
json 'all(m["ns_min"] <= m["ns_median"] and m["stats"]["bytes"] == 4 for p in o["pages"] for m in p["modes"].values())'
json 'o["pages"][0]["modes"]["sequential"]["speedup_min"] == 1'
printf '<p>\226' >latin.html
run 0 parse --errors --encoding windows-1252 --format none latin.html
run 0 tokens --encoding windows-1252 latin.html
json 'o["tokens"][1] == ["Character", "\u2013"]'
run 2 tokens --encoding none latin.html
run 2 tokens --nope
run 2 tokens --last-start-tag
for data in '%%PDF-1.4' '\211PNG\r\n\032\n' '{"json": 1}' '\037\213\010'; do
  printf "$data" >else.html
  run 0 parse --format none else.html
done
err_has 'else.html looks like .* rather than HTML'
run 0 compare --repeat 1 else.html ./folder/../folder/../folder/../folder/../folder/../folder/below/a.HTM
out_has '\.\.\..*folder/below/a.HTM '
: >no-folder
run 1 compare --repeat 1 no-folder/x page.html
mkdir closed && cp page.html closed && chmod 0 closed
[ -r closed ] || run 1 compare --repeat 1 closed
[ -r closed ] || err_has 'closed: .*denied'
if [ $parallel = yes ]; then
  run 0 compare --json --repeat 1 --mode pipelined --buffer-tokens 16 --batch 4 --pool sleep --allocator libc page.html
  json 'o["options"]["buffer_tokens"] == 16 and o["options"]["batch"] == 4 and o["options"]["pool"] == "sleep"'
  json 'o["pages"][0]["modes"]["pipelined"]["stats"]["mode"] == "pipelined" and o["summary"]["equal"] == 1'
  run 0 compare --json --repeat 1 --pool spin --merge tree --executor inline --bind cores page.html
  json '[o["options"][key] for key in ("pool", "merge", "executor", "bind")] == ["spin", "tree", "inline", "cores"]'
  run 2 compare --mode sequential page.html
  run 2 compare --many=1 page.html
  run 1 compare --many --json --repeat 1 page.html missing.html
  json 'o["summary"]["not_parsed"] == 1 and o["summary"]["pages"] == 1'
fi

printf '<!DOCTYPE html PUBLIC "a\rb\r\nc" "d\000e">' >doctype.html
run 0 tokens doctype.html
json 'o["tokens"][0] == ["DOCTYPE", "html", "a\nb\nc", "d\ufffde", True]'
printf '<\000!\000-\000-\000x\000\r\000' >cr.html
run 0 parse --errors --encoding utf-16le --format none cr.html
err_has '^cr.html:2:1: eof-in-comment$'
printf '\000<\000!\000-\000-\000x\000\r\000\n' >cr.html
run 0 parse --errors --encoding utf-16be --format none cr.html
err_has '^cr.html:2:1: eof-in-comment$'
if [ $parallel = yes ]; then
  cp page.html in
  run 0 parse --mode parallel --threads 2 --bind cores --format none --stats=json -
  json 'o["bind"] in ("cores", "processors", "refused") and o["bytes"] == 4'
  : >in
fi

# Each possible set of kernels makes the same tree. If a set is not available, hpar uses the best
# one.
for simd in plain sse2 avx2 neon none; do
  HPAR_SIMD=$simd "$hpar" parse tokens.html >out 2>err
  "$hpar" parse tokens.html >expected 2>err
  if cmp -s out expected; then fine; else wrong "HPAR_SIMD=$simd: another tree"; fi
done

name=$(printf 'odd \042name\377.html')
if cp page.html "$name" 2>/dev/null; then
  run 0 compare --json --repeat 1 "$name"
  json 'o["pages"][0]["file"] == "odd \"name\ufffd.html"'
fi

if [ $parallel = yes ]; then
  run 0 compare --threads 3 --chunk-size 10 --scripting on --repeat 2 folder tokens.html errors.html
  out_has '4 of 4 equal'
  run 0 compare --json --repeat 1 page.html
  json 'o["pages"][0]["modes"]["parallel"]["stats"]["mode"] == "parallel"'
  run 0 compare --json --repeat 1 --threads 1 --chunks 3 --strategy hpar2013 cells.html
  json 'o["options"]["chunks"] == 3 and o["pages"][0]["modes"]["parallel"]["stats"]["chunks"] in (1, 2)'
  run 0 parse --mode parallel --threads 2 page.html
  out_is "$tree"
  run 0 parse --cuts 2 --stats=json --format none cells.html
  json 'o["mode"] == "parallel"'
  while read -r name rest; do
    run 0 parse --mode parallel --predictor "$name" page.html
    out_is "$tree"
  done <names
else
  run 2 parse --mode parallel page.html
  err_has 'no parallel parser'
fi

# project.
run 0 project --help
out_has '^usage: hpar project'
run 2 project
run 2 project --cores 1,,2 page.html
run 2 project --cores 0 page.html
if [ $parallel = yes ]; then
  run 0 project --repeat 2 --cores 1,2,64 --bandwidth 1 --wake 0 page.html
  out_has 'measured'
  out_has '^    64 .* memory'
  run 0 project --json --repeat 1 --cores 1,3 page.html
  out_has '"ns_projected":[1-9]'
  run 1 project missing
  awk 'BEGIN { for (i = 0; i < 20000; i++) print "<div><p>paragraph " i "</div>" }' >wide.html
  run 0 project --repeat 1 --cores 1,2,3,7,64 wide.html page.html
  out_has '^geometric means over 2 pages'
  out_has '^     7  *[1-9]'
  run 0 project --json --repeat 1 --cores 2,8 --wake 5000000 --bandwidth 1 wide.html
  json 'o["wake_ns"] == 5000000 and [c["bound"] for c in o["pages"][0]["cores"]] == ["memory"] * 2'
  json 'o["pages"][0]["cores"][0]["ns_measured"] > 0 and o["summary"][1]["pages"] == 1'
  run 0 project --json --repeat 1 --cores 4 --wake 1000000000 wide.html
  for wrong_use in '--cores 257' '--cores 1,x' '--cores 1;2' '--repeat 0' '--wake x' '--bandwidth 0' '--nope'; do
    run 2 project $wrong_use page.html
  done
fi

# A file that is larger than any input: hpar refuses it, or reads it up to --max-input.
if truncate -s 5G huge 2>/dev/null; then
  printf '<p>x' | dd of=huge conv=notrunc 2>/dev/null
  run 1 parse huge
  err_has '^hpar: huge: is too large: at most 4294967280 bytes'
  run 1 parse --max-input 4294967280 huge
  err_has '^hpar: huge: is too large: at most 4294967280 bytes'
  out_empty
  # Address space for the first bytes only, except under sanitizers.
  space=3000000
  (ulimit -v $space && exec "$hpar" --version) >/dev/null 2>&1 || space=unlimited
  (ulimit -v $space && exec "$hpar" parse --max-input 4 --format html huge) >out 2>err
  got=$?
  last='hpar parse --max-input 4 huge'
  if [ $got -eq 1 ]; then fine; else wrong "$last: status $got"; fi
  out_is '<html><head></head><body><p>x</p></body></html>'
  err_has '^hpar: huge: the limit of input was reached; the tree ends there'
  run 1 parse --many --max-input 4 --format html huge page.html
  out_is '==> huge <==\n<html><head></head><body><p>x</p></body></html>\n==> page.html <==\n<html><head></head><body><p>x</p></body></html>'
  rm huge
fi

# Unusual input.
: >empty
run 0 parse empty
out_is '| <html>\n|   <head>\n|   <body>\n'
mkdir directory
for command in parse tokens; do
  run 1 $command directory
  err_has '^hpar: directory: '
  run 1 $command missing
  err_has '^hpar: missing: .*No such file'
  out_empty
done
cp page.html locked
chmod 0 locked
if [ -r locked ]; then
  if command -v setpriv >/dev/null && chmod 755 . && setpriv --reuid 65534 --regid 65534 --clear-groups test -x "$hpar"; then
    setpriv --reuid 65534 --regid 65534 --clear-groups "$hpar" parse locked >out 2>err
    if [ $? -eq 1 ]; then fine; else wrong "locked file: status"; fi
    last="hpar parse locked"
    err_has '^hpar: locked: .*denied'
  else
    echo "skipped: root reads a file without read permission"
  fi
else
  run 1 parse locked
  err_has '^hpar: locked: .*denied'
fi
printf '\000<p>\000a\000</p>' >nul
run 0 parse nul
out_has '^|     <p>$'
printf '<' >less
run 0 parse less
out_has '^|     "<"$'
run 0 parse --fragment div less
out_is '| "<"\n'
printf '\357\273\277<p>\377\302x' >bytes
run 0 parse --fragment div bytes
out_is '| <p>\n|   "\357\277\275\357\277\275x"\n'

# Output that hpar cannot write.
if [ -c /dev/full ]; then
  for command in "parse page.html" "parse --format html page.html" "parse --format none --stats page.html" \
    "tokens page.html" "compare --repeat 1 page.html" "compare --repeat 1 --json page.html" "--help" "parse --help"; do
    "$hpar" $command >/dev/full 2>err
    got=$?
    : >out
    if [ $got -eq 1 ]; then fine; else wrong "hpar $command >/dev/full: status $got"; fi
    last="hpar $command >/dev/full"
    err_has 'standard output cannot be written'
  done
fi
if [ -c /dev/full ]; then
  for command in "explain page.html" "trace page.html" "profile page.html"; do
    test $parallel = yes || [ "$command" = "explain page.html" ] || continue
    run 1 $command -o /dev/full
    err_has '^hpar: /dev/full: cannot be written: No space left on device$'
  done
fi
run 1 explain page.html -o missing/page.html
err_has '^hpar: missing/page.html: cannot be written: No such file or directory$'
awk 'BEGIN { for (i = 0; i < 50000; i++) print "<p>paragraph " i }' >long.html
# closed COMMAND: the reader of the output ends after its first line. The command ends too, and says
# nothing. Commands that print their output at the end succeed if the pipe takes all of it.
closed() {
  {
    timeout 60 "$hpar" $1 2>err
    echo $? >status
  } | head -n 1 >/dev/null
  last="hpar $1 | head"
  if [ "$(cat status)" -le 1 ] && [ ! -s err ]; then fine; else wrong "$last: status $(cat status): $(head -n 1 err)"; fi
}
awk 'BEGIN { for (i = 0; i < 30000; i++) print "<p><a href=http://a.test/" i ">link</a><img src=" i ">" }' >links.html
closed "parse long.html"
if [ "$(cat status)" = 1 ]; then fine; else wrong "$last: status $(cat status)"; fi
for command in "parse --many" "parse --many --format html" text "text --json" links "links --json" resources "resources --json" \
  "select p" "select --stream p" "select --count p" "compare --repeat 1" "compare --repeat 1 --json"; do
  closed "$command links.html long.html links.html long.html"
done
for command in tokens "rewrite -s p --unwrap" "rewrite -s p --unwrap --explain" "rewrite -s p --unwrap --check"; do
  closed "$command links.html"
done
# A command does not go on with the next file, which is missing, and keeps the reason of the first failure.
for command in text "links --json" resources "resources --early"; do closed "$command links.html long.html missing.html"; done
if [ $parallel = yes ]; then
  for command in explain "explain --json" trace profile "profile --json" "project --repeat 1"; do closed "$command long.html"; done
fi
# Input without an end.
for command in "rewrite -s p --unwrap -" "rewrite -s p --unwrap --explain -" "select --stream p -"; do
  yes '<p>text</p>' 2>/dev/null | closed "$command"
done

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
