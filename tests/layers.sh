# Checks the numbers of scripts/house that have limits, and the order of the modules with
# scripts/check-layers. Checks that this script reports an upward include, an upward declaration, an
# upward call, a circle and an unknown module. Checks that scripts/mutate-dispositions finds its
# texts.
if ! command -v python3 >/dev/null; then
  echo "skipped: python3 not found (Debian: python3)"
  exit 77
fi
check="python3 -B $HPAR_SOURCE_DIR/scripts/check-layers"
if command -v nm >/dev/null; then
  $check --objects "$HPAR_BUILD_DIR" || exit 1
else
  $check || exit 1
fi

numbers=$(python3 -B "$HPAR_SOURCE_DIR/scripts/house") || exit 1
for limit in 'structs above 25 fields *0$' 'struct members named outside *0 in 0 files$' \
    'headers with one includer .* 0 of them below 30 lines$' 'functions above 80 lines *0$'; do
  if ! echo "$numbers" | grep -q "^$limit"; then
    echo "failed: scripts/house prints no line '$limit'; with --list it names what is wrong"
    exit 1
  fi
done
python3 -B "$HPAR_SOURCE_DIR/scripts/mutate-dispositions" --check || exit 1

tree=$(mktemp -d) || exit 1
trap 'rm -rf "$tree"' EXIT
failures=0

# expect PATTERN: the script fails for the tree and prints the pattern.
expect() {
  if $check --root "$tree" >"$tree/output"; then
    echo "failed: check-layers accepts a tree that must give: $1"
    failures=1
  elif ! grep -q "$1" "$tree/output"; then
    echo "failed: no line of this output matches: $1"
    cat "$tree/output"
    failures=1
  fi
  rm -rf "$tree/src"
}

mkdir -p "$tree/src/base" "$tree/src/merge"
echo 'struct hp_x { int x; };' >"$tree/src/merge/x.h"
printf '\n#include "merge/x.h"\n' >"$tree/src/base/a.c"
expect '^src/base/a.c:2: module base includes "merge/x.h", but module merge is above base; '

mkdir -p "$tree/src/base" "$tree/src/merge"
echo 'struct hp_x { int x; };' >"$tree/src/merge/x.h"
printf '/* struct hp_y; */\nstruct hp_x;\n' >"$tree/src/base/a.h"
expect '^src/base/a.h:2: module base names struct hp_x of merge/x.h, but module merge is above base; '

mkdir -p "$tree/src/text/scan" "$tree/src/text/encoding"
echo '#include "text/encoding/b.h"' >"$tree/src/text/scan/a.h"
echo '#include "text/scan/a.h"' >"$tree/src/text/encoding/b.c"
echo 'int b;' >"$tree/src/text/encoding/b.h"
expect '^src/text/scan/a.h:1: text/scan includes "text/encoding/b.h", and text/encoding needs text/scan in turn; '

mkdir -p "$tree/src/misc"
echo 'int a;' >"$tree/src/misc/a.c"
expect '^src/misc/a.c:1: module misc is not in the order; '

mkdir -p "$tree/src/base" "$tree/src/merge"
echo 'void hp_x(void); void hp_y(void) { hp_x(); }' >"$tree/src/base/a.c"
echo 'void hp_x(void) {}' >"$tree/src/merge/x.c"
if command -v nm >/dev/null && command -v cc >/dev/null; then
  for file in base/a merge/x; do
    mkdir -p "$tree/CMakeFiles/hpar.dir/src/${file%/*}"
    cc -c "$tree/src/$file.c" -o "$tree/CMakeFiles/hpar.dir/src/$file.c.o"
  done
  check="$check --objects $tree"
  expect '^src/base/a.c:1: module base uses hp_x of merge/x.c, but module merge is above base; '
fi

exit $failures
