# Builds the Python extension with the library of this build, and runs its tests. A sanitizer of the
# build also checks the extension. Under TSan, only the tests run whose names contain "thread".
# HPAR_TEST_PYTHON names another interpreter. With a debug interpreter, python3-dbg, each test runs five
# times, and must leave no reference behind.
set -eu

build=$HPAR_BUILD_DIR source=$HPAR_SOURCE_DIR
. "$source/tests/support/python.sh"
find_python

cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
if test "$(cached HPAR_PARALLEL)" != ON; then
  echo "skipped: the Python package needs the parallel parser"
  exit 77
fi
sanitizers=$(cached HPAR_SANITIZE)
CC=$(cached CMAKE_C_COMPILER)
CFLAGS=$(cached CMAKE_C_FLAGS) LDFLAGS=$(cached CMAKE_C_FLAGS) preload= only=
if test "$(cached HPAR_PROFILE)" = RECORD; then
  LDFLAGS="$LDFLAGS -fprofile-generate"
fi
if test -n "$sanitizers"; then
  case $("$CC" --version) in *clang*) echo "skipped: the test preloads the sanitizers of GCC only"; exit 77 ;; esac
  CFLAGS="$CFLAGS -O1 -g -fsanitize=$sanitizers -fno-sanitize-recover=all -fno-omit-frame-pointer"
  LDFLAGS="$LDFLAGS -fsanitize=$sanitizers"
  case $sanitizers in
  *address*) preload="$("$CC" -print-file-name=libasan.so) $("$CC" -print-file-name=libubsan.so)" ;;
  *thread*)
    preload=$("$CC" -print-file-name=libtsan.so)
    only='-k *hread*'
    ;;
  *) echo "skipped: no library to preload for $sanitizers"; exit 77 ;;
  esac
  HPAR_TEST_SANITIZER=$sanitizers
  export HPAR_TEST_SANITIZER
fi
HPAR_LIBRARY=$build/libhpar_python.a
HPAR_LINK=$(sed -n 's/^Libs.private: //p' "$build/hpar.pc" | sed 's/-lm//')
for name in ZLIB LIBDEFLATE ZSTD BROTLI; do # of the reader of web archives
  HPAR_LINK="$HPAR_LINK $(cached "HPAR_PC_${name}_LDFLAGS" | tr ';' ' ')"
done
export CC CFLAGS LDFLAGS HPAR_LIBRARY HPAR_LINK

base=$build/python$($python -c 'import sys; print("-debug" if hasattr(sys, "gettotalrefcount") else "")')
cd "$source/python"
if ! $python -B setup.py -q build --build-base "$base" >"$build/python.log" 2>&1; then
  cat "$build/python.log"
  exit 1
fi
if grep 'warning: .*\[-W' "$build/python.log"; then
  echo "the extension has compiler warnings"
  exit 1
fi
PYTHONPATH=$(echo "$base"/lib*)
ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0:allocator_may_return_null=1
TSAN_OPTIONS=halt_on_error=1
export PYTHONPATH ASAN_OPTIONS TSAN_OPTIONS
cd "$build"
case $base in *-debug) exec $python -B -W ignore "$source/python/tests/references.py" ;; esac
set -f # no file names in place of the pattern
LD_PRELOAD=$preload $python -B -m unittest discover $only -s "$source/python/tests" -t "$source/python/tests"
