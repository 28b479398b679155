#!/bin/sh
# Checks hpar crawl. The summary is equal for every number of processes, order of inputs and engine,
# and after processes were killed, the disk was full and the crawl was resumed. A record that ends
# its process, or is above a limit, goes to the quarantine. Wrong usage causes one sentence.
# crawl_dask.sh and crawl_slurm.sh check the engines.

hpar=$1
source=$(cd "$(dirname "$0")" && pwd)
corpus=$HPAR_BUILD_DIR/hpar-corpus
kill=$HPAR_BUILD_DIR/tests/libkill.so
. "$source/support/tally.sh"
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2

check() { if eval "$2"; then fine; else wrong "$1 (status $status): $2"; fi; }
# crawl ARGUMENT...: runs hpar crawl with the variable `with` in its environment. Sets `status`.
crawl() {
  env ${with:-} "$hpar" crawl "$@" >out 2>err
  status=$?
}
# equal DIR: checks that the results of DIR are those of the first crawl.
equal() { check "$1" "test $status = 0 && cmp -s one/summary.json $1/summary.json && cmp -s one/summary.md $1/summary.md && cmp -s one/quarantine.jsonl $1/quarantine.jsonl &&
  cmp -s one/rows.jsonl $1/rows.jsonl && cmp -s one/groups.csv $1/groups.csv"; }
# usage TEXT STATUS ARGUMENT...: checks a message of one line and the status.
usage() {
  text=$1 expected=$2
  shift 2
  crawl "$@"
  check "crawl $*" "test $status = $expected && test \$(wc -l <err) = 1 && grep -q \"$text\" err"
}
# record TYPE URL FILE: writes a record with the contents of the file.
record() {
  printf 'WARC/1.0\r\nWARC-Type: %s\r\nWARC-Target-URI: %s\r\nContent-Type: application/http\r\nContent-Length: %s\r\n\r\n' \
    "$1" "$2" "$(wc -c <"$3")"
  cat "$3"
  printf '\r\n\r\n'
}

"$hpar" parse --predictor help >names 2>/dev/null && profiles=all || profiles=sizes,encodings,elements,links,text,errors
mkdir data
for seed in 1 2 3 4; do
  "$corpus" generate --warc 150 --seed $seed --small --damage 5 >data/$seed.warc || exit 2
done
for format in gzip zstd; do
  "$corpus" generate --warc 150 --seed 9 --small --$format >data/9.warc.$format 2>/dev/null || rm data/9.warc.$format
done
test ! -e data/9.warc.gzip || mv data/9.warc.gzip data/9.warc.gz
test ! -e data/9.warc.zstd || mv data/9.warc.zstd data/9.warc.zst
set -- --profile $profiles --study-sample 1/5 --study-size 1000 --select 'a[href], b' --select p --records jsonl \
  --fields url,date,title,text,url:href,attr:class --group-by host,tag

# Numbers of processes, orders of inputs, lists.
crawl data "$@" --out one --threads 1
check "a crawl" 'test $status = 0 && test ! -s out && grep -q "\"units_done\":$(ls data | wc -l)" one/summary.json'
check "its records" 'test $(cat one/records/*.jsonl | wc -l) = $(sed -n "s/^\"pages\":\([0-9]*\),/\1/p" one/summary.json)'
check "its counts" 'grep -q "\"records\":" one/summary.json && grep -q "^\"selector_matches\"" one/summary.json'
crawl data "$@" --out two --threads 2
equal two
ls data/* | sort -r >list
crawl @list data/1.warc "$@" --out eight --threads 8 --progress json
equal eight
check "progress" 'tail -n 1 err | grep -q "\"done\":$(ls data | wc -l),.*\"seconds_left\":0}"'

if python3 -c 'import pty' 2>/dev/null; then
  python3 -c 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]))' "$hpar" crawl data --out terminal >out 2>err </dev/null
  status=$?
  check "a table on a terminal" 'test $status = 0 && grep -q " units $(ls data | wc -l) of" out && grep -q "^ *pages [1-9]" out && grep -q "terminal/summary.md" out'
fi

# Links: to the same folder, to a folder that has a link back, and to an archive.
mkdir -p linked/sub
cp data/1.warc linked
ln -s . linked/loop
ln -s ../../linked linked/sub/up
ln -s ../1.warc linked/sub/copy.warc
crawl linked --out links.out
check "links in folders" 'test $status = 0 && grep -q "\"units_done\":1,\?$" links.out/summary.json'

# Pages that several threads parse.
if test $profiles = all; then
  crawl data "$@" --out split --threads 2 --split 500
  equal split
else
  usage "this build has no parallel parser" 2 data "$@" --out split --split 500
fi

# Continue: all units, some units, a damaged file of a unit.
crawl data "$@" --out two
check "results that exist" 'test $status = 2 && grep -q -e --resume err'
crawl data "$@" --out two --resume
equal two
rm "$(ls two/units/*.tsv | head -n 1)" two/summary.json
echo damaged >"$(ls two/units/*.tsv | tail -n 1)"
crawl data "$@" --out two --resume
equal two

# Units by number, as engines run them.
crawl data "$@" --out plan --engine parallel
check "the lines for GNU parallel" 'test $status = 0 && grep -q "crawl watch .* --progress auto &$" out && grep -q "parallel --joblog .* crawl run" out && grep -q "crawl reduce" out'
crawl reduce plan
check "a summary without results" 'test $status = 1 && grep -q "no complete results" err'
crawl run plan 1-99 --threads 2
crawl run plan 0
check "units by number" 'test $status = 0 && test ! -e plan/two'
crawl reduce plan
equal plan

# A wrong range is found before any unit runs, and a unit that fails does not stop the next range.
mkdir two.warcs
cp data/1.warc data/2.warc two.warcs
crawl two.warcs --out ranges --engine parallel
for range in 2 0--1 0- +1 ' 1' 1-0 1x; do usage "'$range' is no range of the 2 units" 2 run ranges 0 "$range"; done
check "no unit of wrong ranges" 'test -z "$(ls ranges/units)"'
rm two.warcs/1.warc
usage "two.warcs/1.warc: cannot be read" 1 run ranges 0 1-9
check "the next range" 'test $(ls ranges/units | wc -l) = 1'

# A folder with a name that a shell or GNU parallel would change. Without parallel, a program in its
# place also hands the command to a second shell.
mkdir 'sp ace' programs
cat >programs/parallel <<'END'
#!/bin/sh
shift 4
while read unit; do sh -c "$(printf '%s' "$*" | sed "s/{}/$unit/g")"; done
END
chmod +x programs/parallel
odd="sp ace/it's {} {=\$_=1=};touch x \$(touch x)"
crawl data "$@" --out "$odd" --engine parallel --progress none
(PATH=$PATH:$work/programs sh out >printed 2>err)
status=$?
check "a folder with an odd name" 'test $status = 0 && test ! -e x && cmp -s one/summary.json "$odd/summary.json"'

# A damaged plan: a unit or an option that is left out would give another summary.
for expression in '/^unit/{x;s/^/x/;/^x$/{x;d};x}' 's/^option\tdepth\t0/option\tdepth\t9/' 's/^unit\t/unit /' '$d' '1d'; do
  cp -r plan damaged
  sed "$expression" plan/plan.tsv >damaged/plan.tsv
  usage "plan.tsv: is damaged" 1 reduce damaged
  usage "plan.tsv: is damaged" 1 run damaged 0
  rm -r damaged
done
cp -r plan damaged
sed '1d' plan/plan.tsv >damaged/plan.tsv
crawl data "$@" --out damaged --resume
equal damaged

# The plan of an earlier version, without a hash, and of a later one.
mkdir earlier
for plan in 'hpar-crawl-plan-1\t0.2.0\nunit\tx\n' 'hpar-crawl-plan-9\tx\n'; do
  printf "$plan" >earlier/plan.tsv
  usage "plan.tsv: is the plan of another version of hpar" 1 reduce earlier
done

# Progress of the units that other processes run.
crawl watch two --progress json
check "watch" 'test $status = 0 && test ! -s out && grep -q "^{\"units\":$(ls data | wc -l),\"done\":0,\"reused\":$(ls data | wc -l),.*\"seconds_left\":0}$" err'

# Processes that are killed.
crawl data "$@" --out killed --threads 2 &
driver=$!
sleep 0.1
for child in $(cat /proc/$driver/task/$driver/children 2>/dev/null); do kill -9 $child 2>/dev/null; done
kill -9 $driver 2>/dev/null
wait $driver 2>/dev/null
crawl data "$@" --out killed --threads 2 --resume &
driver=$!
sleep 0.05
for child in $(ps -o pid= --ppid "$(cat /proc/$driver/task/$driver/children 2>/dev/null | cut -d ' ' -f 1)" 2>/dev/null); do
  kill -9 "$child" 2>/dev/null
done
wait $driver
crawl data "$@" --out killed --threads 2 --resume
equal killed

# A process of another crawl still works in the folder: its files remain, and the message is not that
# of a full disk.
mkfifo stream.warc
"$hpar" crawl - --out shared --records jsonl <stream.warc >first.out 2>first.err &
first=$!
exec 3>stream.warc
cat data/1.warc >&3
for i in $(seq 100); do
  test -z "$(ls -A shared/records 2>/dev/null)" || break
  sleep 0.1
done
usage "another hpar works in this folder" 1 - --out shared --records jsonl --resume
exec 3>&-
wait $first
status=$?
check "the crawl that works in the folder" 'test $status = 0 && test ! -s first.err && test $(cat shared/records/*.jsonl | wc -l) = $(sed -n "s/^\"pages\":\([0-9]*\),/\1/p" shared/summary.json)'

# Results that cannot be written for another reason than a full disk.
rm -rf gone
"$hpar" crawl - --out gone --records jsonl <stream.warc >out 2>err &
first=$!
exec 3>stream.warc
cat data/1.warc >&3
for i in $(seq 100); do
  test -z "$(ls -A gone/records 2>/dev/null)" || break
  sleep 0.1
done
rm -rf gone
exec 3>&-
wait $first
status=$?
check "a folder that was removed" 'test $status = 1 && grep -q "cannot be written.*No such file.*add --resume to try again" err && ! grep -q make.space err'

# A full disk: no file may exceed 4 KB. Under qemu-user, the programs that a program starts do not
# inherit an ignored SIGXFSZ.
if test -z "${HPAR_TEST_EMULATOR:-}"; then
  (
    ulimit -f 8
    trap '' XFSZ
    crawl data "$@" --out full --threads 2
    exit $status
  )
  status=$?
  check "a full disk" 'test $status = 1 && grep -q make.space err && grep -q "\"units_done\":0" full/summary.json'
fi
crawl data "$@" --out full --threads 2 --resume
equal full

# A stream is a unit, and parts of files are units.
cat data/1.warc | "$hpar" crawl - --out stream "$@" >out 2>err
status=$?
crawl data/1.warc --out file "$@"
check "standard input" 'test $status = 0 && cmp -s stream/summary.json file/summary.json'
crawl data/1.warc --out parts --unit-size 20000 --profile $profiles --study-sample 1/1
whole=$(sed -n 's/^"units":.*//;/^"counters"/,/^}/p' parts/summary.json)
crawl data/1.warc --out whole --profile $profiles --study-sample 1/1
check "parts of a file" 'test $status = 0 && test "$whole" = "$(sed -n "/^\"counters\"/,/^}/p" whole/summary.json)"'

