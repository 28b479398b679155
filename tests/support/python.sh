# For tests of the Python package. find_python sets `python` to a Python 3.9 or later that has its
# headers and the named modules, and that loads what the compiler of the build links. Otherwise the
# test is skipped.
find_python() {
  if test -n "${HPAR_PROGRAM:-}"; then
    echo "skipped: this build is for another machine than Python"
    exit 77
  fi
  for python in ${HPAR_TEST_PYTHON:-/usr/bin/python3 python3}; do
    for module in setuptools wheel "$@"; do
      $python -c "import $module" 2>/dev/null || continue 2
    done
    $python -c '
import os, sys, sysconfig
sys.exit(sys.version_info < (3, 9) or not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))
' 2>/dev/null || continue
    if loads_library; then
      # Documents reserve what a limit leaves, so that threads of Python would lack addresses.
      ulimit -S -v "$(ulimit -H -v)"
      return
    fi
    echo "skipped: $python cannot load libhpar.so, which has another C library"
    exit 77
  done
  echo "skipped: Python 3.9 with headers, setuptools, wheel${1:+, $*} not found" \
    "(Debian: python3-dev python3-setuptools python3-wheel python3-build python3-venv)"
  exit 77
}

# Whether `python` can load the library of this build. A sanitizer's library needs its run time first.
loads_library() {
  grep -q '^HPAR_SANITIZE:[A-Z]*=.' "$HPAR_BUILD_DIR/CMakeCache.txt" || test ! -e "$HPAR_BUILD_DIR/libhpar.so" ||
    $python -c 'import ctypes, sys; ctypes.CDLL(sys.argv[1])' "$HPAR_BUILD_DIR/libhpar.so" 2>/dev/null
}
