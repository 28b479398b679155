#!/bin/sh
# Checks archives of other machines: https:// by curl, s3:// by aws. crawl_remote.py says how.

hpar=$1
for program in python3 curl; do
  command -v $program >/dev/null && continue
  echo "skipped: no $program"
  exit 77
done
exec python3 "$(dirname "$0")/crawl_remote.py" "$hpar" "$HPAR_BUILD_DIR/hpar-corpus"
