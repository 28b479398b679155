#!/bin/sh
# Checks the binding of threads on simulated machines. Variables tell hwloc that processors 0 and 1
# are hyperthreads of a core, cores, fast and slow cores, near different memory, or two of the many
# processors of the machine.

hpar=$1
case $hpar in /*) ;; *) hpar=$PWD/$hpar ;; esac
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
passed=0
failed=0
awk 'BEGIN { for (i = 0; i < 400; i++) print "<p>paragraph <b>" i "</b>" }' >page.html

command -v taskset >/dev/null && taskset -c 0,1 true 2>/dev/null || {
  echo 'skipped: taskset, or processors 0 and 1, not found'
  exit 77
}
"$hpar" parse --predictor help >/dev/null 2>&1 || {
  echo 'skipped: this build has no parallel parser'
  exit 77
}

# places PROCESSORS VARIABLE=VALUE: prints the processors of the two threads of a parse. $capacity lists capacities.
capacity=
places() {
  env HPAR_CPU_CAPACITY="$capacity" HWLOC_HIDE_ERRORS=2 HWLOC_THISSYSTEM=1 "$2" taskset -c "$1" "$hpar" parse --mode parallel --threads 2 --bind cores \
    --format none --stats=json page.html | sed -n 's/.*"bind":\("[a-z]*"\),"processor_per_worker":\(\[[0-9,]*\]\).*/\1 \2/p'
}

# check PROCESSORS VARIABLE=VALUE EXPECTED [OR]
check() {
  got=$(places "$1" "$2")
  if [ "$got" = "$3" ] || { [ -n "$4" ] && [ "$got" = "$4" ]; }; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "failed: of $1, $2: $got, not $3"
  fi
}

grep -q hwloc_topology_init "$hpar" && [ -r /sys/devices/system/cpu ] || {
  echo 'skipped: this build has no hwloc, which would say where cores are, or the system no /sys'
  exit 77
}

check 0,1 HWLOC_SYNTHETIC='core:2 pu:1' '"cores" [0,1]'
check 0,1 HWLOC_SYNTHETIC='core:2 pu:1(indexes=1,0)' '"cores" [0,1]'
check 0,1 HWLOC_SYNTHETIC='core:1 pu:2' '"cores" [0,1]'
check 0,1 HWLOC_SYNTHETIC='core:1 pu:2(indexes=1,0)' '"cores" [0,1]' '"cores" [1,0]'
check 0,1 HWLOC_SYNTHETIC='core:4 pu:2' '"cores" [0,1]'
check 0,1 HWLOC_SYNTHETIC='core:1 pu:300' '"cores" [0,1]'
check 0,1 HWLOC_SYNTHETIC='numa:2 core:1 pu:1' '"cores" [0,1]' '"cores" [1,0]'
check 0,1 HWLOC_SYNTHETIC='numa:3 core:1 pu:1(indexes=2,1,0)' '"cores" [0,1]' '"cores" [1,0]'
check 0 HWLOC_SYNTHETIC='core:2 pu:1' '"cores" [0,0]'
check 1 HWLOC_SYNTHETIC='core:2 pu:1' '"cores" [1,1]'
check 1 HWLOC_SYNTHETIC='core:1 pu:2' '"cores" [1,1]'
# None of the allowed processors is in the topology: hpar binds by number.
check 1 HWLOC_SYNTHETIC='core:1 pu:1' '"processors" [1,1]'

# Kinds of cores: the fast one first.
# kinds EFFICIENCY EFFICIENCY [MHZ MHZ]
kinds() {
  cat <<XML
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
  <object type="Machine" os_index="0" cpuset="0x3" complete_cpuset="0x3" allowed_cpuset="0x3" nodeset="0x1" complete_nodeset="0x1" allowed_nodeset="0x1" gp_index="1">
    <object type="NUMANode" os_index="0" cpuset="0x3" complete_cpuset="0x3" nodeset="0x1" complete_nodeset="0x1" gp_index="6" local_memory="1073741824"/>
    <object type="Core" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="3">
      <object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="2"/>
    </object>
    <object type="Core" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x1" complete_nodeset="0x1" gp_index="5">
      <object type="PU" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x1" complete_nodeset="0x1" gp_index="4"/>
    </object>
  </object>
  <cpukind cpuset="0x1" forced_efficiency="$1">${3:+<info name="FrequencyMaxMHz" value="$3"/>}</cpukind>
  <cpukind cpuset="0x2" forced_efficiency="$2">${4:+<info name="FrequencyMaxMHz" value="$4"/>}</cpukind>
</topology>
XML
}
kinds 0 1 >slow-fast.xml
kinds 1 0 >fast-slow.xml
kinds 0 1 2400 1800 >frequency.xml
check 0,1 HWLOC_XMLFILE=slow-fast.xml '"cores" [1,0]'
check 0,1 HWLOC_XMLFILE=fast-slow.xml '"cores" [0,1]'
case $(cat /sys/devices/system/cpu/cpu[01]/cpu_capacity /sys/devices/system/cpu/cpu[01]/cpufreq/cpuinfo_max_freq 2>/dev/null) in
'') check 0,1 HWLOC_XMLFILE=frequency.xml '"cores" [0,1]' ;; # else the capacities of this machine decide
esac

# Capacities decide before kinds. Without cores, they decide alone.
capacity=446,1024
check 0,1 HWLOC_XMLFILE=fast-slow.xml '"cores" [1,0]'
check 0,1 HWLOC_SYNTHETIC='core:2 pu:1' '"cores" [1,0]'
check 0,1 HWLOC_SYNTHETIC='core:1 pu:2' '"cores" [0,1]' '"cores" [1,0]'
capacity=1024,446
check 0,1 HWLOC_XMLFILE=slow-fast.xml '"cores" [0,1]'
check 0 HWLOC_SYNTHETIC='core:2 pu:1' '"cores" [0,0]'
capacity=7,wrong
check 0,1 HWLOC_XMLFILE=slow-fast.xml '"cores" [1,0]'
capacity=

# The useful number of threads: the number of cores. Hyperthreads do not count. With a known encoding
# no slice is decoded, in which a thread that lost its processor would leave the parse to one thread.
awk 'BEGIN { for (i = 0; i < 40000; i++) print "<p>paragraph <b>" i "</b>" }' >large.html
threads() {
  env HWLOC_HIDE_ERRORS=2 HWLOC_THISSYSTEM=1 "$1" taskset -c 0,1 "$hpar" parse --mode parallel --encoding utf-8 --format none \
    --stats=json large.html |
    sed -n 's/.*"threads":\([0-9]*\).*/\1/p'
}
for case in 'core:2 pu:1=2' 'core:1 pu:2=1' 'core:8 pu:1=2'; do
  got=$(threads "HWLOC_SYNTHETIC=${case%=*}")
  if [ "$got" = "${case#*=}" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "failed: ${case%=*}: $got threads"
  fi
done

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
