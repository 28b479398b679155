# Counts the results of the checks of a test script. Prints the files `out` and `err` of a failed
# check.

passed=0
failed=0
fine() { passed=$((passed + 1)); }
wrong() {
  failed=$((failed + 1))
  echo "failed: $*"
  for stream in out err; do
    if test -s $stream; then head -n 5 $stream | cut -c1-200 | sed "s/^/  $stream: /"; fi
  done
}
