#!/bin/sh
# Checks the questions of examples/crawl/questions.txt: the answers of hpar crawl are those of an
# independent script. HPAR_TEST_FULL=1 asks them about 1,000 records and the real pages of
# HPAR_SHARED; HPAR_WARCIO names npm's warcio to read them by. Skipped without html5lib, and in a
# build without zlib.

hpar=$1
if ! /usr/bin/python3 -c 'import html5lib' 2>/dev/null; then
  echo "skipped: no html5lib for /usr/bin/python3; apt install python3-html5lib"
  exit 77
fi
set -- --records 150
if test -n "${HPAR_TEST_FULL:-}"; then
  set -- --records 1000
  test ! -d "${HPAR_SHARED:-}/corpus/pages" || set -- "$@" --pages "$HPAR_SHARED/corpus/pages"
  test -z "${HPAR_WARCIO:-}" || set -- "$@" --warcio "$HPAR_WARCIO"
fi
exec /usr/bin/python3 "$(dirname "$0")/crawl_questions.py" "$hpar" "$@"
