#!/bin/sh
# Runs hpar compare --pool spin with more threads than cores. Checks that the waiting threads do not
# slow the sequential runs that the command times. The test compares with --pool sleep. It repeats,
# because other processes slow the runs, too. Where the runs beside sleeping threads differ much
# among themselves, a slow run says nothing.

hpar=$1
"$hpar" parse --predictor help >/dev/null 2>&1 || {
  echo 'skipped: this build has no parallel parser'
  exit 77
}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
awk 'BEGIN { for (i = 0; i < 60000; i++) print "<p>paragraph <b>" i "</b>" }' >"$work/page.html"

# Prints the mean time of the sequential runs in microseconds.
mean() {
  "$hpar" compare --json --repeat 15 --threads 64 --pool "$1" "$work/page.html" |
    sed -n 's/.*"sequential":{[^[]*"ns_runs":\[\([0-9,]*\)\].*/\1/p' | tr ',' '\n' |
    awk '{ sum += $1 } END { if (NR) printf "%d\n", sum / NR / 1000 }'
}

least= most=
for attempt in 1 2 3 4 5; do
  asleep=$(mean sleep)
  test -n "$asleep" || continue
  test "${least:=$asleep}" -lt "$asleep" || least=$asleep
  test "${most:=$asleep}" -gt "$asleep" || most=$asleep
  spinning=$(mean spin)
  echo "sequential: $asleep us beside sleeping threads, $spinning us beside spinning threads"
  if [ "$spinning" -lt $((asleep + asleep / 2)) ]; then
    echo "1 passed, 0 failed"
    exit 0
  fi
done
if [ "${most:-0}" -gt $((${least:-0} + ${least:-0} / 4)) ]; then
  echo "skipped: other processes slow the runs: from $least to $most us beside sleeping threads"
  exit 77
fi
echo "failed: the spinning threads slow the sequential runs"
exit 1
