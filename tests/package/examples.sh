#!/bin/sh
# examples.sh CMAKE BUILD CC SOURCE: installs BUILD, builds examples/ against it, and compares the output of each
# program with NAME.expected. NAME.input, if it exists, is its standard input.
set -eu

cmake=$1 build=$2 cc=$3 source=$4
top=$(mktemp -d "${TMPDIR:-/tmp}/hpar-examples.XXXXXX")
trap 'rm -rf "$top"' EXIT
cp -r "$source/examples" "$top/examples" # a copy, so that nothing in the source tree is found by chance
"$cmake" --install "$build" --prefix "$top/installed" >"$top/log"
"$cmake" -S "$top/examples" -B "$top/build" -DCMAKE_PREFIX_PATH="$top/installed" -DCMAKE_C_COMPILER="$cc" \
  -DCMAKE_C_FLAGS=-Werror >>"$top/log"
"$cmake" --build "$top/build" >>"$top/log"
count=0
for expected in "$top"/examples/*.expected; do
  name=$(basename "$expected" .expected)
  input=$top/examples/$name.input
  test -e "$input" || input=/dev/null
  "$top/build/$name" <"$input" >"$top/output"
  diff -u "$expected" "$top/output"
  count=$((count + 1))
done
sources=$(find "$top/examples" -maxdepth 1 -name '*.c' | wc -l)
test "$count" = "$sources" || { echo "$count of $sources examples have expected output"; exit 1; }
echo "$count passed, 0 failed"
