# Builds the Node package in contrib/node with the library of this build, and runs its tests.
set -eu

build=$HPAR_BUILD_DIR source=$HPAR_SOURCE_DIR
cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
if ! command -v node >/dev/null || ! node -e 'require("node:test")' 2>/dev/null; then
  echo 'skipped: node 18 or later not found'
  exit 77
fi
if test -n "$(cached HPAR_SANITIZE)" || ! test -e "$build/libhpar.so"; then
  echo 'skipped: the package needs the shared library, and node runs without sanitizers'
  exit 77
fi
. "$(dirname "$0")/support/scratch.sh"
CC=$(cached CMAKE_C_COMPILER)
CFLAGS='-O1 -Wall -Wextra -Werror'
HPAR_FLAGS="-I$source/include -L$build -lhpar -Wl,-rpath,$build"
HPAR_NODE=$dir/hpar.node
export CC CFLAGS HPAR_FLAGS HPAR_NODE
status=0
node "$source/contrib/node/build.js" "$HPAR_NODE" || status=$?
if test $status = 77; then
  echo 'skipped: the headers of node not found'
  exit 77
fi
test $status = 0
node --test "$source/contrib/node/test"
