# Checks the documentation with docs.py: examples, links, named functions, tables, sizes, figures, and the
# picture of README.md is current.
if ! command -v python3 >/dev/null; then
  echo "skipped: python3 not found (Debian: python3)"
  exit 77
fi
python=python3
/usr/bin/python3 -c "import matplotlib" 2>/dev/null && python=/usr/bin/python3
exec $python -B "$HPAR_SOURCE_DIR/tests/docs.py"
