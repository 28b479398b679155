# Builds a source distribution of the Python package, and a wheel from it. Installs the wheel into a
# fresh environment, and runs the tests of the source distribution there. The library is not
# optimised here, to save time.
set -eu

source=$HPAR_SOURCE_DIR
. "$source/tests/support/python.sh"
find_python build venv ensurepip
if ! grep -q '^HPAR_PARALLEL:[A-Z]*=ON' "$HPAR_BUILD_DIR/CMakeCache.txt"; then
  echo "skipped: the package does not depend on this build's options"
  exit 77
fi
if grep -q '^HPAR_SANITIZE:[A-Z]*=.' "$HPAR_BUILD_DIR/CMakeCache.txt"; then
  echo "skipped: the package does not depend on the sanitizers of this build"
  exit 77
fi

top=$(mktemp -d "${TMPDIR:-/tmp}/hpar-python.XXXXXX")
trap 'rm -rf "$top"' EXIT
unset PYTHONPATH HPAR_LIBRARY HPAR_LINK || true
CFLAGS="-O0 -g0" CC=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$HPAR_BUILD_DIR/CMakeCache.txt")
# The build unpacks the sources into TMPDIR.
command -v ccache >/dev/null && CC="ccache $CC" CCACHE_BASEDIR=$top CCACHE_NOHASHDIR=1 TMPDIR=$top
export CFLAGS CC CCACHE_BASEDIR CCACHE_NOHASHDIR TMPDIR
# A copy: the build writes into the folder of the package.
mkdir "$top/source"
cp -r "$source/python" "$source/src" "$source/include" "$source/LICENSE" "$top/source/"
cd "$top/source/python"
$python -m build --no-isolation --outdir "$top/dist" . >"$top/log" 2>&1 || { tail -50 "$top/log"; exit 1; }
wheel=$(echo "$top"/dist/hpar-*-cp39-abi3-*.whl)
test -f "$wheel" || { echo "no wheel for the stable interface:" "$top"/dist/*; exit 1; }
tar -xzf "$top"/dist/hpar-*.tar.gz -C "$top"
for file in library/src/tokenizer/tokenizer.c library/include/hpar/hpar.h src/module.h tests/test_parse.py LICENSE; do
  test -f "$top"/hpar-*/$file || { echo "the source distribution lacks $file"; exit 1; }
done
$python -m venv "$top/venv"
"$top/venv/bin/pip" install -q --disable-pip-version-check --no-index "$wheel"
core=$(echo "$top"/venv/lib/python3*/site-packages/hpar/_core.abi3.so)
needed=$(objdump -p "$core" 2>/dev/null | awk '$1 == "NEEDED" && $2 !~ /^(libc|libpthread|libz|ld-linux.*)\.so/ { print $2 }')
test -z "$needed" || { echo "the wheel needs $needed"; exit 1; }
# The tag names the glibc of the newest symbol, at least 2.17.
newest=$(objdump -T "$core" 2>/dev/null | sed -n 's/.*GLIBC_2[.]\([0-9]*\).*/\1/p' | sort -n | tail -n 1)
if test -n "$newest"; then
  test "$newest" -ge 17 || newest=17
  case $wheel in *-manylinux_2_${newest}_*.whl) ;; *) echo "$wheel: the extension needs glibc 2.$newest"; exit 1 ;; esac
fi
exports=$(nm -D --defined-only "$core" 2>/dev/null | awk '$2 ~ /[TDBRV]/ && $3 != "PyInit__core" { print $3 }' | head -5)
test -z "$exports" || { echo "the extension exports" $exports; exit 1; }
cd "$top"
HPAR_TEST_SCALE=5 "$top/venv/bin/python" -m unittest discover -s "$top"/hpar-*/tests
