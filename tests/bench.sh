#!/bin/sh
# bench.sh HPAR: checks `hpar bench` on one kernel, if hpar-bench was built, and
# scripts/bench-compare on its results.
set -u

hpar=$1
folder=$(dirname "$hpar")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

check() {
  if eval "$2"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "failed: $1"
    head -n 20 "$work/out" "$work/err"
  fi
}

# run STATUS COMMAND...: runs the command; standard output goes to out, standard error to err.
run() {
  wanted=$1
  shift
  "$@" >"$work/out" 2>"$work/err"
  got=$?
  check "$*: status $got, not $wanted" "[ $got -eq $wanted ]"
}

# Checks the message of hpar without hpar-bench or hpar-peers.
cp "$hpar" "$work/hpar"
run 0 "$work/hpar" bench --help
PATH=/usr/bin:/bin run 1 env -u HPAR_SHARED "$work/hpar" bench
check "explains how to get hpar-bench" "grep -q 'libbenchmark-dev' '$work/err'"
run 2 "$hpar" bench --repetitions none
run 2 "$hpar" bench --min-time -1
run 2 "$hpar" bench operand
run 2 "$hpar" bench --peers --filter x
PATH=/usr/bin:/bin run 1 env -u HPAR_SHARED "$work/hpar" bench --peers
check "names the folder of hpar-peers" "grep -q 'experiments/peers' '$work/err'"

if [ -x "$folder/hpar-bench" ]; then
  export HPAR_SHARED="$work"
  run 0 "$folder/hpar-bench" --list --filter '^scan/text/plain'
  check "four lengths" "[ \$(grep -c '^scan/text/plain/' '$work/out') -eq 4 ]"
  run 2 "$folder/hpar-bench" --list --filter '^nothing is called so$'
  run 2 "$hpar" bench --filter '^nothing is called so$' --out "$work/none"
  check "no folder is made for nothing" "[ ! -e '$work/none' ]"
  run 0 "$hpar" bench --quick --filter '^scan/text/plain/64$' --out "$work/results/one"
  check "every repetition" "[ \$(grep -c '^scan/text/plain/64	0	' '$work/results/one/repetitions.tsv') -eq 1 ]"
  check "the report" "grep -q '\"benchmarks\"' '$work/results/one/bench.json'"
  check "the machine" "grep -q '\"exit_status\":0' '$work/results/one/machine.json'"
  run 1 "$hpar" bench --quick --filter '^scan/text/plain/64$' --out "$work/results/one"
  check "results are kept" "grep -q 'holds results already' '$work/err'"
  "$folder/hpar-bench" --list >"$work/list" 2>&1
  # Each group once: hpar-bench measures everything, and no output reports a failure.
  run 0 "$hpar" bench --quick --out "$work/results/two" --filter \
    '^(tokenize|build|serialize|document|input/open|parse/((reused|fresh)(_read|_at_once)?|fed|kept)|pipeline/[a-z]*|pool|parallel/threads:2/chunk:auto|many/threads:2|merge(-tree)?/chunks:8|pipeline/hand_over/buffer:1024/batch:32|scan/[a-z_0-9]*/plain)(/(create_destroy|html|tree|destroy|reset|wake|round_trip))?(/(generated|asleep|spinning|64))?(/(note|manual))?(/iterations:1)?(/(manual|real)_time)?$'
  check "a line for each" "[ \$(grep -c . '$work/results/two/repetitions.tsv') -gt 20 ]"
  check "none failed" "! grep -qi 'error_occurred\": *true' '$work/results/two/bench.json'"
  for group in tokenize build serialize/html document/create_destroy document/reset/generated input/open parse/fed parse/kept parse/fresh_read parse/reused_read parse/fresh_at_once parse/reused_at_once \
    pipeline/builder pipeline/feedback pool/wake parallel/threads:2 many/threads:2 merge/chunks:8 merge-tree/chunks:8; do
    grep -q "^$group" "$work/list" || continue # without the parallel parser
    check "$group was measured" "grep -q '^$group' '$work/results/two/repetitions.tsv'"
  done
  # Pages of another corpus.
  mkdir -p "$work/corpus/paper"
  printf '<!DOCTYPE html><p>a<plaintext>b' >"$work/corpus/paper/a.html"
  printf '<title>c</title><script>d</script><textarea>e</textarea>' >"$work/corpus/paper/b.html"
  run 0 "$hpar" bench --quick --out "$work/results/paper" --filter '^(tokenize|parse/reused)/paper(/[ab])?$'
  for name in tokenize/paper tokenize/paper/a parse/reused/paper parse/reused/paper/b; do
    check "$name was measured" "grep -q '^$name	' '$work/results/paper/repetitions.tsv'"
  done
  rm -r "$work/corpus"
  run 0 "$folder/hpar-bench" --help
  run 0 "$folder/hpar-bench" --version
  check "its version and commit" "grep -q '^hpar-bench [0-9.]*, commit ' '$work/out'"
  for wrong_use in '--min-time x' '--min-time -1' '--repetitions 0' '--repetitions 1x' '--nope' 'operand' '--filter ['; do
    run 2 "$folder/hpar-bench" $wrong_use
  done
  run 1 "$folder/hpar-bench" --quick --filter '^scan/text/plain/64$' --raw "$work/no/folder.tsv"
  check "names the file that cannot be written" "grep -q 'cannot be written' '$work/err'"
  run 1 "$hpar" bench --quick --filter '^scan/text/plain/64$' --out /dev/null/results
  check "names the folder that cannot be made" "grep -q '/dev/null/results: cannot be made' '$work/err'"
  run 1 "$hpar" bench --quick --filter '^scan/text/plain/64$' --out "$work/$(printf 'x%.0s' $(seq 300))/$(printf 'y/%.0s' $(seq 2000))"
  mkdir "$work/here" # run counts in this shell, so that no failure is lost
  for more in '--min-time 0.001 --repetitions 2' ''; do
    run 0 env -C "$work/here" "$hpar" bench --quick --filter '^scan/text/plain/64$' $more
  done
  check "stores results in the default folder" "[ \$(find '$work/here/results' -name bench.json | wc -l) -eq 2 ]"
  printf '#!/bin/sh\nexit 3\n' >"$work/hpar-bench"
  chmod +x "$work/hpar-bench"
  run 1 "$work/hpar" bench --quick --out "$work/results/three"
  check "reports that hpar-bench does not run" "grep -q 'hpar-bench: does not run' '$work/err'"
  printf '#!/bin/sh\ncase "$1" in --version) echo "hpar-bench 1, commit abc";; *) case "$*" in *--list*) echo x;; *) kill -9 $$;; esac;; esac\n' >"$work/hpar-bench"
  run 1 "$work/hpar" bench --quick --out "$work/results/four"
  check "reports that hpar-bench was killed" "grep -q 'ended with status 137' '$work/err' && grep -q '\"commit\":\"abc\"' '$work/results/four/machine.json'"
  rm "$work/hpar-bench"
  printf '#!/bin/sh\necho "$@" >"%s/peers-arguments"\n' "$work" >"$work/hpar-peers"
  chmod +x "$work/hpar-peers"
  run 0 "$work/hpar" bench --peers --quick --repetitions 3 --out "$work/results/five" a.html b.html
  check "passes the arguments to hpar-peers" "grep -q -- '--rounds 1 --warm 0 --rounds 3 --out $work/results/five -- a.html b.html' '$work/peers-arguments'"
  run 2 "$work/hpar" bench --peers $(seq 100)
  rm "$work/hpar-peers"
