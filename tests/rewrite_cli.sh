#!/bin/sh
# Checks hpar rewrite: actions, files of rules, exit codes, errors, explanations, checks, files in
# place, and LOL HTML's fixtures if they exist.
hpar=$1
. "$(dirname "$0")/support/scratch.sh"

# check EXPECTED-STATUS EXPECTED-OUTPUT ARGUMENT...: runs hpar rewrite.
check() {
  wanted=$1
  printf '%s' "$2" >expected
  shift 2
  "$hpar" rewrite "$@" >out 2>err </dev/null
  status=$?
  if test $status = "$wanted" && cmp -s out expected; then
    fine
  else
    wrong "hpar rewrite $* (status $status)"
    sed 's/^/  got: /' out err
    sed 's/^/  expected: /' expected
  fi
}

# edits EXPECTED-OUTPUT ARGUMENT...: rewrites a.html as a whole, by single bytes, by five bytes.
edits() {
  output=$1
  shift
  check 0 "$output" "$@" a.html
  check 0 "$output" --feed 1 "$@" a.html
  check 0 "$output" "$@" --feed=5 a.html
}

# reports TEXT: checks that the standard error of the last run contains the text.
reports() {
  if grep -qF -- "$1" err; then fine; else
    wrong "standard error lacks: $1"
    cat err
  fi
}

# is FILE TEXT: checks the content of a file.
is() {
  printf '%s' "$2" >expected
  if cmp -s "$1" expected; then fine; else
    wrong "$1 contains $(cat "$1")"
  fi
}

refuses_json() {
  printf '%s' "$1" >bad.json
  check 2 '' --rules bad.json a.html
  reports "$2"
}

printf '<p class=x>one <b>two</b><!--c--><p>three<br><a href="http://u">l</a>' >a.html

# actions
edits '[<p class=x>one <b>two</b><!--c--><p>three<br><a href="http://u">l</a>' -s p.x --before '['
edits '<p class=x>one <b>two</b><!--c--></p>]<p>three<br><a href="http://u">l</a>' -s p.x --after ']'
edits '<p class=x>[one <b>two</b><!--c-->]<p>three<br><a href="http://u">l</a>' -s p.x --prepend '[' --append ']'
edits '<p class=x>one <b>2</b><!--c--><p>three<br>4' --selector b --inner 2 -s a --replace 4
edits '<p class=x>one two<!--c--><p>three<a href="http://u">l</a>' -s b --unwrap -s br --remove
edits '<p class=x>one <i>two</i><!--c--><p>three<br><a href="https://u">l</a>' \
  -s b --rename i -s 'a[href^="http:"]' --prefix href http: https:
edits '<p>one <b>two</b><!--c--><p class="y">three<br><a href="http://u">l</a>' -s p.x --unset class -s 'p:not(.x)' --set class y
edits '<p class=x>1 <b>two</b><!--c--><p>three<br><a href="http://u">l</a>&lt;' -s p --find one 1 --document --append '<' --text
edits '&lt;i><p class=x>one <b>two</b><!--c--><p>three<br><a href="http://u">l</a>' -s p --text --before '<i' --limit 1 \
  -s p --before '>' --limit 1
edits '@<p class=x>one <b>two</b><!--c--><p>three<br><a href="http://u">l</a>' -s p.x --before @@
edits '!<p class=x>one <b>two</b><!--c--><p>three<br><a href="http://u">l</a>?' -s body --prepend ! --append ? --implied
printf '<hr>' >rule.html
edits '<p class=x>one <b>two</b><!--c--><p>three<hr><a href="http://u">l</a>' -s br --replace @rule.html
# The rewriter follows the tree construction of the standard: the image is no part of the style.
printf '<template><col><style></template><img src=x onerror=1>' >a.html
edits '<template><col><style></template>' -s img --remove
printf '<ul><li>a<li>b</ul>' >a.html
edits '<ul><div>a</div><div>b</div></ul>' -s li --rename div

# The scripting flag is that of browsers: a noscript ends at its first end tag.
printf '<noscript><p title="</noscript><img src=x onerror=1>">' >a.html
edits '<noscript><p title="</noscript>">' -s '[onerror]' --remove
edits '<noscript><p title="</noscript><img src=x onerror=1>">' -s '[onerror]' --remove --scripting off

