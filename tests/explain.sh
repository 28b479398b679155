#!/bin/sh
# explain.sh HPAR: checks the output of `hpar explain`, `hpar trace` and `hpar profile`.
# inspect_test checks that hpar names each kind of failure.
set -u

hpar=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
passed=0 failed=0

check() {
  if eval "$2"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "failed: $1"
    head -n 12 out err
  fi
}

# run STATUS ARGUMENT...: standard output goes to out, standard error to err.
run() {
  wanted=$1
  shift
  "$hpar" "$@" >out 2>err </dev/null
  got=$?
  check "hpar $*: status $got, not $wanted" "[ $got -eq $wanted ]"
}

# json FILE EXPRESSION: checks that the file is JSON, and that the expression is true for it as `o`.
json() {
  command -v python3 >/dev/null || return 0
  check "$1: not so: $2" "python3 -c 'import json, sys; o = json.load(open(sys.argv[1])); assert eval(sys.argv[2])' \"$1\" \"$2\" 2>/dev/null"
}
command -v python3 >/dev/null || echo 'skipped: JSON is not checked, python3 not found'

"$hpar" parse --predictor help >/dev/null 2>&1 || {
  # Without the parallel parser a page is one chunk.
  printf '<p>a' >page.html
  run 0 explain page.html
  check 'one exact chunk' 'grep -q "^chunk 0: exact, 0 to 4" out'
  run 0 trace page.html -o trace.json
  json trace.json "{'decode', 'exact'} <= {e['name'] for e in o['traceEvents']}"
  run 2 explain --cuts 1 page.html
  run 2 profile page.html
  echo "$passed passed, $failed failed"
  [ $failed -eq 0 ]
  exit
}

mkdir pages
{
  printf '<!DOCTYPE html><title>t</title><style>b{}</style><body>\n'
  i=0
  while [ $i -lt 60 ]; do
    printf '<div class="a%d"><p>text <b>bold</b> &amp; <br/>more<table><tr><td>cell</table><script>var a = "<p>";</script></div>\n' $i
    i=$((i + 1))
  done
  printf '<svg><path d="x"/></svg><textarea>x</textarea>'
} >pages/page.html
printf '<form><p>\342\202\254"\\& |</p>\000\r\n<form><p>x' >'odd "<&>".html'

# explain.
run 0 explain --chunks 5 pages/page.html
check 'a chunk and its cut' 'grep -q "^chunk 1: clean, " out && grep -q "^    cut: .* ¦ <" out'
check 'start states' 'grep -q "^    predicted: " out && grep -q "^    true: " out'
check 'no words on standard error' '[ ! -s err ]'
cp out once
run 0 explain --chunks 5 --threads 3 pages/page.html
check 'the same whatever the threads' 'cmp -s out once'
run 0 explain --json --chunks 5 pages/page.html
cp out explain.json
json explain.json "o['chunks'][0]['begin'] == 0 and o['chunks'][-1]['end'] == o['bytes']"
json explain.json "all(a['end'] == b['begin'] for a, b in zip(o['chunks'], o['chunks'][1:]))"
json explain.json "sum(o['outcomes'].values()) == len(o['chunks']) - 1"
json explain.json "all(c['true']['state'] and c['predicted']['mode'] for c in o['chunks'][1:])"
json explain.json "all(e['begin_ns'] <= e['end_ns'] for e in o['timeline']['events'])"
run 0 explain --json --cuts 6 'odd "<&>".html'
cp out odd.json
json odd.json "o['chunks'][1]['before'].endswith('<form>') and '\\u20ac' in o['chunks'][1]['after']"
run 0 explain --json --cuts 12 --strategy temppa --predictor data pages/page.html
cp out wrong.json
json wrong.json "o['strategy'] == 'temppa' and o['predictor'] == 'data' and not o['chunks'][1]['right_start']"
json wrong.json "o['chunks'][1]['true']['state'] == 'DOCTYPE'"

