# Builds the web site of the pages and the reference with scripts/build-docs: no warning, and the
# site has the pages, the functions of the reference and no dead link between its pages.
site=$(mktemp -d /tmp/hpar-site.XXXXXX) || exit 2
trap 'rm -rf "$site"' EXIT
"$HPAR_SOURCE_DIR/scripts/build-docs" "$site"
status=$?
[ $status -eq 77 ] && exit 77
[ $status -eq 0 ] || {
  echo "failed: scripts/build-docs returned $status"
  exit 1
}
failed=0
for name in hpar_parse hpar_document_edit hpar_select hpar_rewrite_many hpar_node_walk; do
  grep -qs "id=\"c.$name\"" "$site/reference.html" || {
    echo "failed: the reference lacks $name"
    failed=1
  }
done
for page in "$HPAR_SOURCE_DIR"/docs/guides/*.md "$HPAR_SOURCE_DIR"/docs/migrate/*.md; do
  html=$site/$(basename "$(dirname "$page")")/$(basename "$page" .md).html
  [ -s "$html" ] || {
    echo "failed: the site lacks $html"
    failed=1
  }
done
[ $failed -eq 0 ] && echo '1 passed, 0 failed'
exit $failed