# files of rules
cat >rules.json <<'JSON'
{"rules": [
  {"select": "li", "before": {"html": "<!--x-->"}, "after": {"text": "<"}, "set": {"class": "k", "id": "i"}, "limit": 1},
  {"select": "ul", "unset": ["class"], "prefix": ["title", "a", "b"], "rename": "ol",
   "text": {"find": [["a", "1"], ["b", "2"]]}, "comment": {"remove": true}},
  {"doctype": {"remove": true}, "comment": {"after": {"html": "-"}}, "end": {"append": {"html": "<hr>"}}},
  {"select": "b", "unwrap": false, "remove": true},
  {"select": "body", "implied": true, "append": {"html": "!"}}
]}
JSON
printf '<!DOCTYPE html><!--d--><ul class=c title=aa><li>a<!--e--><li>b<b>x</b></ul>' >a.html
expected='<!--d-->-<ol title=ba><!--x--><li class="k" id="i">1-</li>&lt;<li>2</ol>!<hr>'
"$hpar" rewrite --rules rules.json a.html >out 2>err
if grep -q 'cannot read JSON' err; then
  echo "skipped: this build has no json-c"
  json=
else
  json=yes
  edits "$expected" --rules rules.json
  refuses_json '{' 'bad.json: the JSON ends too early'
  refuses_json '[1]' 'bad.json: the JSON is not {"rules": [...]}'
  refuses_json '{"rules":[{"select":"p","remove":true},{"select":"p"}]}' 'bad.json: rule 2: has no action'
  refuses_json '{"rules":[{"select":"p","before":"x"}]}' 'rule 1: before: the content is not'
  refuses_json '{"rules":[{"select":"p","colour":1}]}' 'rule 1: colour: no field of a rule has this name'
  refuses_json '{"rules":[{"select":"p","text":{"rename":"x"}}]}' 'rule 1: text.rename: only an element has this action'
  refuses_json '{"rules":[{"select":"p","comment":{"find":[["a","b"]]}}]}' 'bad.json: rule 1: comment.find: only a text has this action'
  refuses_json '{"rules":[{"select":"p","set":{"a b":"c"}}]}' 'bad.json: rule 1 (p): set: the name of an attribute is invalid'
  refuses_json '{"rules":[{"select":"p","set":{"a\u0000b":"c"}}]}' 'bad.json: a name contains U+0000'
  refuses_json '{"rules":[{"select":"p","unset":["a\u0000b"]}]}' 'rule 1: unset: a name contains U+0000'
  printf '%s' '{"rules":[{"select":"b","set":{"a\\u0000b":"c"},"inner":{"text":"\\u0000:"}},{"select":"b","after":{"text":"\u0000"}}]}' >bad.json
  "$hpar" rewrite --rules bad.json a.html >out
  if grep -qF 'a\u0000b="c"' out; then fine; else wrong "no key with U+0000: $(cat out)"; fi
  refuses_json '{"rules":[{"select":"p","remove":1}]}' 'rule 1: remove: is not true or false'
  refuses_json '{"rules":[{"select":"p","limit":-1,"remove":true}]}' 'rule 1: limit: is not a whole number'
  refuses_json '{"rules":[{"select":"p:foo","remove":true}]}' 'bad.json: rule 1: selector, byte 2: this pseudo-class is unknown'
  check 1 '' --rules missing.json a.html
fi

# wrong usage
check 2 '' a.html
reports 'there is no rule'
check 2 '' -s p --remove
reports 'name a FILE'
check 2 '' --remove a.html
reports '--remove needs a rule: -s SELECTOR before it'
check 2 '' -s p a.html
reports 'rule 1 (p) has no action'
check 2 '' -s p -s b --remove a.html
reports 'rule 1 (p) has no action'
check 2 '' -s 'li:last-child' --remove a.html
reports ':last-child needs what follows the start tag'
reports '    ^'
check 2 '' -s p --rename 1x a.html
reports 'rule 1 (p): rename: the name of an element is invalid'
check 2 '' -s p --find a b --in text,head a.html
reports 'rule 1 (p): text.find: the places are not a list of text, script, style, title, comment or all'
check 2 '' a.html -s p --set class
reports '--set needs NAME VALUE'
check 2 '' --document --remove a.html
reports 'rule 1 (the document): remove: a rule for the document has no element'
check 2 '' -s p --remove a.html a.html
reports 'several FILEs need --many --in-place'
check 2 '' -s p --remove --many a.html
check 2 '' -s p --remove --in-place -
check 2 '' -s p --remove --encoding martian a.html
check 2 '' -s p --remove -o ./a.html a.html
reports '--output: ./a.html is the input'
cp a.html kept.html
"$hpar" rewrite -s p --remove -o a.html - <a.html 2>err
test $? = 2 && reports '--output: a.html is the input'
check 2 '' -s p --remove --trace ./a.html a.html
reports '--trace: ./a.html is the input'
check 2 '' -s p --remove --in-place --trace a.html a.html
check 2 '' -s p --remove --trace new.html -o new.html a.html
reports '--trace: new.html is the output'
ln kept.html link.html
check 2 '' -s p --remove --trace kept.html -o link.html a.html
check 1 '' -s p --remove -o kept.html missing.html
if cmp a.html kept.html; then fine; else wrong 'a refused command changed a file'; fi
echo kept >kept.html
check 2 '' -s p --remove --fragment 'a  b' -o kept.html a.html
reports "--fragment: 'a  b' is no element"
is kept.html 'kept
'
check 1 '' -s p --append @missing.html a.html
check 1 '' -s p --remove missing.html
reports 'missing.html: cannot be read'

