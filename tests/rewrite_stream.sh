#!/bin/sh
# Rewrites a long stream in 200,000 KB of address space: 100 MB, or 10 GB with HPAR_TEST_FULL=1. The
# stream repeats a generated page. Rules that match nothing leave it unchanged; the memory of the
# rewriter does not depend on its length.
hpar=$1
build=${HPAR_BUILD_DIR:-$(dirname "$hpar")}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
passed=0
failed=0
megabytes=100
test -n "$HPAR_TEST_FULL" && megabytes=10240

if ! (ulimit -v 200000 && "$hpar" --version >"$dir/version") 2>/dev/null; then
  echo "skipped: hpar does not start in 200,000 KB of address space"
  exit 77
fi
"$build/hpar-corpus" generate --like "$HPAR_SOURCE_DIR/corpus/profiles/qq.json" --size 10M --seed 7 >"$dir/page" || exit 1

emit() {
  left=$megabytes
  while test "$left" -gt 0; do
    cat "$dir/page"
    left=$((left - 10))
  done
}

# rewrite ARGUMENT...: rewrites the stream and prints the checksum and the length of the output.
rewrite() {
  emit | (ulimit -v 200000 && "$hpar" rewrite "$@" --encoding utf-8 --stats=json - 2>"$dir/stats") | cksum
}

check() {
  if test "$2" = "$3"; then passed=$((passed + 1)); else
    failed=$((failed + 1))
    echo "failed: $1: $2, expected $3; $(cat "$dir/stats")"
  fi
}

# at_most NAME LIMIT: checks a counter of the last run.
at_most() {
  value=$(sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" "$dir/stats")
  if test -n "$value" && test "$value" -le "$2"; then passed=$((passed + 1)); else
    failed=$((failed + 1))
    echo "failed: $1 is $value, at most $2 expected; $(cat "$dir/stats")"
  fi
}

expected=$(emit | cksum)
check "no match" "$(rewrite -s x-none --remove)" "$expected"
at_most memory_bytes 1000000
at_most held_bytes 70000
check "no match below an element" "$(rewrite -s 'x-none y:nth-child(2)' --remove)" "$expected"
at_most memory_bytes 2000000
# an attribute that each link receives
links=$(grep -o '<a[ >]' "$dir/page" | wc -l)
length=$(rewrite -s a --set zq 1 | cut -d' ' -f2)
edits=$(sed -n 's/.*"matches":\([0-9]*\).*/\1/p' "$dir/stats")
check "bytes of $links links a page" "$length" "$((${expected#* } + edits * 7))"
echo "$megabytes MB: $(cat "$dir/stats")"
# Several threads take 400,000 KB at most. They hold one feed, and the logs of the chunks in flight.
parallel() {
  emit | (ulimit -v 400000 && "$hpar" rewrite "$@" --encoding utf-8 --mode parallel --threads 8 -) | cksum
}
check "no match, several threads" "$(parallel -s x-none --remove)" "$expected"
check "links, several threads" "$(parallel -s a --set zq 1)" "$(rewrite -s a --set zq 1)"
echo "$passed passed, $failed failed"
test $failed = 0
