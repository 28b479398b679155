#!/bin/sh
# Checks the questions of examples/crawl/questions.txt: the answers of hpar crawl are those of an
# independent script. HPAR_TEST_FULL=1 asks them about 1,000 records. Skipped without html5lib, and
# in a build without zlib.

hpar=$1
if ! /usr/bin/python3 -c 'import html5lib' 2>/dev/null; then
  echo "skipped: no html5lib for /usr/bin/python3; apt install python3-html5lib"
  exit 77
fi
records=150
test -z "${HPAR_TEST_FULL:-}" || records=1000
exec /usr/bin/python3 "$(dirname "$0")/crawl_questions.py" "$hpar" --records $records
