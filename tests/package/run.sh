#!/bin/sh
# run.sh CMAKE BUILD CC SOURCE: uses HPar as other projects do. It installs BUILD into a prefix and builds main.c against
# the prefix, with CMake and with pkg-config; follows the installation lines of README; adds SOURCE as a subproject.
set -eu

cmake=$1 build=$2 cc=$3 source=$4
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

if foreign=$(nm -D --defined-only "$library" | awk '$3 !~ /^hpar_|@HPAR_PRIVATE_/ && $2 ~ /[TDBRWV]/ {print $3}') && test -n "$foreign"; then
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

# README: its example, and its lines for an installation in ~/.local, except the first, which builds HPar.
awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' "$source/README.md" >"$top/user/program.c"
sed -n '/^ *cmake --install .*--prefix ~/,/^ *cc /p' "$source/README.md" |
  sed "s|build/release|'$build'|; s|^ *cc |    '$cc' |; s|^    cmake|    '$cmake'|" >"$top/user/install"
test "$(wc -l <"$top/user/install")" -ge 3 || { echo "README has no installation lines"; exit 1; }
mkdir "$top/home"
if command -v pkg-config >/dev/null && test "$(basename "$libdir")" = lib; then
  (cd "$top/user" && unset PKG_CONFIG_PATH LD_LIBRARY_PATH && HOME=$top/home && export HOME && . ./install) >>"$top/log"
  (unset LD_LIBRARY_PATH && "$top/user/program") >"$top/lines"
  cp "$source/examples/page.expected" "$top/expected-lines"
  diff -u "$top/expected-lines" "$top/lines"
  echo "ok: README"
fi

# A subproject: no cache variables, no programs, no tests, and only the user's own files in an installation.
mkdir "$top/sub"
cp "$here/main.c" "$top/sub/"
cp -r "$here/subproject" "$top/sub/project"
"$cmake" -S "$top/sub/project" -B "$top/sub/build" -DHPAR_SOURCE="$source" -DCMAKE_C_COMPILER="$cc" \
  -DCMAKE_INSTALL_PREFIX="$top/sub/installed" >>"$top/log"
"$cmake" --build "$top/sub/build" --parallel "$(nproc)" >>"$top/log"
check "$top/sub/build/with_shared"
check "$top/sub/build/with_static"
"$cmake" --install "$top/sub/build" >>"$top/log"
installed=$(cd "$top/sub/installed" && find . -type f)
test "$installed" = ./bin/with_shared || { echo "the subproject installs:" $installed; exit 1; }
if grep -q hwloc "$top/sub/build/CMakeCache.txt" && ! grep -q '^HPAR_HWLOC:STRING=OFF' "$top/sub/build/CMakeCache.txt"; then
  echo "the subproject looks for hwloc"
  exit 1
fi
