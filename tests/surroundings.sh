#!/bin/sh
# Checks the program hpar in a difficult environment: little address space, failing thread creation,
# one processor, no topology, closed or full output, closed input, signals. Either the tree is the
# usual tree, or hpar reports the problem and exits with 1. The program is the first argument, or
# $HPAR.

hpar=${1:-$HPAR}
if [ -z "$hpar" ]; then
  echo "usage: $0 HPAR" >&2
  exit 2
fi
case $hpar in /*) ;; *) hpar=$PWD/$hpar ;; esac
. "$(dirname "$0")/support/tally.sh"
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2

check() { if eval "$2"; then fine; else wrong "$1 (status $status): $2"; fi; }

awk 'BEGIN { for (i = 0; i < 4000; i++) print "<div><p class=a" i ">paragraph <b>" i "</b><i>x</div>" }' >page.html
"$hpar" parse --mode sequential page.html >expected 2>err || exit 1
parallel=sequential
"$hpar" parse --predictor help >names 2>/dev/null && parallel=parallel
sanitized=no
grep -q -a __asan_init "$hpar" || grep -q -a __tsan_init "$hpar" && sanitized=yes
slow=$sanitized
grep -q -a __llvm_profile_write "$hpar" && slow=yes

# Every amount of address space. Statuses 127 and 126 come from the loader, which has too little
# address space to start.
if [ $sanitized = no ]; then
  least=0 enough=0
  for size in 3000 8000 12000 16000 20000 25000 30000 40000 70000 130000 250000 1000000 \
    8000000 70000000; do
    (ulimit -v $size) 2>/dev/null || continue # a limit can only be lowered
    for mode in sequential $parallel; do
      (ulimit -v $size && exec "$hpar" parse --mode $mode --threads 4 page.html) >out 2>err
      status=$?
      check "$size KB of address space, $mode" '[ $status -eq 0 ] || [ $status -eq 1 ] || [ $size -lt 15000 ]'
      if [ $status -eq 0 ]; then
        check "$size KB of address space, $mode" 'cmp -s out expected'
        enough=$((enough + 1))
      elif [ $status -eq 1 ]; then
        check "$size KB of address space, $mode" '[ ! -s out ] && grep -q "out of memory" err'
        least=$((least + 1))
      fi
    done
  done
  status=-
  check "address space" '[ $least -gt 0 ] && [ $enough -gt 4 ]'
  echo "address space: enough $enough times, too little $least times"

  # If a tree is too large for a worker's part of the address space, it continues in the common
  # part.
  if [ $parallel = parallel ]; then
    awk 'BEGIN { for (i = 0; i < 900000; i++) printf "<p>x" }' >wide.html
    "$hpar" parse --mode sequential --format html wide.html >wide 2>err
    enough=0
    for size in 450000 700000 1100000 3000000; do
      (ulimit -v $size) 2>/dev/null || continue
      (ulimit -v $size && exec "$hpar" parse --mode parallel --threads 2 --format html wide.html) >out 2>err
      status=$?
      check "a large tree in $size KB" '[ $status -eq 0 ] && cmp -s out wide || { [ $status -eq 1 ] && grep -q "out of memory" err; }'
      test $status -ne 0 || enough=$((enough + 1))
    done
    check "a large tree" '[ $enough -gt 0 ]'
  fi

  # Threads that have no address space for their stacks do not start. The other threads do the work,
  # and the statistics report it. The C libraries give stacks of 128 KB to 8 MB.
  if [ $parallel = parallel ]; then
    fewer=0
    for size in 1500000 400000 200000 120000 80000; do
      (ulimit -v $size && exec "$hpar" parse --mode parallel --threads 250 --stats=json page.html) >out 2>err
      status=$?
      if [ $status -eq 0 ]; then
        threads=$(sed -n 's/.*"threads": *\([0-9]*\).*/\1/p' err)
        check "250 threads in $size KB" 'cmp -s out expected && [ -n "$threads" ]'
        test "${threads:-250}" -eq 250 || fewer=$((fewer + 1))
        echo "of 250 threads $threads could be made in $size KB"
      else
        check "250 threads in $size KB" '[ $status -eq 1 ] && [ ! -s out ] && grep -q "out of memory" err'
      fi
    done
    status=-
    check "threads that cannot be made" '[ $fewer -gt 0 ]'
  fi
