# Tests scripts/board-prepare on a system of files (HPAR_SYSTEM_ROOT): what it sets, reports and restores.
if ! /usr/bin/python3 -c 'import json' 2>/dev/null; then
  echo "skipped: /usr/bin/python3 not found (Debian: python3)"
  exit 77
fi
root=$(mktemp -d /tmp/hpar-board.XXXXXX) || exit 1
trap 'rm -rf "$root"' EXIT
HPAR_SYSTEM_ROOT=$root
export HPAR_SYSTEM_ROOT
cpufreq=$root/sys/devices/system/cpu/cpufreq
paranoid=$root/proc/sys/kernel/perf_event_paranoid
failed=0

# system: two policies, perf counters, and no state of an earlier call.
system() {
  rm -rf "${root:?}"/*
  mkdir -p "$cpufreq/policy0" "$cpufreq/policy4" "$root/proc/sys/kernel" "$root/run"
  echo ondemand >"$cpufreq/policy0/scaling_governor"
  echo schedutil >"$cpufreq/policy4/scaling_governor"
  for policy in 0 4; do echo "ondemand schedutil performance" >"$cpufreq/policy$policy/scaling_available_governors"; done
  echo 4 >"$paranoid"
}
# prepare STATUS ARGUMENT...: runs the script.
prepare() {
  wanted=$1
  shift
  /usr/bin/python3 -B "$HPAR_SOURCE_DIR/scripts/board-prepare" "$@" >"$root/out" 2>&1
  status=$?
  test $status = "$wanted" || fail "board-prepare $*: status $status, expected $wanted"
}
fail() {
  failed=1
  echo "failed: $*"
  cat "$root/out"
}
has() { grep -q -- "$1" "$root/out" || fail "no line has: $1"; }
is() { test "$(cat "$2" 2>/dev/null)" = "$1" || fail "$2 is $(cat "$2" 2>&1), expected $1"; }

# Sets and restores. A second call keeps the values of the first one.
system
prepare 0 --warm-up 0
is performance "$cpufreq/policy0/scaling_governor"
is performance "$cpufreq/policy4/scaling_governor"
is 1 "$paranoid"
has "governor of policy4: performance (was schedutil)"
prepare 0 --warm-up 0
has "governor of policy0: performance already"
echo ondemand >"$cpufreq/policy0/scaling_governor"
prepare 0 --warm-up 0
prepare 0 --undo
is ondemand "$cpufreq/policy0/scaling_governor"
is schedutil "$cpufreq/policy4/scaling_governor"
is 4 "$paranoid"
test ! -e "$root/run/hpar-board.json" || fail "the saved values remain"
prepare 0 --undo
has "nothing to restore"

# Reports what it cannot do, and does the rest.
system
echo "ondemand powersave" >"$cpufreq/policy0/scaling_available_governors"
rm "$cpufreq/policy4/scaling_governor" && mkdir "$cpufreq/policy4/scaling_governor"
prepare 1 --warm-up 0
has "not done: governor of policy0: only ondemand, powersave exist"
has "not done: governor of policy4: .*scaling_governor: "
has "perf permission: 1 (was 4)"
has "2 steps not done"
is 1 "$paranoid"

# A board without frequency policies and perf events, with zram and throttling bits.
system
rm -r "$cpufreq" "$paranoid"
mkdir -p "$root/usr/bin"
printf 'Filename Type Size Used Priority\n/dev/zram0 partition 1 0 5\n' >"$root/proc/swaps"
printf '#!/bin/sh\necho throttled=0x50000\n' >"$root/usr/bin/vcgencmd"
chmod +x "$root/usr/bin/vcgencmd"
prepare 1 --warm-up 0
has "not done: governor: this system shows no frequency policy"
has "not done: perf permission: this kernel has no perf events"
has "not done: swap: /dev/zram0 "
has "not done: power and temperature: throttling bits 0x50000"

# Without a place for the former values, nothing changes.
system
rmdir "$root/run"
prepare 1 --warm-up 0
has "not done: keeping the former values"
is ondemand "$cpufreq/policy0/scaling_governor"
is 4 "$paranoid"

# The warm-up ends.
system
prepare 0 --warm-up 1
has "warm-up: 1 s, no thermal zone"

prepare 2 --no-such-option
exit $failed
