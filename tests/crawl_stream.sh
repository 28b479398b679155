#!/bin/sh
# Sends gzip through one process of hpar crawl, with damage in between: 30 MB, and 20 GB with
# HPAR_TEST_FULL=1. The quarantine has each place, no page is lost, and the memory is bounded.

hpar=$1
command -v python3 >/dev/null || {
  echo 'skipped: python3 not found'
  exit 77
}
megabytes=30
test -z "${HPAR_TEST_FULL:-}" || megabytes=20480
unbounded=
grep -q -a '__asan_init\|__tsan_init' "$hpar" && unbounded=--unbounded
exec python3 "$(dirname "$0")/crawl_stream.py" "$hpar" "$HPAR_BUILD_DIR/hpar-corpus" --megabytes $megabytes $unbounded