# exit status and reports
printf '<p>a<br>b' >a.html
check 0 '<p>a<br>b' -s nav --remove a.html
check 1 '<p>a<br>b' -s p --set a b -s nav --remove --require --limit 1 -s p --unset a a.html
reports 'rule 2 (nav) matches nothing'
check 0 '' -s br --remove -o new.html a.html
is new.html '<p>ab'
check 0 '4-8 <br>: rule 1 (br): append is ignored (the element has no content), set a
rule 2 (nav a) matches nothing: the page has no <a>
rule 3 (p.x) matches nothing: the page has 1 <p>, and the rest of the selector excludes each of them
rule 4 (body) matches nothing: the page has <body> without a tag only, which a rule with --implied matches
' --explain -s br --append x --set a b -s 'nav a' --remove -s p.x --remove -s body --remove a.html
check 0 '0-3 <p>: rule 1 (p): remove
4-8 <br>: rule 2 (br): remove is ignored (the element is removed)
' --explain -s p --remove -s br --remove a.html
check 0 '0-3 <p>: rule 1 (p): texts inside
8 text: rule 1 (p): find "b" (1)
' --explain -s p --find b c a.html
printf '<p>R&amp;D R&D<style>R&D</style>' >and.html
check 0 '0-3 <p>: rule 1 (p): texts inside
3 text: rule 1 (p): find "R&D" (2)
' --explain -s p --find 'R&D' c and.html
printf '<p>a<b>b</b><p>ab' >across.html
check 0 '<p>c<b></b><p>c' -s p --find ab c --across-tags across.html
check 0 '<p>c<b></b><p>c' -s p --find ab c --across-tags --mode parallel across.html
check 0 '<p>a<b>b</b><p>c' -s p --find ab c across.html
check 0 '<p>c<b></b><p>c' -s p --find ab c --across-tags --require across.html
check 2 '' -s p --find ab c --across-tags --limit 1 across.html
reports 'rule 1 (p): text.find: a rule that finds across tags has no limit, pieces or callbacks'

"$hpar" rewrite -s p --set a b --stats=json a.html >out 2>err
if grep -q '"matches":1,"edits":[1-9].*"rules":\[{"select":"p","matches":1}\]}$' err; then fine; else wrong "$(cat err)"; fi
# The rest of the page passes after the last edit, although the parser still knows the head.
printf '<head></head><p>a<p>b' >head.html
"$hpar" rewrite -s head --append x --limit 1 --stats=json head.html >out 2>err
is out '<head>x</head><p>a<p>b'
if grep -q '"retired":true' err; then fine; else wrong "$(cat err)"; fi
printf '<p>a' | "$hpar" rewrite -s p --rename div - >out
is out '<div>a'
printf '\377\376<\000p\000>\000' >wide.html
"$hpar" rewrite -s p --before x --utf16 pass wide.html >out 2>err
if cmp -s out wide.html; then fine; else wrong 'UTF-16 does not pass unchanged'; fi
reports 'wide.html: warning: the input is UTF-16 and passes without edits'
check 0 'x<p>' -s p --before x wide.html
reports 'wide.html: warning: the input is UTF-16, and the output is UTF-8'
check 0 'x<p>' -s p --before x --utf16 decode wide.html
check 1 '' -s p --before x --utf16=refuse wide.html
check 0 'wide.html: the tree of the output is the edited tree of the input (5 nodes)
' -s p --append x --check wide.html
check 0 'no rule applies: the page is in UTF-16 and passes unchanged; see --utf16
' -s p --append x --utf16 pass --explain wide.html
printf '<meta charset=iso-2022-jp><p>' >japanese.html
check 1 'rule 1 (p) matches nothing before the failure
' -s p --append x --on-failure pass --explain japanese.html
if grep -q 'declares ISO-2022-JP.*the rest is passed on' err; then fine; else wrong "$(cat err)"; fi
check 1 '' -s p --append x --in-place japanese.html
if grep -q 'declares ISO-2022-JP.*; the file stays as it is$' err; then fine; else wrong "$(cat err)"; fi