# The HTML page of explain: well formed, the same tree in parallel, no external resources.
for page in pages/page.html 'odd "<&>".html'; do
  run 0 explain --cuts 7 --html page-explained.html "$page"
  check 'nothing on standard output' '[ ! -s out ]'
  run 0 parse --errors --format none page-explained.html
  check 'no parse errors' '[ ! -s err ]'
  run 0 compare --threads 2 --chunk-size 2000 page-explained.html
  check 'no script and no address' '! grep -q "<script\|https\?:\|src=" page-explained.html'
done
run 0 explain pages/page.html --chunks 4 -o -
check 'bars, a timeline and a table' \
  '[ $(grep -c "<div class=\"bar " out) -eq 4 ] && grep -q "<svg " out && grep -q "<td class=n>" out'
run 2 explain
run 2 explain a b
run 1 explain none.html
run 2 explain --cuts 3,2 pages/page.html
run 2 explain --cuts 99999999 pages/page.html
run 2 explain --json --html - pages/page.html
run 1 explain pages/page.html -o /none/page.html

# The true state at each kind of position.
printf "<p a='b' c=\"d\">e < f<svg>g < h<![CDATA[i]]>j</svg>&amp;<!-- k --><?l m>" >states.html
while read -r cut state; do
  run 0 explain --cuts $cut states.html
  check "at $cut: $state" "grep -q '^    true: $state,' out"
done <<'STATES'
1 tag open
2 tag name
4 attribute name
7 attribute value (single-quoted)
12 attribute value (double-quoted)
18 data
27 data
41 CDATA section
46 end tag open
53 character reference
61 comment
STATES
for wrong_use in '--cuts x' '--mode sequential' '--nope' '--fragment' '--json=1' '--chunks -1'; do
  run 2 explain $wrong_use pages/page.html
  run 2 trace $wrong_use pages/page.html
done
run 0 explain --help
run 0 trace --help
run 2 trace
run 2 trace a b
run 1 trace none.html
run 1 trace pages/page.html -o /none/trace.json
cp pages/page.html same.html
for command in trace explain profile; do
  run 2 $command -o same.html same.html
  check "$command: the output is the input" 'cmp -s same.html pages/page.html && grep -q "same.html is " err'
done
if [ -c /dev/full ]; then
  run 1 trace pages/page.html -o /dev/full
  check 'a full disk' 'grep -q "/dev/full: cannot be written" err'
  run 1 explain pages/page.html -o /dev/full
fi
# Other start states and other namespaces, in a fragment and elsewhere; start hypotheses, second
# guesses, byte ranges of a kind.
printf '<math><mi>x<svg><g>y</g></svg></mi><mo>z</mo>\t<annotation-xml>w' >math.html
run 0 explain --cuts 9,20,30,42 math.html
check 'the namespace' 'grep -q "math" out'
run 0 explain --json --cuts 9,20,30,42 --fragment 'math mi' math.html
cp out math.json
json math.json "len(o['chunks']) == 5 and o['outcomes']['exact'] == 0"
run 0 explain --cuts 9,20,30,42 math.html -o -
check 'a tab is seen' 'grep -q "$(printf "\\342\\207\\245")" out'
printf '<p>a<script>b</script>c<!-- d --><title>e</title><p>f<b>g</b><textarea>h</textarea></p>i' >guesses.html
for strategy in hpar2013 temppa enumerate oracle exact; do
  for cut in 10 15 28 40 62 75; do
    run 0 explain --strategy $strategy --cuts $cut guesses.html
    cp out text
    run 0 explain --json --strategy $strategy --cuts $cut guesses.html
    cp out one.json
    json one.json "o['strategy'] == '$strategy' and sum(o['outcomes'].values()) == 1 and o['chunks'][1]['begin'] == $cut"
    run 0 explain --strategy $strategy --cuts $cut guesses.html -o -
  done
done
run 0 explain --strategy hpar2013 --cuts 12 guesses.html
check 'begun again' 'grep -q "started again with another guess" out'
run 0 explain --strategy hpar2013 --cuts 12 guesses.html -o -
check 'begun again, on the page' 'grep -q "started again with another guess" out'
run 0 explain --strategy enumerate --cuts 28 guesses.html
check 'readings' 'grep -q "start hypotheses were kept" out'

