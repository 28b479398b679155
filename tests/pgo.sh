#!/bin/sh
# The steps of profile-guided optimisation: CMake rejects a use without a record and an unknown step. With
# HPAR_TEST_FULL=1, scripts/build-pgo also builds and records, and the program gives the same trees.

hpar=$1
command -v cmake >/dev/null || {
  echo "skipped: cmake not found"
  exit 77
}
. "$(dirname "$0")/support/tally.sh"
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# rejects SENTENCE OPTION: CMake stops with the sentence.
rejects() {
  if message=$(cmake -S "$root" -B "$work/rejected" -DHPAR_PROGRAMS=OFF -DHPAR_INSTALL=OFF -DHPAR_HWLOC=OFF -DHPAR_JEMALLOC=OFF "$2" 2>&1); then
    wrong "$2 is accepted"
  elif printf '%s\n' "$message" | tr '\n' ' ' | grep -q "$1"; then
    fine
  else
    wrong "$2: $message"
  fi
}

rejects 'no recorded *profile' -DHPAR_PROFILE=USE
rejects 'it is RECORD, USE or *empty' -DHPAR_PROFILE=MAYBE

if [ -n "$HPAR_TEST_FULL" ]; then
  if "$root/scripts/build-pgo" --quick --build "$work/pgo" >"$work/table" 2>&1; then fine; else wrong "build-pgo: $(cat "$work/table" "$work/pgo/build-pgo.log")"; fi
  grep -q '^build: optimised by a profile$' "$work/table" && fine || wrong "$(cat "$work/table")"
  grep -q '^sum ' "$work/table" && fine || wrong "$(cat "$work/table")"
  for page in "$work"/pgo/pages/*/*.html; do
    "$hpar" parse "$page" >"$work/expected"
    "$work/pgo/hpar" parse "$page" >"$work/got"
    if [ -s "$work/got" ] && cmp -s "$work/expected" "$work/got"; then fine; else wrong "the tree of $page differs"; fi
  done
fi

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