# Limits.
printf 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n' >head
{ cat head && echo '<p>small'; } >small
{ cat head && awk 'BEGIN { for (i = 0; i < 40000; i++) printf "<p>text %d", i }'; } >large
{ cat head && awk 'BEGIN { for (i = 0; i < 200; i++) printf "<div>" }'; } >deep
{ record response http://a/ small && record response http://b/ large && record response http://c/ deep && record response http://d/ small; } >limits.warc
crawl limits.warc --out limits --limit depth=100,memory=256K
check "limits" 'test $status = 0 && grep -q "\"pages\":2" limits/summary.json && grep -q "\"quarantined\":2" limits/summary.json &&
  grep -q "\"reason\":\"too-large\",\"url\":\"http://b/\"" limits/quarantine.jsonl && grep -q "\"reason\":\"depth\",\"url\":\"http://c/\"" limits/quarantine.jsonl'

# A name beyond ASCII, with a byte that is not UTF-8, is the same in all results.
cp limits.warc "$(printf '\303\251\377.warc')"
crawl "$(printf '\303\251\377.warc')" --out named --limit depth=100 --fields file --records jsonl
for file in named/rows.jsonl named/records/*.jsonl named/quarantine.jsonl; do
  check "the name in $file" 'test $status = 0 && grep -q "^{\"file\":\"[^\"]*/$(printf "\303\251\\(\357\277\275\\|.ufffd\\)").warc\"" $file'
done

# Shares, and greatest values.
for i in 1 2 3; do record response http://s/$i small; done >shares.warc
{ cat head && awk 'BEGIN { printf "<p>"; for (i = 0; i < 998; i++) printf "x" }'; } >thousand
record response http://s/4 thousand >>shares.warc
crawl shares.warc --out shares --select p --select 'p, b' --select i
check "shares of pages" 'test $status = 0 && sed -n "/^## pages_with_element/,/^## attr/p" shares/summary.md | grep -q "^| body | 4 | 100.00% |$" &&
  sed -n "/^## pages_with_match/,/^## x/p" shares/summary.md | grep -q "^| p | 4 | 100.00% |$" && grep -q "^| p | 4 | 25.00% |$" shares/summary.md'
many=$(awk 'BEGIN { for (i = 0; i < 60; i++) printf "x-%03d, ", i }')
crawl shares.warc --out long --select "${many}p" --select "${many}title"
check "selectors with equal beginnings" 'test $status = 0 && grep -q "^\"$many.*p\":4,$" long/summary.json && grep -q "^\"$many.*title\":0$" long/summary.json'
check "no share of matches" 'sed -n "/^## selector_matches/,/^## pages/p" shares/summary.md | grep -q "^| p | 4 | |$"'
check "greatest values" 'grep -q "\"max\":1001,\"buckets\"" shares/summary.json && grep -q "^| page_bytes | 4 .* | 992 | 1001 |$" shares/summary.md'
crawl shares.warc --out shares_of_none --study-sample 1/1000000
check "the sample does not concern other counts" 'grep -q "\"pages\":4" shares_of_none/summary.json && "$hpar" crawl --help | grep -q "every page"'

# Rows: of matches, of pages, of responses and records; the formats; links by the base URL; null. A
# row above the limit of memory goes to the quarantine, and takes the other rows of its page along.
{ cat head && printf '<base href=/d/><p title="a\tb,&quot;c">x <a href=e>l\n1</a><a>m</a><a href="http://[">n</a>'; } >links
printf 'HTTP/1.1 404 Gone\r\nContent-Type: text/html\r\n\r\n<p>' >gone
{ record response http://Host.Example.co.uk:80/p links && record metadata http://m/ small && record response http://r/ gone; } >rows.warc
rows() { # EXPECTED FILE ARGUMENT...
  printf "$1" >expected
  file=$2
  shift 2
  rm -rf rowed
  crawl rows.warc --out rowed --profile none "$@"
  check "$*" "test \$status = 0 && cmp expected rowed/$file"
}
rows '{"host":"host.example.co.uk","tag":"a","url:href":"http://host.example.co.uk/d/e","content":"l\\u000a1"}\n{"host":"host.example.co.uk","tag":"a","url:href":null,"content":"m"}\n{"host":"host.example.co.uk","tag":"a","url:href":null,"content":"n"}\n' \
  rows.jsonl --select a --fields host,tag,url:href,content
rows 'selector,attr:title,bytes\np,"a\tb,""c",89\n' rows.csv --select p --select b --fields selector,attr:title,bytes --rows csv
rows 'attr:title\turl\na\\tb,"c\thttp://Host.Example.co.uk:80/p\n' rows.tsv --select p --fields attr:title,url --rows tsv
rows 'status,record-type,tld,rows,pages\n,metadata,m,1,1\n200,response,uk,1,1\n404,response,r,1,1\n' groups.csv --group-by status,record-type,tld --rows-of records
# A query is in the encoding of the page, except in URLs of other schemes.
{ printf 'HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=iso-8859-1\r\n\r\n' && printf '<a href="/?\351"><a href="mailto:a?\351">'; } >query
cp rows.warc kept.warc
record response http://q/ query >rows.warc
rows 'url:href\nhttp://q/?%%E9\nmailto:a?%%C3%%A9\n' rows.csv --select a --fields url:href --rows csv
# Fields of heads are UTF-8; if one is not, each byte is a character.
{ printf 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-A: \303\251\r\nX-B: \351\303\251\r\n\r\n<p>'; } >octets
record response "$(printf 'http://o/\303\251')" octets >rows.warc
rows 'url,header:x-a,header:x-b\nhttp://o/\303\251,\303\251,\303\251\303\203\302\251\n' rows.csv --fields url,header:x-a,header:x-b --rows csv
mv kept.warc rows.warc
rows 'tag,rows,pages\na,3,1\np,1,1\n' groups.csv --group-by tag --select p,a
{ cat head && awk 'BEGIN { for (i = 0; i < 400; i++) printf "<div>x" }'; } >nested
{ record response http://n/1 small && record response http://n/2 nested && record response http://n/3 small; } >nested.warc
crawl nested.warc --out nested.out --limit memory=70K --select p --select div --fields content --group-by tag
check "rows above the limit" 'test $status = 0 && test $(wc -l <nested.out/rows.jsonl) = 2 && grep -q "^p,2,2$" nested.out/groups.csv &&
  grep -q "\"reason\":\"rows\",\"url\":\"http://n/2\"" nested.out/quarantine.jsonl && grep -q "\"quarantined\":1" nested.out/summary.json'

# The public suffix list: the registries of it, rules with asterisks, and exceptions. Another list
# than that of the plan is refused.
printf '// a comment\ncom\nuk\nco.uk\n*.jp\n!city.jp\n// ===BEGIN PRIVATE DOMAINS===\nblogs.com\n' >suffixes
for host in www.a.co.uk co.uk a.b.c.jp c.jp x.city.jp me.blogs.com 10.1.2.3 '[::1]' nowhere; do record response "http://$host/" small; done >domains.warc
crawl domains.warc --out domains --group-by domain --fields host,domain --rows tsv --suffixes suffixes
printf 'host\tdomain\nwww.a.co.uk\ta.co.uk\nco.uk\t\na.b.c.jp\tb.c.jp\nc.jp\t\nx.city.jp\tcity.jp\nme.blogs.com\tblogs.com\n10.1.2.3\t\n[::1]\t\nnowhere\t\n' >expected
check "registered domains" 'test $status = 0 && cmp expected domains/rows.tsv && grep -q "^\"\?,5,5$" domains/groups.csv'
echo org >>suffixes
rm domains/units/*
crawl run domains 0
check "another list" 'test $status = 1 && grep -q "public suffix list.*not that of the plan" err'

# A sample of records is a part of a larger one, and does not depend on the division into units.
crawl data/1.warc --out tenth --sample 0.1 --fields url,date
crawl data/1.warc --out half --sample 1/2 --fields url,date
sort half/rows.jsonl >half.sorted
crawl data/1.warc --out half_of_parts --sample 0.5 --fields url,date --unit-size 20000 --threads 2
check "samples" 'test $status = 0 && cmp half/rows.jsonl half_of_parts/rows.jsonl && test $(wc -l <tenth/rows.jsonl) -lt $(wc -l <half/rows.jsonl) &&
  test -z "$(sort tenth/rows.jsonl | comm -23 - half.sorted)" && grep -q records_not_sampled half/summary.json'

# A length that is too large: the reader goes back to the next record, and reports the file and the
# offset. A length above the limit of memory needs the size of the file, which a stream lacks.
{ record response http://a/1 small && record response http://a/2 small; } >first.warc
cat first.warc >lengths.warc
for length in $(($(wc -c <small) + 10)) $(($(wc -c <small) + 3000)) 99999999; do
  record response "http://l/$length" small | sed "s/^Content-Length: .*/Content-Length: $length\r/" >>lengths.warc
  cat first.warc >>lengths.warc
done
crawl lengths.warc --out lengths
check "lengths that are too large" 'test $status = 0 && grep -q "\"pages\":8" lengths/summary.json && grep -q "\"length\":1" lengths/summary.json &&
  grep -q "\"truncated\":2" lengths/summary.json && test $(grep -c "lengths.warc.*\"offset\":[1-9]" lengths/quarantine.jsonl) = 3'
cat lengths.warc | "$hpar" crawl - --out lengths_stream >out 2>err
status=$?
sed -n '/^"counters"/,/^}/p' lengths/summary.json >counts
sed -n '/^"counters"/,/^}/p' lengths_stream/summary.json >counts_stream
check "the same in a stream" 'test $status = 0 && cmp -s counts counts_stream'
crawl lengths.warc --out lengths_limit --limit memory=1M
check "a length above the limit" 'test $status = 0 && grep -q "\"pages\":8" lengths_limit/summary.json'

# WET: the texts of pages as records of type conversion, which the program counts and does not parse.
wet() { sed 's/^WARC-Type: response/WARC-Type: conversion/; s/^Content-Type: application.http/Content-Type: text\/plain/'; }
printf 'Plain text of a page.\n<p>no element\n' >text
{ record warcinfo '' text && record response http://t/1 text && record response http://t/2 text; } | wet >plain.wet
crawl plain.wet --out wet
check "plain.wet" 'test $status = 0 && grep -q "\"records_conversion\":2" wet/summary.json && grep -q "\"records_warcinfo\":1" wet/summary.json &&
  grep -q "\"record_bytes\":$((3 * $(wc -c <text)))," wet/summary.json && ! grep -q "\"pages\"" wet/summary.json && test ! -s wet/quarantine.jsonl'
if test -e data/9.warc.gz; then
  mkdir wets
  for part in "warcinfo x" "conversion http://t/1" "conversion http://t/2"; do
    record ${part% *} ${part#* } text | wet | gzip -c >>wets/packed.wet.gz
  done
  cp plain.wet wets/plain.wat
  crawl wets --out wet_folder
  check "a folder of WET files" 'test $status = 0 && grep -q "\"units_done\":2" wet_folder/summary.json && grep -q "\"records_conversion\":4" wet_folder/summary.json'
  gzip -c <plain.wet >whole.wet.gz
  crawl whole.wet.gz --out wet_whole
  check "a WET file in one member" 'test $status = 0 && grep -q "\"records_conversion\":2" wet_whole/summary.json'

  # A list that is packed, and one that is damaged.
  ls data/* | sed 's/$/\r/' | gzip -c >list.gz
  crawl @list.gz "$@" --out packed_list
  equal packed_list
  head -c 20 list.gz >short.gz
  usage "short.gz: is damaged" 1 @short.gz --out x
fi

# WAT: metadata in JSON.
printf '{"Container":{}}' >json
record metadata http://t/1 json | sed 's/^Content-Type: .*/Content-Type: application\/json\r/' >plain.wat
record metadata http://t/2 text >>plain.wat
crawl plain.wat --out wat
check "plain.wat" 'test $status = 0 && grep -q "\"records_metadata\":2" wat/summary.json && grep -q "\"records_metadata_json\":1" wat/summary.json'

# Revisits name a record by its id, its URL and date, or its digest, also one of another file.
# member TYPE FIELD...: writes a record with these fields.
member() {
  record "$1" http://v/ small | sed '/^WARC-Target-URI: /d' >member
  shift
  sed -n 1,2p member && printf '%s\r\n' "$@" && sed 1,2d member
}
mkdir visits
{ member response 'WARC-Record-ID: <urn:x:1>' 'WARC-Target-URI: http://v/1' 'WARC-Date: 2024-01-01T00:00:00Z' 'WARC-Payload-Digest: sha1:A' &&
  member revisit 'WARC-Target-URI: http://v/1' 'WARC-Refers-To: <urn:x:1>' && member revisit 'WARC-Target-URI: http://v/1' 'WARC-Payload-Digest: sha1:B' &&
  member revisit 'WARC-Target-URI: http://v/1' && member revisit 'WARC-Target-URI: http://v/1' 'WARC-Payload-Digest: sha1:X'; } >visits/1.warc
{ member response 'WARC-Target-URI: http://v/2' 'WARC-Payload-Digest: sha1:B' && member response 'WARC-Target-URI: http://v/3' 'WARC-Payload-Digest: sha1:A' &&
  member revisit 'WARC-Refers-To-Target-URI: http://v/1' 'WARC-Refers-To-Date: 2024-01-01T00:00:00Z' &&
  record response http://v/4 gone | sed 's/^WARC-Type/WARC-Payload-Digest: sha1:C\r\n&/' && member revisit 'WARC-Payload-Digest: sha1:C'; } >visits/2.warc
crawl visits --out visited --duplicates
check "revisits" 'test $status = 0 && grep -q "\"revisits_of_pages\":3[,}]" visited/summary.json && grep -q "\"revisits_of_nothing\":2[,}]" visited/summary.json &&
  grep -q "\"revisits_of_other_responses\":1[,}]" visited/summary.json && grep -q "\"pages_with_an_earlier_digest\":1[,}]" visited/summary.json && ! grep -q "\"stored\"\|^\"revisits\"" visited/summary.json'
crawl visits --out visited_by_parts --duplicates --unit-size 300 --threads 2
sed -n '/^"counters"/,/^}/p' visited/summary.json >counts
check "revisits by parts" 'test $status = 0 && test "$(sed -n "/^\"counters\"/,/^}/p" visited_by_parts/summary.json)" = "$(cat counts)"'

# Three codings, of which the body lacks the second: the last one decodes what the first one did.
if test -e data/9.warc.gz && command -v python3 >/dev/null; then
  printf 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: deflate, gzip, gzip\r\n\r\n' >codings
  python3 -c 'import gzip, random, sys, zlib
random.seed(1)
page = b"".join(b"<p>%d</p>" % random.getrandbits(60) for i in range(20000))
sys.stdout.buffer.write(gzip.compress(zlib.compress(page)))' >>codings
  record response http://c/ codings >codings.warc
  crawl codings.warc --out codings.out
  check "a coding that the body lacks" 'test $status = 0 && grep -q "\"pages\":1" codings.out/summary.json && grep -q "\"elements\":20003" codings.out/summary.json'
fi

# Memory. The test needs no sanitizer, which keeps freed memory.
if command -v python3 >/dev/null && test -e "$kill"; then
  python3 "$source/crawl_memory.py" "$hpar" >out 2>err
  status=$?
  check "the memory of large records" 'test $status = 0'
fi

# A record that ends its process.
if test -e "$kill"; then
  { printf 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n' && echo '<p>marker that ends the process' | gzip -c; } >killer
  { for i in 1 2 3 4 5; do record response http://a/$i small; done && record response http://k/1 killer &&
    record response http://a/6 small && record response http://k/2 killer && record response http://a/7 small; } >killers.warc
  LD_PRELOAD=$kill "$hpar" crawl killers.warc --out killers --threads 2 >out 2>err
  status=$?
  check "records that end their process" 'test $status = 0 && grep -q "\"pages\":7" killers/summary.json && test $(wc -l <killers/quarantine.jsonl) = 2 &&
    grep -q "\"record\":5,\"reason\":\"killed\",\"url\":\"http://k/1\"" killers/quarantine.jsonl && grep -q "\"record\":7,\"reason\":\"killed\"" killers/quarantine.jsonl'
fi

# Export.
if python3 -c 'import sqlite3' 2>/dev/null; then
  crawl export one --sqlite one.db
  check "SQLite" 'test $status = 0 && test "$(python3 -c "import sqlite3; print(sqlite3.connect(\"one.db\").execute(\"select count(*) from records\").fetchone()[0])")" = "$(cat one/records/*.jsonl | wc -l)"'
  usage "exists; name another" 1 export one --sqlite one.db
  crawl export rowed --sqlite groups.db
  check "groups in SQLite" 'test $status = 0 && test "$(python3 -c "import sqlite3; print(sqlite3.connect(\"groups.db\").execute(\"select tag, rows from groups\").fetchall())")" = "[('"'a', 3), ('p'"', 1)]"'
  crawl export domains --sqlite domains.db
  check "rows of TSV" 'test "$(python3 -c "import sqlite3; print(sqlite3.connect(\"domains.db\").execute(\"select domain from rows where host = ?\", [\"x.city.jp\"]).fetchall())")" = "[('"'city.jp'"',)]"'
  # Values that divide lines of other formats, that are long, and empty rows of one column.
  { cat head && printf '<a href="x&#13;y"><a><a href=z>' && head -c 200000 </dev/zero | tr '\0' a; } >values
  record response http://v/ values >values.warc
  exported() { # EXPECTED ARGUMENT...
    expected=$1
    shift
    rm -rf exported exported.db*
    crawl values.warc --out exported --profile none "$@"
    crawl export exported --sqlite exported.db
    got=$(python3 -c "import sqlite3; print(*(v.replace(chr(13), '+')[:9] + ';' for v, in sqlite3.connect('exported.db').execute('select * from rows')))")
    check "export with $* ($got)" 'test $status = 0 && test "$got" = "$expected"'
  }
  exported 'x+y; ; z;' --select a --fields attr:href --rows tsv
  check "a line of TSV for each row" 'test "$(tr "\r" "\n" <exported/rows.tsv | wc -l)" = 4'
  exported 'x+y; ; z;' --select a --fields attr:href --rows csv
  exported '; ; aaaaaaaaa;' --select a --fields content --rows csv
  exported '' --select b --fields content
  usage "nothing/x.db: cannot be written: [^;]*$" 1 export one --sqlite nothing/x.db
  rm -rf exported exported.db
  crawl values.warc --out exported --profile none --fields header:Content-Type,header:content-type
  cp exported/rows.jsonl kept.jsonl
  echo '["' >exported/rows.jsonl
  usage "exported.db: cannot be written" 1 export exported --sqlite exported.db
  mv kept.jsonl exported/rows.jsonl
  crawl export exported --sqlite exported.db
  check "names that differ by case" 'test $status = 0 && python3 -c "import sqlite3; print(*sqlite3.connect(\"exported.db\").execute(\"select \\\"header:Content-Type\\\" = \\\"header:content-type_2\\\" from rows\").fetchone())" | grep -q "^1$"'
fi
with=PATH=nothing usage "apt install python3" 2 export one --sqlite two.db
usage "name one of\|--sqlite FILE or --parquet FOLDER" 2 export one
usage "has no summary.json" 1 export data --sqlite two.db

# Parquet: without pyarrow, and with it where it is installed. Debian 12 has no package of it.
mkdir without
echo 'raise ImportError("not here")' >without/pyarrow.py
with=PYTHONPATH=without usage "pip install pyarrow" 2 export one --parquet one.parquet
check "no files without pyarrow" 'test ! -e one.parquet'
# A module in place of pyarrow writes each table as a line of JSON: its schema and its rows.
if test -e one.db; then
  mkdir -p stand-in/pyarrow
  cat >stand-in/pyarrow/__init__.py <<'END'
def string(): return "string"
def int64(): return "int64"
def schema(pairs): return [list(pair) for pair in pairs]
class Table:
    @staticmethod
    def from_pydict(values, schema):
        kinds = {"string": str, "int64": int}
        assert list(values) == [name for name, _ in schema]
        for name, kind in schema:
            assert all(value is None or isinstance(value, kinds[kind]) for value in values[name]), name
        return [list(row) for row in zip(*values.values())]
END
  cat >stand-in/pyarrow/parquet.py <<'END'
import json
class ParquetWriter:
    def __init__(self, path, schema): self.file, self.schema, self.rows = open(path, "w"), schema, []
    def __enter__(self): return self
    def __exit__(self, *error):
        with self.file as file:
            json.dump([self.schema, self.rows], file)
    def write_table(self, table): self.rows += table
END
  with=PYTHONPATH=stand-in
  crawl export one --parquet stand-in.parquet
  with=
  cat >compare.py <<'END'
import json, sqlite3
database = sqlite3.connect("one.db")
for table in "counts", "quarantine", "records", "rows", "groups":
    with open("stand-in.parquet/%s.parquet" % table) as file:
        schema, rows = json.load(file)
    assert [name for name, _ in schema] == [column[1] for column in database.execute("PRAGMA table_info(%s)" % table)]
    assert rows and rows == [list(row) for row in database.execute("SELECT * FROM " + table)], table
END
  check "the calls of pyarrow" 'test $status = 0 && python3 compare.py'
fi
if python3 -c 'import pyarrow.parquet' 2>/dev/null; then
  crawl export one --parquet one.parquet
  check "Parquet" 'test $status = 0 && test "$(python3 -c "import pyarrow.parquet as p; print(p.read_table(\"one.parquet/records.parquet\").num_rows)")" = "$(cat one/records/*.jsonl | wc -l)"'
fi

# Plots: one file for each histogram.
"$source/../scripts/crawl-plots" nothing >out 2>err
check "plots of nothing" 'test $? = 1 && test $(wc -l <err) = 1'
echo 'raise ImportError("not here")' >without/matplotlib.py
PYTHONPATH=without "$source/../scripts/crawl-plots" one >out 2>err
status=$?
check "plots without matplotlib" 'test $status = 2 && grep -q "apt install python3-matplotlib" err'
if /usr/bin/python3 -c 'import matplotlib' 2>/dev/null; then
  "$source/../scripts/crawl-plots" one >out 2>err
  status=$?
  check "plots" 'test $status = 0 && test $(ls one/plots/page_*.svg | wc -l) = $(grep -c "^\"page_.*buckets" one/summary.json) && grep -q "<svg" one/plots/page_bytes.svg'
fi

# Wrong usage, before any work.
usage "name an INPUT" 2 --out x
usage "name the folder" 2 data
usage "name the folder" 2 nothing.warc --out ''
usage "'spark' is not one of threads|dask|slurm|parallel" 2 data --out x --engine spark
usage "nothing.warc: cannot be read" 1 data nothing.warc --out x
usage "@nothing\|nothing: cannot be read" 1 @nothing --out x
usage "select 'p\[', byte 3" 2 data --out x --select 'p['
usage "select 'p' occurs twice" 2 data --out x --select p --select b --select p
usage "profile: 'colours' is not" 2 data --out x --profile colours
usage "limit: 'size=3' is not" 2 data --out x --limit size=3
usage "sample: '5' is not" 2 data --out x --sample 5
usage "study-sample: '5' is not" 2 data --out x --study-sample 5
usage "fields: 'colour' is no field" 2 data --out x --fields url,colour
usage "fields: 'url' is no field, or occurs twice" 2 data --out x --fields url,url
usage "group-by: 'attr' is no field" 2 data --out x --group-by attr
usage "need --fields" 2 data --out x --rows csv
usage "rows-of is for" 2 data --out x --rows-of records
usage "needs nothing: No such file" 1 data --out x --fields domain --suffixes nothing
usage "no .warc" 1 one/units --out x
echo '<p>a page' >page.html
usage "page.html: no web archive" 2 page.html --out x
echo page.html >list
usage "page.html: no web archive" 2 data @list --out x
check "no work is lost" 'test ! -e x'
mkdir locked
cp data/1.warc locked
chmod 0 locked/1.warc
test -r locked/1.warc || usage "locked/1.warc: cannot be read" 1 data locked --out x
printf '\037\213\010\0rest' >packed.warc.gz
test -e data/9.warc.gz || usage "packed.warc.gz: gzip needs zlib: install zlib1g-dev" 2 data packed.warc.gz --out x
printf '\050\265\057\375rest' >packed.warc.zst
test -e data/9.warc.zst || usage "packed.warc.zst: Zstandard needs libzstd: install libzstd-dev" 2 data packed.warc.zst --out x
usage "not the folder of a crawl" 1 reduce data
usage "is no range" 2 run one 99
usage "cannot be written" 1 data --out nothing/x
usage "add --engine dask" 2 data --out x --scheduler tcp://127.0.0.1:1
with=PATH=nothing usage "apt install slurm-wlm" 2 data --out x --engine slurm
echo 'raise ImportError("not here")' >without/distributed.py
with=PYTHONPATH=without usage "apt install python3-distributed" 2 data --out x --engine dask
check "no work was done" 'test ! -e x'

# An archive that wget writes, with charsets, codings, chunks, redirects and errors. The codings need
# zlib, as the archive in gzip does.
if test -e data/9.warc.gz && command -v wget >/dev/null && command -v python3 >/dev/null; then
  python3 "$source/crawl_server.py" "$hpar" >out 2>err
  status=$?
  check "the archive of wget" 'test $status = 0'
fi

echo "$passed passed, $failed failed"
test $failed = 0