# trace.
run 0 trace --threads 2 --chunk-size 2000 pages/page.html -o trace.json
json trace.json "{'decode', 'cut', 'exact'} <= {e['name'] for e in o['traceEvents'] if e['ph'] == 'X'}"
json trace.json "all(e['dur'] >= 0 and e['ts'] >= 0 and e['pid'] == 1 for e in o['traceEvents'] if e['ph'] == 'X')"
json trace.json "{e['args']['name'] for e in o['traceEvents'] if e['ph'] == 'M'} == {'hpar', 'merger', 'worker 1'}"
run 0 trace --threads 2 --chunk-size 500 --merge tree pages/page.html -o trace.json
json trace.json "[len([e for e in o['traceEvents'] if e['name'] == 'compose']), min(e['args']['end'] - e['args']['begin'] for e in o['traceEvents'] if e['name'] == 'compose') > 500] == [max(e['args'].get('chunk', 0) for e in o['traceEvents'] if e['ph'] == 'X') - 1, True]"
json trace.json "all(e['tid'] < 2 and e['args']['chunk'] > 1 for e in o['traceEvents'] if e['name'] == 'compose')"
run 0 trace --threads 2 --chunk-size 500 pages/page.html -o trace.json
json trace.json "'compose' not in {e['name'] for e in o['traceEvents']}"
run 0 trace --threads 1 pages/page.html
cp out trace.json
json trace.json "o['displayTimeUnit'] == 'ns'"

# The pipeline.
printf '<!DOCTYPE html>\n<title>a<b></title>\n<svg><![CDATA[x]]>\n<style>y</style></svg>\303\251<br/>\n' >hazards.html
run 0 explain --json --strategy enumerate --chunk-size 20 hazards.html
cp out converging.json
json converging.json "['convergence' in c for c in o['chunks'][:3]] == [False, True, True] and o['chunks'][1]['convergence']['hypotheses'] == 14"
run 0 explain --mode pipelined --pipeline-predictor optimistic hazards.html
check 'a hazard that was not foreseen, its line and source' 'grep -q "^hazards.html:2:1: title, not foreseen: " out && grep -q "^    <title>a<b></title>$" out'
check 'one that switched nothing' 'grep -q "^hazards.html:4:1: foreign_raw_text, foreseen$" out'
check 'columns in characters' 'grep -q "^hazards.html:4:24: self_closing, not foreseen: " out'
run 0 explain --mode pipelined hazards.html
check 'all foreseen' '! grep -q "not foreseen" out && grep -q "^hazards.html:3:6: cdata, foreseen$" out'
check 'counts' 'grep -q "tokens, 4 hazards: 1 title, 1 self_closing, 1 cdata, 1 foreign_raw_text; 0 rollbacks" out'
run 0 explain --mode pipelined --json --html hazards-explained.html hazards.html
cp out hazards.json
json hazards.json "[h['line'] for h in o['pipeline']['hazards']] == [2, 3, 4, 4] and not any(h['rolled_back'] for h in o['pipeline']['hazards'])"
check 'a table of hazards' 'grep -q "<h2>Hazards</h2>" hazards-explained.html && grep -q "&lt;!\[CDATA\[x" hazards-explained.html'
run 0 trace --mode pipelined --threads 2 hazards.html -o trace.json
json trace.json "{e['name']: e['args']['line'] for e in o['traceEvents'] if e['ph'] == 'i'} == {'title': 2, 'cdata': 3, 'foreign_raw_text': 4, 'self_closing': 4}"
json trace.json "{e['args']['name'] for e in o['traceEvents'] if e['ph'] == 'M'} == {'hpar', 'tree builder', 'tokenizer'}"
run 0 explain --json pages/page.html
cp out explain.json
json explain.json "'pipeline' not in o"
run 2 explain --mode pipelined --cuts 5 hazards.html
run 0 explain --mode indexed hazards.html
check "the driver" "head -1 out | grep -q ', indexed$'"
run 2 trace --mode sequential hazards.html
printf '<title>\351</title>\n\351<textarea>x</textarea>' >latin.html
run 0 explain --mode pipelined --encoding latin1 latin.html
check 'lines of other encodings' 'grep -q "^latin.html:2:2: textarea, foreseen$" out'

