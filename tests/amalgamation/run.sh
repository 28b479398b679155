#!/bin/sh
# run.sh CMAKE BUILD CC SOURCE: joins the library into two files and compiles them with one line, without warnings, with
# the build's compiler and with Clang and musl-gcc where they are installed. The programs print the same pages as hpar.
set -eu

build=$2 cc=$3 source=$4
top=$(mktemp -d "${TMPDIR:-/tmp}/hpar-amalgamation.XXXXXX")
trap 'rm -rf "$top"' EXIT
cd "$top"
"$source/scripts/amalgamate" --out . "$build/amalgamation.sources" 2>log || { cat log; exit 1; }
cp "$source/tests/amalgamation/main.c" .

printf '<!doctype html><title>a</title><table><td>b<p>c<b>d</table>e&amp;&nGt;f<svg><title>g</svg>' >plain.html
printf '<meta charset=shift_jis><p title="\202\240">\203\\\201\133\203h' >shift_jis.html
printf '<meta charset=windows-1251><p>\317\360\350\342\345\362<ul><li>1<li>2</ul>' >cyrillic.html
printf '<meta charset=big5><p>\244\244\244\345<select><option>1<option>2</select><template><tr>' >big5.html
set -- plain.html shift_jis.html cyrillic.html big5.html
if test -x "$build/hpar-corpus"; then
  for profile in "$source"/corpus/profiles/*.json; do
    name=$(basename "$profile" .json).html
    "$build/hpar-corpus" generate --like "$profile" --size 60K --seed 7 >"$name"
    set -- "$@" "$name"
  done
fi
for page; do "$build/hpar" parse --mode sequential --format html "$page"; done >expected

count=0
for compiler in "$cc" clang-14 musl-gcc; do
  command -v "$compiler" >/dev/null || continue
  "$compiler" -O0 -Wall -Wextra -Werror -c hpar.c
  "$compiler" -O0 -Wall -Wextra -Werror main.c hpar.o -o program -lm
  ./program "$@" >output
  cmp expected output
  count=$((count + 1))
done
echo "$count compilers, $# pages"
