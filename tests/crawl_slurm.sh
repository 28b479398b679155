#!/bin/sh
# Checks hpar crawl --engine slurm with a cluster on this machine: munged, slurmctld and two slurmd in
# the foreground, with two CPUs each. The results are those of threads, also after the driver was
# killed. Needs root, slurm-wlm and munge, and exits with 77 otherwise. HPAR_TEST_FULL=1 adds a crawl
# without a controller, and one that is resumed after its tasks were cancelled.

hpar=$1
source=$(cd "$(dirname "$0")" && pwd)
corpus=$HPAR_BUILD_DIR/hpar-corpus
. "$source/support/tally.sh"
PATH=$PATH:/usr/sbin
for program in munged slurmctld slurmd sbatch; do
  command -v $program >/dev/null && continue
  echo "skipped: no $program; apt install slurm-wlm munge"
  exit 77
done
if test "$(id -u)" != 0; then
  echo "skipped: slurmd needs root"
  exit 77
fi
work=$(mktemp -d) || exit 2
processes=
# shellcheck disable=SC2086
trap 'test -z "$processes" || kill $processes 2>/dev/null; wait; rm -rf "$work"' EXIT
cd "$work" || exit 2
chmod 755 "$work" # munged checks it

check() { if eval "$2"; then fine; else wrong "$1 (status $status): $2"; fi; }
crawl() {
  "$hpar" crawl "$@" >out 2>err
  status=$?
}
equal() { check "$1" "test $status = 0 && cmp -s one/summary.json $1/summary.json && cmp -s one/quarantine.jsonl $1/quarantine.jsonl &&
  cmp -s one/rows.jsonl $1/rows.jsonl && cmp -s one/groups.csv $1/groups.csv"; }
start() {
  "$@" >>"$1.log" 2>&1 &
  processes="$processes $!"
}
# until COMMAND...: waits up to a minute for the command to succeed.
until_true() {
  for i in $(seq 600); do
    "$@" >/dev/null 2>&1 && return 0
    sleep 0.1
  done
  return 1
}

mkdir data state
for seed in 1 2; do
  "$corpus" generate --warc 100 --seed $seed --small --damage 5 >data/$seed.warc || exit 2
done
set -- --unit-size 20000 --records jsonl --select 'a[href]' --fields url,text,url:href --group-by month,host:href
crawl data "$@" --out one
check "threads" 'test $status = 0'

# Ports that are free now: three of the kernel's choice.
ports=$(python3 -c 'import socket
sockets = [socket.socket() for _ in range(3)]
for s in sockets: s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in sockets))') || {
  echo "skipped: no python3, which finds free ports"
  exit 77
}
# shellcheck disable=SC2086
set_ports() { control=$1 first=$2 second=$3; }
# shellcheck disable=SC2086
set_ports $ports
host=$(hostname)
sed "s|@WORK@|$work|; s|@HOST@|$host|; s|@USER@|$(id -un)|; s|@CONTROL@|$control|; s|@FIRST@|$first|; s|@SECOND@|$second|" \
  >slurm.conf <<'END'
ClusterName=hpar
SlurmctldHost=@HOST@(127.0.0.1)
SlurmctldPort=@CONTROL@
SlurmUser=@USER@
SlurmdUser=@USER@
AuthType=auth/munge
AuthInfo=socket=@WORK@/munge.socket
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
StateSaveLocation=@WORK@/state
SlurmdSpoolDir=@WORK@/spool-%n
SlurmctldPidFile=@WORK@/slurmctld.pid
SlurmdPidFile=@WORK@/slurmd-%n.pid
KillWait=1
SchedulerParameters=batch_sched_delay=0
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
NodeName=one NodeHostname=@HOST@ NodeAddr=127.0.0.1 Port=@FIRST@ CPUs=2
NodeName=two NodeHostname=@HOST@ NodeAddr=127.0.0.1 Port=@SECOND@ CPUs=2
PartitionName=all Nodes=one,two Default=YES State=UP
END
export SLURM_CONF="$work/slurm.conf"

# Without a controller nothing is written. sinfo tries again for ten seconds.
if test -n "${HPAR_TEST_FULL:-}"; then
  crawl data "$@" --out none --engine slurm
  check "no controller" 'test $status = 1 && test $(wc -l <err) = 1 && grep -q "no controller answers" err && test ! -e none'
fi

head -c 1024 /dev/urandom >key
chmod 600 key
start munged --foreground --force --key-file="$work/key" --socket="$work/munge.socket" --pid-file="$work/munged.pid" \
  --log-file="$work/munged.log" --seed-file="$work/munged.seed"
until_true test -S munge.socket
start slurmctld -D
start slurmd -D -N one
start slurmd -D -N two
if ! until_true sh -c 'test "$(sinfo --noheader --format=%T)" = idle'; then
  echo "skipped: no cluster can be started here: $(tail -n 1 slurmctld.log)"
  exit 77
fi

crawl data "$@" --out slurm --engine slurm
equal slurm
check "several tasks" 'grep -q "array=0-[1-9]" slurm/slurm.sh'

# The driver is killed when Slurm has its tasks, and a process of a task, too. Other tasks may still
# run while another driver resumes.
"$hpar" crawl data "$@" --out killed --engine slurm >out 2>err &
driver=$!
until_true grep -q Submitted out
kill -9 $driver
wait $driver 2>/dev/null
for process in $(pgrep -f "crawl run $work/killed"); do
  kill -9 "$process" 2>/dev/null
  break
done
crawl data "$@" --out killed --engine slurm --resume
equal killed

# Tasks that are cancelled leave units without results. A folder may have any name.
if test -n "${HPAR_TEST_FULL:-}"; then
  "$hpar" crawl data "$@" --out 'a b%n' --engine slurm >out 2>err &
  driver=$!
  until_true grep -q Submitted out
  scancel "$(sed -n 's/.*job \([0-9]*\).*/\1/p' out)"
  wait $driver
  mv 'a b%n' resumed
  crawl data "$@" --out resumed --engine slurm --resume
  equal resumed
fi

echo "$passed passed, $failed failed"
test $failed = 0