# profile.
run 0 profile pages 'odd "<&>".html' -o profile.json --cut-distance 64
check 'nothing on standard output' '[ ! -s out ] && [ ! -s err ]'
json profile.json "o['format'] == 'hpar-profile-1' and o['pages'] == 2"
json profile.json "o['tokenizer_switches']['all'] == 63 and o['tokenizer_switches']['by_tag_and_mode']['script'] == {'in body': 60}"
json profile.json "o['tokenizer_switches']['by_tag_and_mode']['title'] == {'in head': 1}"
json profile.json "o['self_closing']['void_slash'] == 60 and o['self_closing']['foreign_slash'] == 1"
json profile.json "sum(o['modes_by_token'].values()) == o['tokens'] and sum(o['modes_by_byte'].values()) == o['bytes']"
json profile.json "sum(sum(r['states'].values()) for r in o['states_by_bytes']) == sum(sum(p.values()) for p in o['states_at_cuts'].values())"
json profile.json "{'before': 'word', 'at': '<table'}.items() <= max(o['states_by_bytes'], key=lambda r: r['at'] == '<table').items()"
json profile.json "any(r['at'] == '</b' and r['before'] == 'word' and r['states'] == {'data': sum(r['states'].values())} for r in o['states_by_bytes'])"
json profile.json "o['formatting_lists']['at_tokens']['lists'] == o['tokens']"
printf '<table>x<tr>y<td>z</table><br><br/><svg><a/><a></svg><math><mi/></math><p/><img/><textarea></textarea><noscript><p>x</noscript><plaintext>' >kinds.html
run 0 profile --json --scripting on --cut-distance 16 kinds.html
cp out kinds.json
json kinds.json "o['modes_by_token']['in table text'] == 2 and o['modes_by_byte']['in table text'] == 2"
json kinds.json "o['self_closing'] == {'void_plain': 1, 'void_slash': 2, 'foreign_plain': 3, 'foreign_slash': 2, 'other_slash': 1, 'names': 9, 'void_names': 2}"
json kinds.json "o['tokenizer_switches']['by_tag_and_mode'] == {tag: {'in body': 1} for tag in ('textarea', 'noscript', 'plaintext')}"
json kinds.json "o['formatting_lists']['at_tokens']['markers'][:2] == [22, 2] and o['first_table_tag']['</table>'] == {'in cell': 1}"
printf '<b><i><u><b><i><u><b><i><u><s><em><p>x</p></b>y<table><tr><td><i>z<td>w' >lists.html
run 0 profile --json --cut-distance 1 lists.html
cp out lists.json
json lists.json "o['formatting_lists']['at_tokens']['entries_after_last_marker'][9] > 0 and o['formatting_lists']['at_tokens']['to_be_reconstructed'] > 0"
printf '<script>"\\<b>"</script>x\\</b>' >backslash.html
run 0 profile --json --cut-distance 1 backslash.html
cp out backslash.json
json backslash.json "{'before': 'backslash', 'at': '<b', 'states': {'script data': 3}} in o['states_by_bytes']"
run 0 profile --cut-distance 1 lists.html kinds.html -o -
check 'to standard output' '[ -s out ]'
for wrong_use in '--cut-distance 0' '--scripting perhaps' '--threads x' '--nope' '-o'; do run 2 profile $wrong_use page.html; done
run 0 profile --help
run 1 profile pages -o /none/profile.json
run 1 profile none.html
check 'nothing to profile' '[ ! -s out ] || ! grep -q "^1 pages" out'
: >empty.html
run 0 profile --json empty.html
cp out empty.json
json empty.json "o['pages'] == 1 and o['tokens'] == 0 and o['states_by_bytes'] == []"
run 0 profile pages --threads 1 --json
cp out one.json
run 0 profile pages --threads 4 --json
check 'the same whatever the threads' 'cmp -s out one.json'
run 0 profile pages
check 'tables' 'grep -q "^tokenizer state at cuts, before-tag" out && grep -q "^switches of the tokenizer" out'
run 1 profile pages none.html
check 'the rest is profiled' 'grep -q "^1 pages" out && grep -q none.html err'
run 2 profile

