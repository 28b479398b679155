#!/bin/sh
# Checks `--bind cores` where binding fails: the system refuses it at each call, the processors
# vanish during a parse, there are 300 of them or one, and no thread can be made. The script preloads
# refuse/refuse.c, which simulates processors. The tree is always the same, the statistics report a
# refusal, and the calling thread has its processors again at the end.

hpar=$1
refuse=$HPAR_BUILD_DIR/tests/librefuse.so
test -e "$refuse" || {
  echo "skipped: $refuse is not built: sanitizers, or another C library"
  exit 77
}
"$hpar" parse --predictor help >/dev/null 2>&1 || {
  echo 'skipped: this build has no parallel parser'
  exit 77
}
. "$(dirname "$0")/support/tally.sh"
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2

check() { if eval "$2"; then fine; else wrong "$1 (status $status): $2"; fi; }

mkdir pages
awk 'BEGIN { for (i = 0; i < 400; i++) print "<div><p class=a" i ">paragraph <b>" i "</b><table><td>x</div>" }' >pages/a.html
for page in b c d e f; do cp pages/a.html pages/$page.html; done
"$hpar" parse --mode sequential pages/a.html >expected || exit 2
"$hpar" parse --many --format tree pages >expected_many || exit 2

# bound WAY: parses in this way. Sets `status`, `called` and `times` as refused.sh does, `main` to the
# number of the calling thread's processors at the end, and `bind` to what the statistics say.
bound() {
  case $1 in
  many) set -- --many --threads 3 --format tree pages ;;
  parallel) set -- --mode parallel --threads 3 --chunk-size 2000 pages/a.html ;;
  pipelined) set -- --mode pipelined pages/a.html ;;
  wide) set -- --mode parallel --threads 256 --chunk-size 100 pages/a.html ;;
  *) set -- --mode parallel --threads 3 --chunk-size 2000 - ;;
  esac
  HPAR_REFUSE_LOG=log LD_PRELOAD=$refuse "$hpar" parse --bind cores --stats=json "$@" >out 2>err <pages/a.html
  status=$?
  called=0 times=0 main=0
  while read -r kind c t; do
    test "$kind" != affinity || { called=$c && times=$t; }
    test "$kind" != main || main=$c
  done <log
  bind=$(cat out err | sed -n 's/.*"bind": *"\([a-z]*\)".*/\1/p')
}
# same WAY: the tree is that of the sequential parser.
same() {
  case $1 in
  many) grep -v '^{' out | cmp -s - expected_many ;;
  *) cmp -s out expected ;;
  esac
}
# order: the processors of the threads.
order() { sed -n 's/.*"processor_per_worker": *\[\([0-9, ]*\)\].*/\1/p' err | tr -d ' '; }
export HPAR_PROCESSORS HPAR_REFUSE
HPAR_PROCESSORS=300
unset HWLOC_SYNTHETIC

# Each call is refused. All threads of --many and of the pipelined parser have been bound before the
# statistics are made. A late thread of the parallel parser may not, but the calling thread is first.
for way in many parallel pipelined; do
  HPAR_REFUSE=
  bound $way
  check "$way" 'test $status = 0 && same $way && test $called -ge 2 && test $main = 300 && test "$bind" != refused && test -n "$bind"'
  n=1
  while test $n -lt 10; do
    HPAR_REFUSE=affinity:$n
    bound $way
    check "$way, call $n" 'test $status = 0 && same $way'
    test $times -gt 0 || break
    if test $way != parallel || test $n = 1; then
      check "$way, call $n" 'test "$bind" = refused'
    fi
    # The last call restores the processors of the calling thread.
    check "$way, call $n" 'test $main = 300 || { test $main = 1 && test $called = $n && test "$bind" = refused; }'
    HPAR_REFUSE=affinity:$n+
    bound $way
    check "$way, from call $n on" 'test $status = 0 && same $way && { test $n -gt 1 || test $main = 300; }'
    n=$((n + 1))
  done
