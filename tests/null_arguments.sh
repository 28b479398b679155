# Every public function with each pointer argument NULL in turn: see null_arguments.py.
if grep -q '^HPAR_SANITIZE:STRING=..*' "$HPAR_BUILD_DIR/CMakeCache.txt" || [ -n "$HPAR_PROGRAM" ]; then
  echo 'skipped: the program would need the sanitizers, or another machine'
  exit 77
fi
command -v python3 >/dev/null || {
  echo 'skipped: python3 not found'
  exit 77
}
work=$(mktemp -d /tmp/hpar-null.XXXXXX) || exit 1
trap 'rm -rf "$work"' EXIT
python3 "$HPAR_SOURCE_DIR/tests/null_arguments.py" "$HPAR_SOURCE_DIR/include/hpar" >"$work/program.c" || exit 1
${CC:-cc} -std=gnu11 -D_GNU_SOURCE -w -I"$HPAR_SOURCE_DIR/include" "$work/program.c" -L"$HPAR_BUILD_DIR" -Wl,-rpath,"$HPAR_BUILD_DIR" -lhpar-study -lhpar \
  -o "$work/program" || exit 1
"$work/program"
