#!/bin/sh
# Checks that hpar crawl writes equal bytes on one process, on two, and after it was ended at random
# moments and resumed: by SIGKILL and by SIGTERM, 3 times each, and 20 times with HPAR_TEST_FULL=1.

hpar=$1
command -v python3 >/dev/null || {
  echo 'skipped: python3 not found'
  exit 77
}
moments=3
test -z "${HPAR_TEST_FULL:-}" || moments=20
exec python3 "$(dirname "$0")/crawl_resume.py" "$hpar" "$HPAR_BUILD_DIR/hpar-corpus" --moments $moments
