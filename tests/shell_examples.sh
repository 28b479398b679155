# Runs the shell examples of README.md and the other pages: see shell_examples.py.
command -v python3 >/dev/null || {
  echo "skipped: python3 not found (Debian: python3)"
  exit 77
}
exec python3 -B "$HPAR_SOURCE_DIR/tests/shell_examples.py" "$1"
