#!/bin/sh
# Checks the program hpar while the system refuses a service: memory at each allocation, address
# space, threads, processors for binding, encodings, input, processes. The script preloads
# refuse/refuse.c, which reports the number of calls. Each time hpar makes the same tree without the
# service, or reports the problem and exits with 1. It never crashes. For memory, the script refuses
# the n-th allocation for every n, alone and with all later allocations.

hpar=$1
refuse=$HPAR_BUILD_DIR/tests/librefuse.so
test -e "$refuse" || {
  echo "skipped: $refuse is not built: sanitizers, or another C library"
  exit 77
}
. "$(dirname "$0")/support/tally.sh"
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2

check() { if eval "$2"; then fine; else wrong "$1 (status $status): $2"; fi; }

# refused WHAT ARGUMENT...: runs hpar while the library refuses WHAT. Sets `called` to the number of
# calls and `times` to the number of refusals.
refused() {
  what=$1
  shift
  HPAR_REFUSE=$what HPAR_REFUSE_LOG=log LD_PRELOAD=$refuse "$hpar" "$@" >out 2>err <in
  status=$?
  called=0 times=0
  while read -r kind c t; do
    test "$kind" != "${what%%:*}" || { called=$c && times=$t; }
  done <log
}

parallel=no
"$hpar" parse --predictor help >names 2>/dev/null && parallel=yes
: >in
mkdir pages
awk 'BEGIN {
  print "<!DOCTYPE html><title>t</title><style>b{}</style>"
  for (i = 0; i < 40; i++) print "<div class=a" i "><p>text <b>bold</b> &amp; <br/>more<table><tr><td>cell</table></div>"
  print "<svg><path d=x /><![CDATA[x]]></svg><textarea>x</textarea><x-own>y<template><p>z</template>"
}' >pages/a.html
printf '<p>caf\351<p b=1 b=2>x<title>\351</title>' >pages/b.html

# Refuses each allocation of a command. If the command succeeds, its output equals the output with
# enough memory, unless the output contains times.
total=0 survived=0
every() {
  same=$1
  shift
  "$hpar" "$@" >expected 2>/dev/null <in
  for later in '' +; do
    n=1
    while :; do
      refused "memory:$n$later" "$@"
      test "$times" -gt 0 || break
      total=$((total + 1))
      if [ $status -eq 0 ]; then
        survived=$((survived + 1))
        test "$same" = times || check "hpar $*, allocation $n$later" 'cmp -s out expected'
      else
        check "hpar $*, allocation $n$later" '[ $status -eq 1 ] && grep -q "out of memory\|cannot be written" err'
      fi
      # Refuses all later allocations, too. The last allocations are nearly the same for each
      # command.
      if [ -n "$later" ] && [ $n -gt 12 ]; then n=$((n + n / 4)); else n=$((n + 1)); fi
    done
    check "hpar $*" '[ $n -gt 2 ]'
  done
}
every same parse --mode sequential pages/a.html
every same parse --errors --format html --stats pages/b.html
every same parse --many --format html pages
every same tokens --encoding latin1 pages/b.html
cp pages/b.html in
every same parse --errors -
: >in
every times compare --repeat 1 pages
if [ $parallel = yes ]; then
  every same parse --mode parallel --threads 2 --chunk-size 700 pages/a.html
  every same parse --cuts 300,900,1500 pages/a.html
  every same parse --mode pipelined pages/a.html
  every times explain --chunks 3 pages/a.html # reports that a chunk had no memory
  every times explain --json --chunks 3 pages/b.html
  every times explain --chunks 3 -o - pages/a.html
  every same explain --mode pipelined pages/b.html
  every times trace --threads 2 --chunk-size 700 pages/a.html
  every same profile --json pages
  every times project --repeat 1 --cores 1,3 --json pages/a.html
  every times compare --repeat 1 --many --threads 2 pages/a.html
  "$hpar" profile pages -o profile.json
  printf '{"format":"hpar-profile-1","states_by_bytes":[{"before":"word","at":"<p","states":{"data":2,"comment":1}}]}' >few.json
  every same parse --executor inline --chunks 3 --profile few.json pages/a.html
fi
echo "$total allocations refused, $survived of which hpar did without"

# No address space for a document.
refused map:1+ parse pages/a.html
check 'no address space' '[ $status -eq 1 ] && [ "$times" -gt 0 ] && grep -q "out of memory" err && [ ! -s out ]'
for n in 1 2 3 4 5 6 7 8; do
  refused map:$n parse pages/a.html
  check "address space, piece $n" '[ $status -eq 0 ] || { [ $status -eq 1 ] && grep -q "out of memory" err; }'
done

# The embedded jemalloc initialises itself at its first use, and reports a failure.
if "$hpar" parse --allocator jemalloc pages/a.html >out 2>err; then
  for n in 1 2 3 4 5 6 7 8; do
    for later in '' +; do
      refused map:$n$later parse --allocator jemalloc pages/a.html
      check "jemalloc, piece $n$later" '[ $status -eq 0 ] || { [ $status -eq 1 ] && grep -q "out of memory" err; }'
    done
  done
