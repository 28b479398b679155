# Tests scripts/compare-chromium: a few documents of each kind have no difference without a class. Without the table of
# classes, a document with a known difference fails, and is shrunk and kept.
command -v "${CHROMIUM:-chromium}" >/dev/null || {
  echo "skipped: chromium not found (Debian: chromium)"
  exit 77
}
folder=$(mktemp -d /tmp/hpar-compare.XXXXXX) || exit 1
trap 'rm -rf "$folder"' EXIT
failed=0
# compare STATUS ARGUMENT...: runs the script.
compare() {
  wanted=$1
  shift
  /usr/bin/python3 -B "$HPAR_SOURCE_DIR/scripts/compare-chromium" --build "$HPAR_BUILD_DIR" --output "$folder/kept" "$@" \
    >"$folder/out" 2>"$folder/errors"
  status=$?
  if test $status != "$wanted"; then
    echo "compare-chromium $*: status $status, expected $wanted"
    cat "$folder/out" "$folder/errors"
    failed=1
  fi
}

compare 2 --only nothing
kinds=parse,fragments,selectors,html,content,links,text,rewrite
compare 0 --only $kinds --count 200 --json
grep -q '"parse": ' "$folder/out" || { echo "no JSON"; failed=1; }
compare 0 --only resources --count 4

head -n 1 "$HPAR_SOURCE_DIR/tests/chromium/differences.tsv" >"$folder/none.tsv"
echo '<p>before<template><title>x</title><tr><td>y</template>' >"$folder/page.html"
compare 1 --classes "$folder/none.tsv" --only parse --pages "$folder/page.html"
test "$(cat "$folder/kept/parse-0.html")" = '<template><title></title><tr>' || { echo "not shrunk"; failed=1; }
compare 0 --only parse --pages "$folder/page.html"
exit $failed
