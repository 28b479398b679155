# Checks the runner and the report of experiments on recorded runs. The argument is the program.
if ! /usr/bin/python3 -c 'import matplotlib' 2>/dev/null; then
  echo "skipped: matplotlib for /usr/bin/python3 not found (Debian: python3-matplotlib)"
  exit 77
fi
exec /usr/bin/python3 -B "$HPAR_SOURCE_DIR/experiments/lab/test.py" "$1"