# comparison of the output's tree
printf '<ul><li>a</li><li class=x>b <b>c</b></li></ul><img src=1>' >a.html
same='a.html: the tree of the output is the edited tree of the input'
agrees() {
  "$hpar" rewrite "$@" --check a.html >out 2>err
  status=$?
  if test $status = 0 && grep -q "^$same ([0-9]* nodes)$" out; then fine; else wrong "--check $*: $(cat out err)"; fi
}
agrees -s li --set class y -s '.x' --unset class -s img --prefix src 1 2
agrees -s li --rename div -s img --remove
agrees -s li --unwrap -s b --set title '"&'
agrees -s li --prepend '<i>1</i>' --append 2 --prepend 3 --append '<hr>' -s img --before 4 --after 5
agrees -s ul --inner '<li>1' --prepend '<li>0</li>' -s img --replace '<br>'
agrees -s li --text --append '<b>' --before '&amp;'
agrees -s b --remove -s b --after x
agrees -s img --append x -s nav --remove
printf '<p><b id=1>a<p>b</b>c<table><tr><td>d<tr>x</table>' >a.html
agrees -s b --set title 1 --unset id -s td --append '<i>2</i>' -s tr --set id 3
"$hpar" rewrite -s td --prepend '<script>' --check a.html >out 2>err
if test $? = 1 && grep -q 'differs from the edited tree' out; then fine; else wrong "$(cat out err)"; fi
"$hpar" rewrite -s td --find a b --check a.html >out 2>err
if test $? = 0 && grep -q 'not compared, because rule 1 (td) edits texts' out; then fine; else wrong "$(cat out err)"; fi

# files in place
# several threads
awk 'BEGIN { for (i = 0; i < 40000; i++) print "<div><p class=x>a<a href=q>b</a><li>c</div>" }' >large.html
for selector in a 'div p' 'div > *' x-none; do
  "$hpar" rewrite -s "$selector" --set b c --append d large.html >expected
  for mode in parallel auto sequential; do
    "$hpar" rewrite --mode $mode --threads 3 -s "$selector" --set b c --append d large.html >out 2>err
    if cmp -s out expected; then fine; else wrong "--mode $mode -s $selector: $(cat err)"; fi
    "$hpar" rewrite --mode $mode --threads 2 -s "$selector" --set b c --append d - <large.html >out 2>err
    if cmp -s out expected; then fine; else wrong "--mode $mode of a stream: $(cat err)"; fi
  done
done
"$hpar" rewrite --mode parallel --threads 2 --trace trace.json -s x-none --set b c --append d large.html >out 2>err
if cmp -s out expected; then fine; else wrong "--trace: $(cat err)"; fi
if grep -q '"traceEvents":' trace.json && grep -q '"merger"' trace.json && tail -c 4 trace.json | grep -q ']}'; then
  fine
else
  wrong "--trace: $(head -c 300 trace.json)"
fi
# an explanation is the same with each mode
head -c 300000 large.html >part.html
for rules in '-s div>p --append x -s a --set k v' '-s li --find a b -s A --set k v -s x-none --remove' '-s p.x --remove -s li+li --set k v' '-s nav --remove -s html --append x'; do
  # shellcheck disable=SC2086 # several arguments
  "$hpar" rewrite --explain $rules part.html >expected 2>err
  for mode in parallel auto; do
    # shellcheck disable=SC2086 # several arguments
    "$hpar" rewrite --explain --mode $mode --threads 3 $rules part.html >out 2>>err
    if test -s out && cmp -s out expected; then fine; else wrong "--explain --mode $mode $rules: $(cat err)"; fi
  done
