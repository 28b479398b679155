#!/bin/sh
# Checks hpar crawl --engine dask: the results are those of threads with 1 and 4 workers of this
# machine, and with two remote workers of a scheduler on loopback, one of which is killed. Exits
# with 77 without Dask. The default run has remote workers only; HPAR_TEST_FULL=1 adds the others.

hpar=$1
source=$(cd "$(dirname "$0")" && pwd)
corpus=$HPAR_BUILD_DIR/hpar-corpus
. "$source/support/tally.sh"
if ! /usr/bin/python3 -c 'import distributed' 2>/dev/null; then
  echo "skipped: no Dask for /usr/bin/python3; apt install python3-distributed"
  exit 77
fi
work=$(mktemp -d) || exit 2
processes=
# shellcheck disable=SC2086
trap 'test -z "$processes" || kill $processes 2>/dev/null; wait; rm -rf "$work"' EXIT
cd "$work" || exit 2

check() { if eval "$2"; then fine; else wrong "$1 (status $status): $2"; fi; }
crawl() {
  "$hpar" crawl "$@" >out 2>err
  status=$?
}
equal() { check "$1" "test $status = 0 && cmp -s one/summary.json $1/summary.json && cmp -s one/quarantine.jsonl $1/quarantine.jsonl &&
  cmp -s one/rows.jsonl $1/rows.jsonl && cmp -s one/groups.csv $1/groups.csv"; }

mkdir data
for seed in 1 2; do
  "$corpus" generate --warc 100 --seed $seed --small --damage 5 >data/$seed.warc || exit 2
done
set -- --unit-size 20000 --records jsonl --select 'a[href]' --fields url,text,url:href --group-by month,host:href
crawl data "$@" --out one
check "threads" 'test $status = 0'

# A scheduler that does not answer: nothing is written.
crawl data "$@" --out none --engine dask --scheduler tcp://127.0.0.1:1
check "no scheduler" 'test $status = 1 && test $(wc -l <err) = 1 && grep -q "no scheduler answers; start one: dask-scheduler" err && test ! -e none'

# Remote workers. The kernel chooses the port, and the scheduler writes its address to a file.
dask-scheduler --host 127.0.0.1 --port 0 --no-dashboard --scheduler-file scheduler.json >scheduler.log 2>&1 &
processes=$!
for i in 1 2; do
  dask-worker --scheduler-file scheduler.json --nthreads 1 --nworkers 1 --no-nanny --no-dashboard --local-directory "$work/worker$i" >worker$i.log 2>&1 &
  processes="$processes $!"
  victim=$!
done
for i in $(seq 600); do
  test ! -s scheduler.json || break
  sleep 0.1
done
address=$(sed -n 's/.*"address": *"\([^"]*\)".*/\1/p' scheduler.json)
"$hpar" crawl data "$@" --out remote --engine dask --scheduler "$address" --progress json >out 2>err &
driver=$!
kill -9 $victim
wait $driver
status=$?
equal remote
units=$(grep -c ^unit remote/plan.tsv)
check "progress" 'tail -n 1 err | grep -q "^{\"units\":$units,\"done\":$units,\"reused\":0,\"failed\":0,\"records\":[1-9].*\"seconds_left\":0}$"'

# If the program is killed, so are the processes that it started, and the crawl can go on.
mkdir many
"$corpus" generate --warc 1000 --seed 3 >many/many.warc || exit 2
crawl many --unit-size 100000 --out many_threads
"$hpar" crawl many --unit-size 100000 --out killed --engine dask --threads 1 >out 2>err &
driver=$!
for i in $(seq 200); do
  test -z "$(ls killed/units/*.tsv 2>/dev/null)" || break
  sleep 0.1
done
kill -9 $driver
wait $driver 2>/dev/null
sleep 1
before=$(ls killed/units/*.tsv | wc -l)
sleep 1
check "no process goes on" 'test $(ls killed/units/*.tsv | wc -l) = $before && test $before -lt $(grep -c ^unit killed/plan.tsv)'
crawl many --unit-size 100000 --out killed --resume
check "the crawl that was killed" 'test $status = 0 && cmp -s many_threads/summary.json killed/summary.json'

if test -n "${HPAR_TEST_FULL:-}"; then
  for workers in 1 4; do
    crawl data "$@" --out local$workers --engine dask --threads $workers
    equal local$workers
  done
fi

echo "$passed passed, $failed failed"
test $failed = 0
