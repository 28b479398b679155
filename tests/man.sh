# Compares the man page and README.md's options of CMake with the program's --help and CMakeLists.txt:
# see man.py.
command -v python3 >/dev/null || {
  echo "skipped: python3 not found (Debian: python3)"
  exit 77
}
"$1" crawl --help >/dev/null 2>&1 && "$1" trace --help >/dev/null 2>&1 || {
  echo "skipped: this build has no command crawl or no parallel parser"
  exit 77
}
exec python3 -B "$HPAR_SOURCE_DIR/tests/man.py" "$1"