done
check 2 '' --mode parallel --trace - -s p --remove a.html
check 2 '' --many --in-place --trace trace.json -s p --remove a.html
check 1 '' --trace missing/trace.json -s p --remove a.html
reports 'the trace cannot be written'
check 2 '' --mode pipelined -s p --remove a.html
mkdir -p many
for i in 1 2 3 4 5; do printf '<p>%s' "$i" >many/$i.html; done
printf '<b>' >many/6.html
check 0 '' --many --in-place --threads 3 -s p --set a b many
is many/5.html '<p a="b">5'
is many/5.html.bak '<p>5'
check 0 '' --many --in-place --threads 1 --backup= -s p --unset a many
is many/5.html '<p>5'
if test -e many/6.html.bak; then wrong 'a page without an edit was replaced'; else fine; fi
check 1 '' --many --in-place --encoding iso-2022-jp -s p --remove many
reports 'many/5.html: the input is ISO-2022-JP: convert it to UTF-8'
mkdir -p site/sub
printf '<p>1' >site/1.html
printf '<p>2' >site/sub/2.htm
printf '<br>' >site/3.html
chmod 640 site/1.html
check 0 '' --many --in-place -s p --set a b site
is site/1.html '<p a="b">1'
is site/1.html.bak '<p>1'
is site/sub/2.htm '<p a="b">2'
is site/3.html '<br>'
if test "$(stat -c %a site/1.html)" = 640 && test ! -e site/3.html.bak; then fine; else wrong 'mode or backup'; fi
check 1 '' --in-place -s p --set a c site/1.html
reports '1.html.bak: exists; remove it, or name another suffix with --backup'
is site/1.html '<p a="b">1'
check 0 '' --in-place --backup .2 -s p --set a c site/1.html
is site/1.html '<p a="c">1'
is site/1.html.2 '<p a="b">1'
check 0 '' --in-place --backup= -s p --remove site/1.html
is site/1.html ''
if test "$(id -u)" = 0; then
  printf '<p>' >site/sub/2.htm
  chown 12:34 site/sub/2.htm
  chmod 4750 site/sub/2.htm
  check 0 '' --in-place --backup= -s p --set a b site/sub/2.htm
  if test "$(stat -c %u:%g:%a site/sub/2.htm)" = 12:34:4750; then fine; else wrong 'owner of a page'; fi
fi
# A warning goes nowhere if standard error is closed.
printf '\377\376<\0p\0>\0' >utf16.html
cp utf16.html site/sub/2.htm
"$hpar" rewrite -s p --set k v --in-place --backup= --utf16 decode site/sub/2.htm 2>&-
is site/sub/2.htm "$("$hpar" rewrite -s p --set k v --utf16 decode utf16.html 2>err)"
ln -s ../3.html site/sub/link.html
check 0 '' --in-place --backup= -s br --rename hr site/sub/link.html
is site/3.html '<hr>'
check 2 '' -s p --remove site
reports 'a folder needs --many --in-place'
mkdir alone
printf '<p>x' >alone/1.html
check 2 '' -s p --set k v alone -o alone/1.html
reports 'a folder needs --many --in-place'
is alone/1.html '<p>x'
# A tag has any length.
{ printf '<img src="data:' && head -c 1100000 /dev/zero | tr '\0' a && printf '">'; } >wide.html
for arguments in '' '--mode parallel --threads 2' '--feed 70000'; do
  # shellcheck disable=SC2086 # several arguments
  "$hpar" rewrite -s img --set alt x $arguments wide.html >out 2>err
  if test $? = 0 && test "$(wc -c <out)" = 1100025 && test ! -s err; then fine; else wrong "a long tag $arguments"; fi
done
# A run that is killed in the middle of a page leaves nothing behind, if files can be without names here.
if python3 -c 'import os; os.open(".", os.O_TMPFILE | os.O_WRONLY)' 2>/dev/null; then
  awk 'BEGIN { for (i = 0; i < 20000; i++) print "<p>paragraph" }' >alone/1.html
  cp alone/1.html long.html
  (ulimit -f 20 && exec "$hpar" rewrite -s p --set k v --in-place alone/1.html) >out 2>err
  if test $? -gt 128 && cmp -s alone/1.html long.html && test "$(ls alone)" = 1.html; then fine; else
    wrong "after a run was killed: $(ls alone)"
  fi
fi
# A page with another tree than expected stays as it is.
"$hpar" rewrite --in-place --check -s hr --after '<script>' -s hr --before '<script>' site/3.html >out 2>err
is site/3.html '<hr>'
if test "$(find site -type f | wc -l)" = 6; then fine; else wrong "other files: $(find site)"; fi

shared=${HPAR_SHARED:-$HPAR_SOURCE_DIR/../shared}
if test -n "$json" && test -f "$shared/lolhtml/selector_matching.jsonl" && command -v python3 >/dev/null; then
  if python3 "$HPAR_SOURCE_DIR/tests/rewrite_fixtures.py" "$hpar" "$shared/lolhtml"; then fine; else wrong fixtures; fi
else
  echo "skipped: no selector fixtures"
fi
echo "$passed passed, $failed failed"
test $failed = 0
