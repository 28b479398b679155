# Checks the text of Markdown files, public headers and comments with scripts/check-text.
if ! command -v python3 >/dev/null; then
  echo "skipped: python3 not found (Debian: python3)"
  exit 77
fi
python3 -B "$HPAR_SOURCE_DIR/scripts/check-text" || exit 1

# The checker itself, on a small project: exit codes for the project, folders and files.
dir=$(mktemp -d /tmp/hpar-text.XXXXXX) || exit 1
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/scripts" "$dir/docs" "$dir/src" "$dir/empty"
cp "$HPAR_SOURCE_DIR/scripts/check-text" "$dir/scripts"
echo 'The worker parses its chunk.' >"$dir/README.md"
echo 'We know our code.' >"$dir/docs/bad.md"
echo '/* Our parser hurries. */' >"$dir/src/bad.c"

failed=0
# expect STATUS FINDINGS PATH...: runs the checker, which prints a line for each finding and their
# sum.
expect() {
  wanted=$1 findings=$2
  shift 2
  (cd "$dir" && python3 -B scripts/check-text "$@") >"$dir/out" 2>"$dir/err"
  status=$?
  if test $status != "$wanted" || test "$(grep -c ': person ' "$dir/out")" != "$findings"; then
    failed=1
    echo "failed: check-text $*: status $status, expected $wanted with $findings findings"
    cat "$dir/out" "$dir/err"
  fi
}
expect 1 3
expect 1 3 .
expect 1 2 docs
expect 1 1 src/
expect 1 3 docs src/bad.c README.md
expect 0 0 README.md
expect 2 0 empty
expect 2 0 missing.md
expect 2 0 scripts/check-text

# A Python program whose reader has closed the pipe ends without a traceback.
cat >"$dir/closed.py" <<'PYTHON'
import os, subprocess, sys
reader, writer = os.pipe()
os.close(reader)
sys.exit("BrokenPipe" in subprocess.run([sys.executable, "-B", sys.argv[1], "--help"], stdout=writer, stderr=subprocess.PIPE, text=True).stderr)
PYTHON
for program in bench-compare check-layers check-text coverage house hpar-experiments report work-span; do
  env -u PYTHONUNBUFFERED python3 "$dir/closed.py" "$HPAR_SOURCE_DIR/scripts/$program" && continue
  failed=1
  echo "failed: $program --help with a closed pipe"
done
exit $failed
