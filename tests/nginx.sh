#!/bin/sh
# Checks the module for nginx with a real nginx: contrib/nginx/test.py, a sample. The argument is the program.
# HPAR_TEST_FULL=1: 100000 requests, 20 minutes.
set -eu

command -v python3 >/dev/null || {
  echo 'skipped: python3 is missing'
  exit 77
}
module=$HPAR_BUILD_DIR/ngx_http_hpar_filter_module.so
set -- "$module" "$1" --requests 400 --large 4000000
pages=${HPAR_SHARED:-$HPAR_SOURCE_DIR/../shared}/corpus/pages
test ! -d "$pages" || set -- "$@" --pages "$pages"
test -z "${HPAR_TEST_FULL:-}" || set -- "$@" --requests 100000 --large 20000000
if test -e "$module" && grep -q __asan_init "$module"; then
  # The sanitizers must come before nginx. nginx leaks when it refuses its configuration, and test.py allows that.
  set -- "$@" --preload "$(cc -print-file-name=libasan.so):$(cc -print-file-name=libubsan.so)"
elif test -e "$module" && grep -q __tsan_init "$module"; then
  echo 'skipped: nginx runs the module on one thread'
  exit 77
fi
exec python3 "$HPAR_SOURCE_DIR/contrib/nginx/test.py" "$@"
