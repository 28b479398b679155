#!/bin/sh
# test.sh HPAR-OWN-PREDICTOR HPAR-CORPUS: on the small corpus, whose pages are the same each time, every tree is the
# sequential one, and the example guesses better than "data" and no better than "oracle". Chunks count as wrong, too, if
# wrong guesses made the worker stop before.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$2" "$work/pages" >/dev/null
status=0
"$1" "$work"/pages/*.html >"$work/out" || status=$?
cat "$work/out"
awk -v status="$status" '
  / begun in the true state$/ { right[$1] = $2; chunks[$1] = $4 }
  END {
    passed = status == 0
    passed += chunks["data"] > 100 && chunks["data"] == chunks["backwards"] && chunks["data"] == chunks["oracle"]
    passed += right["backwards"] > 2 * right["data"] && right["backwards"] > 0.85 * chunks["backwards"]
    passed += right["oracle"] >= right["backwards"]
    printf "%d passed, %d failed\n", passed, 4 - passed
    exit passed < 4
  }' "$work/out"
status=0
"$1" 2>/dev/null || status=$?
test $status = 2