fi

# Input that ends early.
for n in 1 2; do
  refused read:$n parse pages/a.html
  check "reading, call $n" '[ $status -eq 1 ] && [ ! -s out ] && grep -q "cannot be read: Input/output error" err'
  cp pages/a.html in
  refused read:$n parse -
  check "reading standard input, call $n" '[ $status -eq 1 ] && [ ! -s out ] && grep -q "cannot be read: Input/output error" err'
  : >in
done

# hpar itself does not use huge pages or NUMA. If other code in the process does, the tree does not
# depend on it.
"$hpar" parse --mode sequential pages/a.html >expected
for mode in sequential $(test $parallel = no || echo parallel); do
  for n in policy policy:1; do
    refused $n parse --mode $mode --threads 2 pages/a.html
    check "huge pages and NUMA refused, $mode" '[ $status -eq 0 ] && cmp -s out expected'
  done
done

if [ $parallel = yes ]; then
  # Threads: the system refuses all threads, or all but the first.
  for n in threads threads:2+; do
    refused $n parse --mode parallel --threads 4 --chunk-size 700 --stats=json pages/a.html
    check "$n refused" '[ $status -eq 0 ] && cmp -s out expected && [ "$times" -gt 0 ]'
    want=1
    test $n = threads || want=2
    check "$n refused, and said" 'grep -q "\"threads\": *$want[,}]" err'
    refused $n parse --mode pipelined pages/a.html
    check "$n refused, pipelined" '[ $status -eq 0 ] && cmp -s out expected'
    refused $n parse --many --threads 3 --format none --stats=json pages
    check "$n refused, many" '[ $status -eq 0 ] && grep -q "\"documents\": *2" out'
  done

  # Binding of threads, and reading the allowed processors.
  refused affinity parse --mode parallel --threads 2 --bind cores --stats=json pages/a.html
  check 'binding refused' '[ $status -eq 0 ] && cmp -s out expected && [ "$times" -gt 0 ] && grep -q "\"bind\": *\"refused\"" err'
  refused processors parse --mode parallel --threads 2 --bind cores --stats=json pages/a.html
  check 'no list of processors' '[ $status -eq 0 ] && cmp -s out expected && [ "$times" -gt 0 ] && grep -q "\"bind\": *\"refused\"" err'
  refused affinity parse --many --threads 2 --bind cores --format none --stats=json pages
  check 'binding refused, many' '[ $status -eq 0 ] && [ "$times" -gt 0 ] && grep -q "\"bind\": *\"refused\"" out'
  refused processors compare --json --repeat 1 pages/a.html
  check 'no list of processors, compare' '[ $status -eq 0 ] && [ "$times" -gt 0 ]'
fi

# Processes: hpar bench reads the version of hpar-bench, and runs it.
if [ -x "$(dirname "$hpar")/hpar-bench" ]; then
  for n in fork pipe fork:2+; do
    refused $n bench --quick --filter '^scan/text/plain/64$' --out results-$n
    check "$n refused" '[ $status -eq 1 ] && [ "$times" -gt 0 ] && [ -s err ]'
  done

  # A benchmark without memory reports it. The allocations before the first benchmark are for pages,
  # which come from the tests.
  bench=$(dirname "$hpar")/hpar-bench
  export HPAR_SHARED="$work"
  LD_PRELOAD=$refuse HPAR_REFUSE_LOG=log "$bench" --list >names 2>err
  while read -r kind c t; do test "$kind" != memory || before=$c; done <log
  short=0
  for name in tokenize/generated/note input/open/generated/note parse/fed/generated/note parse/kept/generated/note \
    parse/fresh/generated/note parse/reused/generated/note "pipeline/builder/generated/note.*" "pipeline/feedback/generated/note.*" \
    "pipeline/tokenizer/generated/note.*" 'pipeline/hand_over/buffer:64.*' \
    'parallel/threads:2/chunk:auto/generated/note.*' 'merge/chunks:2/generated.*' 'many/threads:2/generated.*' \
    'serialize/html/generated' 'serialize/tree/generated' 'document/.*' 'pool/wake/asleep.*' 'pool/round_trip/asleep.*' 'build/generated.*'; do
    grep -q "^${name%%.\**}" names || continue # without the parallel parser
    for n in 1 6 20; do
      HPAR_REFUSE=memory:$((before + n))+ LD_PRELOAD=$refuse "$bench" --quick --filter "^$name\$" >out 2>err
      status=$?
      check "$name, allocation $n" '[ $status -eq 0 ] || { [ $status -eq 1 ] && grep -q "out of memory\|cannot be had" out err; }'
      test $status -eq 0 || short=$((short + 1))
    done
  done
  check 'some benchmarks lacked memory' '[ $short -gt 20 ]'
fi

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
