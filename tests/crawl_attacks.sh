#!/bin/sh
# Attacks hpar crawl with generated archives: crawl_attacks.py says how.
#
#   HPAR_TEST_SCALE=P   percent of the 25 cases (100)

hpar=$1
command -v python3 >/dev/null || {
  echo 'skipped: python3 not found'
  exit 77
}
corpus=$HPAR_BUILD_DIR/hpar-corpus
cases=$((25 * ${HPAR_TEST_SCALE:-100} / 100 + 1))
unbounded=
grep -q -a '__asan_init\|__tsan_init' "$hpar" && unbounded=--unbounded
exec python3 "$(dirname "$0")/crawl_attacks.py" "$hpar" "$corpus" --cases "$cases" $unbounded
