# Checks that Doxygen builds the reference of the public headers (docs/Doxyfile) without a warning.
command -v doxygen >/dev/null || {
  echo 'skipped: doxygen not found'
  exit 77
}
HPAR_REFERENCE=$(mktemp -d) || exit 2
export HPAR_REFERENCE
trap 'rm -rf "$HPAR_REFERENCE"' EXIT
cd "$HPAR_SOURCE_DIR" || exit 2
doxygen docs/Doxyfile 2>"$HPAR_REFERENCE/warnings"
status=$?
cat "$HPAR_REFERENCE/warnings"
if [ $status -ne 0 ] || [ -s "$HPAR_REFERENCE/warnings" ]; then
  echo 'failed: doxygen prints warnings'
  exit 1
fi
for name in hpar_parse hpar_parser_create hpar_document_root; do
  grep -rqs "$name" "$HPAR_REFERENCE/html"/*.html || {
    echo "failed: the reference lacks $name"
    exit 1
  }
done
echo '1 passed, 0 failed'