done
HPAR_REFUSE=processors
for way in many parallel pipelined fed; do
  bound $way
  check "$way, no list of processors" 'test $status = 0 && same $way && test "$bind" = refused'
done
HPAR_REFUSE=

# Processors vanish from the n-th call on.
for way in many parallel pipelined fed wide; do
  for call in 1 2 3 4 5; do
    for left in 1 2 4; do
      HPAR_PROCESSORS=300:$call:$left
      bound $way
      check "$way, $left processors from call $call on" 'test $status = 0 && same $way && { test $main = 300 || test $main = $left; }'
    done
  done
done

# Few processors and many of them, with threads for more or fewer.
for HPAR_PROCESSORS in 1 2 3 65 300 1024; do
  for way in many parallel pipelined fed wide; do
    bound $way
    check "$way on $HPAR_PROCESSORS processors" 'test $status = 0 && same $way && test $main = $HPAR_PROCESSORS && test "$bind" != refused'
  done
done

# 300 processors of 150 cores: the first hyperthread of each core comes before the second.
HPAR_PROCESSORS=300
export HWLOC_SYNTHETIC='core:150 pu:2' HWLOC_THISSYSTEM=1 HWLOC_HIDE_ERRORS=2
bound wide
if test "$bind" = cores; then
  order=$(order)
  threads=$(echo "$order" | tr ',' '\n' | grep -c .)
  expected_order=$(awk -v n="$threads" 'BEGIN { for (i = 0; i < n; i++) printf "%s%d", i ? "," : "", i < 150 ? 2 * i : 2 * (i - 150) + 1 }')
  check "the order of 300 processors" 'test $status = 0 && same wide && test $threads -gt 1 && test "$order" = "$expected_order"'
fi
for HWLOC_SYNTHETIC in 'numa:4 core:75 pu:1' 'pu:300' 'core:1 pu:1' 'core:300 pu:4' 'numa:300 core:1 pu:1'; do
  bound wide
  check "$HWLOC_SYNTHETIC" 'test $status = 0 && same wide && test $main = 300 && test "$bind" != refused'
done
# The hyperthreads of a core in their order, and NUMA nodes from that of the caller on.
HPAR_PROCESSORS=3
export HPAR_PROCESSOR=1
for given in 'core:1 pu:3=0,1,2' 'numa:3 core:1 pu:1=1,2,0'; do
  HWLOC_SYNTHETIC=${given%=*}
  bound parallel
  test "$bind" != cores || check "$given" 'test $status = 0 && same parallel && test "$(order)" = "${given#*=}"'
done
unset HWLOC_SYNTHETIC HWLOC_THISSYSTEM HPAR_PROCESSOR

# A limit of processes. It does not hold for root, so the parses run as another user. The shells have
# different options for it, and prlimit has one.
unset HPAR_PROCESSORS
other=
test "$(id -u)" != 0 || other='setpriv --reuid 65534 --regid 65534 --clear-groups'
limited() { $other prlimit --nproc="$1" "$hpar" parse --bind cores --stats=json $2; }
chmod 755 . pages
if limited 1000 '--mode sequential pages/a.html' 2>/dev/null | cmp -s - expected; then
  for most in 1 2 3 5; do
    for way in parallel pipelined many; do
      case $way in
      many) limited $most '--many --threads 3 --format tree pages' >out 2>err ;;
      parallel) limited $most '--mode parallel --threads 4 --chunk-size 2000 pages/a.html' >out 2>err ;;
      *) limited $most "--mode $way pages/a.html" >out 2>err ;;
      esac
      status=$?
      check "$most processes, $way" 'test $status = 0 && same $way'
      test $most != 1 || check "$most processes, $way" 'cat out err | grep -q "\"threads\": *1,"'
    done
  done
else
  echo 'not checked: a limit of processes: prlimit or setpriv not found, or the folder is not readable'
fi

echo "$passed passed, $failed failed"
test $failed = 0