# --profile: the predictor "frequency" uses the counts of the profile.
comment='<!doctype html><p>a<!-- b<i>c --><p>d'
printf %s "$comment" >comment.html
guess='parse --stats=json --format none --executor inline --cuts 25'
rows() { printf '{"format":"hpar-profile-1","pages":1,"states_by_bytes":[%s]}' "$1" >rows.json; }
rows '{"before":"word","at":"<i","states":{"comment":2,"data":1}}'
if "$hpar" $guess --profile rows.json comment.html 2>&1 | grep -q 'cannot read profiles'; then
  run 2 $guess --profile rows.json comment.html
  echo 'skipped: this build reads no profiles, having no json-c'
else
  run 0 $guess --profile rows.json comment.html
  json out "o['predictor'] == 'frequency' and o['chunks'] == o['chunks_right_start'] == 1"
  rows '{"before":"word","at":"<i","states":{"comment":2,"data":3}}'
  run 0 $guess --profile rows.json comment.html
  json out "o['predictor'] == 'frequency' and o['chunks'] == 1 and o['chunks_right_start'] == 0"
  run 0 $guess --predictor lookback --profile rows.json comment.html
  json out "o['predictor'] == 'lookback'"
  check 'a profile from standard input' '"$hpar" $guess --profile - comment.html <profile.json >out 2>err'
  run 0 compare --repeat 1 --threads 2 --chunk-size 500 --cut even --profile profile.json pages
  run 0 explain --profile profile.json --cut even --chunks 9 pages/page.html
  run 1 $guess --profile none.json comment.html
  check 'what is missing is named' 'grep -q "none.json: cannot be read" err'
  while IFS='|' read -r problem text; do
    printf '%s' "$text" >rows.json
    run 1 $guess --profile rows.json comment.html
    check "$problem" "grep -q '^hpar: rows.json: is no profile: .*$problem.*; make one with .hpar profile FILE... -o rows.json' err && [ ! -s out ]"
  done <<'BROKEN'
it is no JSON: it ends too early|
it is no JSON: it ends too early|{"format":"hpar-profile-1"
it is no JSON: unexpected character|{"format":"hpar-profile-1","states_by_bytes":[]} more
it is no JSON|<!doctype html>
the JSON is no object|[]
"format" is missing|{}
"format" is missing|{"format":1}
not "hpar-profile-1"|{"format":"hpar-profile-2"}
"states_by_bytes" is no list|{"format":"hpar-profile-1"}
"states_by_bytes" is no list|{"format":"hpar-profile-1","states_by_bytes":{}}
entry 1 .* has no "before"|{"format":"hpar-profile-1","states_by_bytes":[null]}
entry 2 .* has no "before"|{"format":"hpar-profile-1","states_by_bytes":[{"before":"<","at":"=","states":{}},{"before":"<"}]}
entry 1 .* has no "before"|{"format":"hpar-profile-1","states_by_bytes":[{"before":"<","at":"=","states":[]}]}
entry 1 .* has no "before"|{"format":"hpar-profile-1","states_by_bytes":[{"before":"a\u0000","at":"=","states":{}}]}
entry 1 .* unknown state "date"|{"format":"hpar-profile-1","states_by_bytes":[{"before":"<","at":"=","states":{"date":1}}]}
entry 1 .* no whole number|{"format":"hpar-profile-1","states_by_bytes":[{"before":"<","at":"=","states":{"data":-1}}]}
entry 1 .* no whole number|{"format":"hpar-profile-1","states_by_bytes":[{"before":"<","at":"=","states":{"data":0.5}}]}
BROKEN
fi

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