fi

# One processor, and no information about the processors.
for mode in auto $parallel; do
  if command -v taskset >/dev/null; then
    taskset -c "$(taskset -cp $$ | sed 's/.*[ ,-]//')" "$hpar" parse --mode $mode page.html >out 2>err
    status=$?
    check "one processor, $mode" '[ $status -eq 0 ] && cmp -s out expected && [ ! -s err ]'
  fi
  for blind in HWLOC_COMPONENTS=-linux HWLOC_FSROOT=/nonexistent HWLOC_XMLFILE=/dev/null HWLOC_SYNTHETIC=x; do
    env HWLOC_HIDE_ERRORS=2 "$blind" "$hpar" parse --mode $mode page.html >out 2>err
    status=$?
    check "$blind, $mode" '[ $status -eq 0 ] && cmp -s out expected'
  done
done

# Output: full, closed, a pipe without a reader. Input: closed, missing, a folder, an early end.
for mode in sequential $parallel; do
  if [ -c /dev/full ]; then
    "$hpar" parse --mode $mode page.html >/dev/full 2>err
    status=$?
    check "full disk, $mode" '[ $status -eq 1 ] && grep -q "cannot be written" err'
  fi
  "$hpar" parse --mode $mode page.html >&- 2>err
  status=$?
  check "closed output, $mode" '[ $status -eq 1 ]'
  { "$hpar" parse --mode $mode page.html 2>err; echo $? >status; } | :
  status=$(cat status)
  check "closed pipe, $mode" '[ $status -eq 1 ] && [ ! -s err ]'
  "$hpar" parse --mode $mode page.html >out 2>&-
  status=$?
  check "closed standard error, $mode" '[ $status -eq 0 ] && cmp -s out expected'
  "$hpar" parse --mode $mode - <&- >out 2>err
  status=$?
  check "closed input, $mode" '[ $status -eq 1 ] && grep -q "cannot be read" err'
  "$hpar" parse --mode $mode - <. >out 2>err
  status=$?
  check "a folder as input, $mode" '[ $status -eq 1 ] && grep -q "folder" err'
done

# A file that becomes shorter during the read. hpar reads the file and does not map it. Therefore it
# parses the bytes that it has read, and does not crash.
for round in 1 2 3 4 5 6 7 8; do
  cat page.html page.html page.html page.html >shrinking.html
  "$hpar" parse --format none shrinking.html 2>err &
  reader=$!
  : >shrinking.html
  wait $reader
  status=$?
  check "a file that shrinks" '[ $status -eq 0 ]'
done

# Signals: a stop and a continuation during the input lose nothing; SIGTERM ends the program.
for mode in sequential $parallel; do
  mkfifo pipe
  "$hpar" parse --mode $mode - <pipe >out 2>err &
  reader=$!
  {
    head -c 50000 page.html
    kill -STOP $reader
    sleep 0.1
    kill -CONT $reader
    tail -c +50001 page.html
  } >pipe
  wait $reader
  status=$?
  check "stopped and continued, $mode" '[ $status -eq 0 ] && cmp -s out expected'
  "$hpar" parse --mode $mode - <pipe >out 2>err &
  reader=$!
  exec 9>pipe
  echo '<p>' >&9
  kill -TERM $reader
  wait $reader
  status=$?
  exec 9>&-
  check "told to end, $mode" '[ $status -eq 143 ] && [ ! -s err ]'
  rm pipe
done

# More parsing processes than processors: each process loses its processor at any point, and still
# ends.
if [ $parallel = parallel ] && command -v taskset >/dev/null && command -v timeout >/dev/null; then
  processor=$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')
  crowd=
  repeat=3000
  test $slow = no || repeat=100
  head -c 30000 page.html >small.html
  for one in 1 2 3; do
    timeout 500 taskset -c "$processor" "$hpar" compare --threads 1 --repeat $repeat small.html >out.$one 2>err &
    crowd="$crowd $!"
  done
  for one in $crowd; do
    wait "$one"
    status=$?
    check "one of several on a processor" '[ $status -eq 0 ]'
  done
fi

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
