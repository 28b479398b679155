#!/bin/sh
# Checks that debian/libhpar0.3.symbols has the functions of the shared libraries, and that libhpar has nothing of the
# study: no function of study.h, and none of its words. The libraries have no hooks of tests and experiments, and no
# experiment wraps functions of the library. The argument is the program.
set -eu

libraries=$HPAR_BUILD_DIR
if ! command -v nm >/dev/null || ! test -e "$libraries/libhpar.so"; then
  echo 'skipped: nm or libhpar.so is missing'
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# functions LIBRARY: the public functions of a shared library.
functions() { nm -D --defined-only "$1" | sed -n 's/.* \(hpar_[a-z0-9_]*\).*/\1/p' | sort; }

for name in libhpar libhpar-study; do
  functions "$libraries/$name.so" >"$work/library"
  sed -n "/^$name\.so/,/^lib/s/^ \(hpar_[a-z0-9_]*\)@.*/\1/p" "$HPAR_SOURCE_DIR/debian/libhpar0.3.symbols" |
    sort >"$work/package"
  if ! diff -u "$work/package" "$work/library"; then
    echo "failed: $name: add new functions to debian/libhpar0.3.symbols, with the version that adds them"
    exit 1
  fi
  echo "$name: $(wc -l <"$work/library") functions"
done

for archive in "$HPAR_BUILD_DIR"/libhpar*.a; do
  test -e "$archive" || continue
  if nm "$archive" 2>/dev/null | grep -E ' hp_(turn|worker_hook_progress|worker_call_progress_hook|memory_fail.*)$'; then
    echo "failed: $archive has hooks"
    exit 1
  fi
done
if grep -n -e '--wrap' "$HPAR_SOURCE_DIR/experiments/CMakeLists.txt"; then
  echo 'failed: experiments use <hpar/study.h>, or compile the files that have hooks'
  exit 1
fi

grep -q '^HPAR_SANITIZE:STRING=..*' "$HPAR_BUILD_DIR/CMakeCache.txt" && exit 0
functions "$libraries/libhpar-study.so" >"$work/study"
cp "$libraries/libhpar.so" "$work/stripped"
nm "$work/stripped" | awk '{print $3}' >"$work/names"
strip -d "$work/stripped" # without the names of types and files
# "prescan" is a part of the library's own prediction.
strings -a "$work/stripped" >>"$work/names"
for word in temppa hpar2013 enumerat oracle pipelin ^before-tag$ ^after-tag$ hp_record undetected audit hpar_study\\. hp_classify hpar_chunk hp_stages; do
  if grep -i "$word" "$work/names"; then
    echo "failed: libhpar has a name or text of the study, with \"$word\""
    exit 1
  fi
done
if grep -Fx -f "$work/study" "$work/names"; then
  echo 'failed: libhpar has a function of study.h'
  exit 1
fi
