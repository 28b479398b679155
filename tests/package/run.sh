#!/bin/sh
# run.sh CMAKE BUILD CC: installs BUILD elsewhere and builds main.c against what is there, by CMake and by pkg-config.
set -eu

cmake=$1 build=$2 cc=$3
here=$(cd "$(dirname "$0")" && pwd)
top=$(mktemp -d "${TMPDIR:-/tmp}/hpar-package.XXXXXX")
trap 'rm -rf "$top"' EXIT
prefix=$top/installed
# A folder of its own, so that nothing in the source tree is found by chance.
mkdir "$top/user"
cp "$here/main.c" "$here/CMakeLists.txt" "$top/user/"

cat >"$top/expected" <<'TREE'
| <!DOCTYPE html>
| <html>
|   <head>
|     <title>
|       "t"
|   <body>
|     <p>
|       "Hello "
|       <b>
|         "world"
TREE

check() {
  "$@" >"$top/tree"
  diff -u "$top/expected" "$top/tree"
  echo "ok: $*"
}

"$cmake" --install "$build" --prefix "$prefix" >"$top/log"

for file in bin/hpar include/hpar/hpar.h share/man/man1/hpar.1; do
  test -f "$prefix/$file" || { echo "not installed: $file"; exit 1; }
done
library=$(find "$prefix" -name libhpar.so)
package=$(find "$prefix" -name hpar.pc)
test -n "$library" && test -n "$package"
libdir=$(dirname "$library")
"$prefix/bin/hpar" --version

if foreign=$(nm -D --defined-only "$library" | awk '$3 !~ /^hpar_/ && $2 ~ /[TDBRWV]/ {print $3}') && test -n "$foreign"; then
  echo "exported, but not of the public interface:" $foreign
  exit 1
fi

"$cmake" -S "$top/user" -B "$top/user/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" >>"$top/log"
"$cmake" --build "$top/user/build" >>"$top/log"
check "$top/user/build/with_shared"
check "$top/user/build/with_static"

if command -v pkg-config >/dev/null; then
  PKG_CONFIG_PATH=$(dirname "$package")
  export PKG_CONFIG_PATH
  "$cc" -std=c11 "$top/user/main.c" -o "$top/by_pkg_config" $(pkg-config --cflags --libs hpar) "-Wl,-rpath,$libdir"
  check "$top/by_pkg_config"
  "$cc" -std=c11 "$top/user/main.c" -o "$top/by_pkg_config_static" $(pkg-config --cflags hpar) "$libdir/libhpar.a" \
    $(pkg-config --static --libs-only-l --libs-only-other hpar | sed 's/-lhpar//')
  check "$top/by_pkg_config_static"
else
  echo "skipped: pkg-config not found"
fi
