#!/bin/sh
# Checks the program hpar on systems with pages of 16 and 64 KB: the script preloads pages/pages.c. The output is that of
# this system. jemalloc is refused with its reason, because it was built for smaller pages.

hpar=$1
pages=$HPAR_BUILD_DIR/tests/libpages.so
test -e "$pages" || {
  echo "skipped: $pages is not built: sanitizers, or another C library"
  exit 77
}
. "$(dirname "$0")/support/tally.sh"
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2

# with BYTES ARGUMENT...: runs hpar on a system with such pages.
with() {
  size=$1
  shift
  HPAR_TEST_PAGE=$size LD_PRELOAD=$pages "$hpar" "$@" >out 2>err
  status=$?
}
# equal BYTES ARGUMENT...: checks that hpar writes the same as on this system.
equal() {
  with "$@"
  shift
  "$hpar" "$@" >expected 2>/dev/null
  if [ $status -eq 0 ] && cmp -s out expected; then fine; else wrong "pages of $size bytes, $*: status $status, $(head -c 300 err)"; fi
}

awk 'BEGIN {
  print "<!DOCTYPE html><meta charset=utf-8><title>t</title>"
  for (i = 0; i < 9000; i++) print "<div class=a" i "><p>text <b>bold</b> &amp; <br/>more<table><tr><td>cell " i "</table></div>"
}' >large.html
printf '<p>caf\351<p b=1 b=2>x<title>\351</title>' >small.html
i=0
while [ $i -lt 40 ]; do
  cp small.html "page$i.html"
  i=$((i + 1))
done
cp large.html page40.html
modes=sequential threads=1
"$hpar" parse --predictor help >/dev/null 2>&1 && modes='sequential parallel pipelined' threads=2

for bytes in 16384 65536; do
  for mode in $modes; do
    equal $bytes parse --mode "$mode" --format tree large.html
    equal $bytes parse --mode "$mode" --format html small.html
  done
  # Documents side by side share ranges of addresses and give them back.
  equal $bytes parse --many --threads "$threads" page*.html
  with $bytes parse --allocator jemalloc small.html
  case $(cat err) in
  *'no jemalloc; install it'*) fine ;;
  *'jemalloc in this library was built for smaller pages'*) if [ $status -eq 1 ]; then fine; else wrong "jemalloc: status $status"; fi ;;
  *) if [ $status -eq 0 ]; then fine; else wrong "jemalloc: $(cat err)"; fi ;;
  esac
done

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
