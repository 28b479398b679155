#!/bin/sh
# Checks that debian/libhpar0.3.symbols has the functions of the shared library. The argument is the program.
set -eu

library=$HPAR_BUILD_DIR/libhpar.so
if ! command -v nm >/dev/null || ! test -e "$library"; then
  echo 'skipped: nm or libhpar.so is missing'
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nm -D --defined-only "$library" | awk '$3 ~ /^hpar_/ {print $3}' | sort >"$work/library"
sed -n 's/^ \(hpar_[a-z0-9_]*\)@Base .*/\1/p' "$HPAR_SOURCE_DIR/debian/libhpar0.3.symbols" | sort >"$work/package"
if ! diff -u "$work/package" "$work/library"; then
  echo 'failed: add new functions to debian/libhpar0.3.symbols, with the version that adds them'
  exit 1
fi
echo "$(wc -l <"$work/library") functions"
