# Every public structure that begins with its size, in programs of an older and of a newer version: see layouts.py.
if grep -q '^HPAR_SANITIZE:STRING=..*' "$HPAR_BUILD_DIR/CMakeCache.txt" || [ -n "$HPAR_PROGRAM" ]; then
  echo 'skipped: the program would need the sanitizers, or another machine'
  exit 77
fi
command -v python3 >/dev/null || {
  echo 'skipped: python3 not found'
  exit 77
}
work=$(mktemp -d /tmp/hpar-layouts.XXXXXX) || exit 1
trap 'rm -rf "$work"' EXIT
python3 "$HPAR_SOURCE_DIR/tests/layouts.py" "$HPAR_SOURCE_DIR/include" "$work" || exit 1
failed=0
for version in previous next; do
  define=
  [ $version = previous ] || define=-DNEXT
  ${CC:-cc} -std=gnu11 -D_GNU_SOURCE -w $define -I"$work/$version" "$work/layouts.c" -L"$HPAR_BUILD_DIR" \
    -Wl,-rpath,"$HPAR_BUILD_DIR" -lhpar-study -lhpar -o "$work/program" || exit 1
  echo "$version version:"
  "$work/program" || failed=1
done
exit $failed