else
  echo "skipped: $folder/hpar-bench not built"
fi

peers=$HPAR_SOURCE_DIR/experiments/peers/hpar-peers
if command -v python3 >/dev/null; then
  printf '<!DOCTYPE html><title>a</title><p>b<table><tr>c' >"$work/a.html"
  printf '<meta charset=latin1><svg><a xlink:href=x y=1></svg>\351' >"$work/b.html"
  run 0 python3 "$peers" --help
  run 2 python3 "$peers" --only nobody "$work/a.html"
  python=python3
  . "$HPAR_SOURCE_DIR/tests/support/python.sh"
  if [ -e "$folder/libhpar.so" ] && ! loads_library; then
    run 1 python3 "$peers" --build "$folder" --only libxml2 --warm 0 --rounds 1 "$work/a.html"
    check "hpar does not run" "grep -q '^hpar-peers: hpar does not run' '$work/err'"
  elif [ -e "$folder/libhpar.so" ] && ! nm "$folder/libhpar.so" 2>/dev/null | grep -q __asan_init; then
    run 0 env PKG_CONFIG_PATH=/nowhere PKG_CONFIG_LIBDIR=/nowhere python3 "$peers" --build "$folder" --only lexbor \
      --warm 0 --rounds 1 "$work/a.html" "$work/b.html"
    check "ours" "grep -q '2 of 2' '$work/out'"
    check "explains how to get lexbor" "grep -q 'without lexbor: .*github.com/lexbor' '$work/out'"
    run 0 python3 "$peers" --build "$folder" --only libxml2 --warm 0 --rounds 1 "$work/a.html"
    run 0 python3 "$peers" --build "$folder" --only libxml2,hpar-at-once --warm 0 --rounds 1 --small --shortest "$HPAR_SOURCE_DIR/README.md"
    check "small documents" "grep -q '^4000 bytes: 1 pages' '$work/out'"
    check "the forms" "grep -Eq '^ +fresh .* reused .* fresh-read .* reused-read .* new +ours/it' '$work/out'"
    run 0 python3 "$peers" --build "$folder" --only libxml2 --warm 0 --rounds 1 "$work/a.html"
    check "libxml2 or how to get it" "grep -Eq '^libxml2|without libxml2: .*libxml2-dev' '$work/out'"
  fi
fi

script=$HPAR_SOURCE_DIR/scripts/bench-compare
if command -v python3 >/dev/null; then
  run 0 python3 "$script" --help
  run 2 python3 "$script"
  run 2 python3 "$script" "$work/missing" "$folder"
  if [ -x "$folder/hpar-bench" ]; then
    run 0 python3 "$script" --rounds 3 --min-time 0.001 --tolerance 10000 --filter '^scan/text/plain/64$' \
      "$folder" "$folder"
    check "a line for it" "grep -q 'scan/text/plain/64' '$work/out'"
  fi
else
  echo "skipped: python3 not found"
fi

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
