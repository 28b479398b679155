# work_span.sh HPAR: hpar-work-span counts instructions, and two runs give the same numbers.
program=$(dirname "$1")/hpar-work-span
if ! command -v valgrind >/dev/null || ! test -x "$program"; then
  echo "skipped: valgrind or hpar-work-span not found (Debian: valgrind)"
  exit 77
fi
if valgrind --tool=none "$program" 2>&1 | grep -q 'debuginfo reader'; then
  echo "skipped: valgrind cannot read the debug information of this compiler"
  exit 77
fi
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

{
  echo '<!doctype html><title>t</title><table>'
  i=0
  while test $i -lt 3000; do
    echo "<tr><td>cell $i<td><a href='#$i'>link $i</a> <b>bold <i>both</b> italic</i>"
    i=$((i + 1))
  done
  echo '</table>'
} >"$folder/page.html"

run() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null --log-file="$folder/log" \
    "$program" "$folder/log" 2,8 1000 "$@" "$folder/page.html"
}

run >"$folder/first" && run >"$folder/second" || exit 1
if ! cmp "$folder/first" "$folder/second"; then
  echo "failed: two runs differ"
  exit 1
fi

file=$folder/first
value() { sed -n "${1}s/.*\"$2\":\([0-9]*\).*/\1/p" "$file"; }

failures=0
expect() {
  if ! test "$@"; then
    echo "failed: test $*"
    failures=1
  fi
}

expect "$(wc -l <"$folder/first")" -eq 2
expect "$(value 1 threads)" -eq 2
expect "$(value 2 threads)" -eq 8
# Two cores have at least half of the work, and eight cores have a shorter span.
expect "$((2 * $(value 1 span)))" -ge "$(value 1 work)"
expect "$(value 1 work)" -ge "$(value 1 span)"
expect "$(value 2 span)" -lt "$(value 1 span)"
expect "$(value 1 span)" -lt "$(value 1 sequential)"

# Of rewrites, too, with little more work than one thread.
file=$folder/rewrites
run --rewrite 'td > a' >"$file" || exit 1
expect "$(wc -l <"$file")" -eq 2
expect "$((3 * $(value 1 span)))" -lt "$((2 * $(value 1 sequential)))"
expect "$(value 2 span)" -lt "$(value 1 span)"
expect "$((4 * $(value 1 work)))" -lt "$((5 * $(value 1 sequential)))"
exit $failures
