#!/bin/sh
# Checks --scripts run of hpar parse, compare, explain and trace: the trees, the reports of errors,
# and scripts that never end, use all memory, or write without end.
hpar=$1
. "$(dirname "$0")/support/scratch.sh"

# run EXPECTED-STATUS ARGUMENT...: runs hpar with the file `in` as standard input.
run() {
  wanted=$1
  shift
  command="hpar $*"
  "$hpar" "$@" >out 2>err <in
  status=$?
  if test $status = "$wanted"; then fine; else wrong "$command (status $status, expected $wanted)"; fi
}

# in_output TEXT, in_errors TEXT: the last run printed it.
in_output() { if grep -qF -- "$1" out; then fine; else wrong "$command: no '$1' in the output"; fi; }
in_errors() { if grep -qF -- "$1" err; then fine; else wrong "$command: no '$1' in the messages"; fi; }

: >in
printf '<!DOCTYPE html><p id=a>1<script>document.write("<b>2")</script>3' >write.html
cp "$hpar" alone
chmod +x alone
PATH=/nonexistent ./alone parse --scripts run write.html >out 2>err
status=$?
command="hpar without hpar-scripts"
if test $status = 2; then fine; else wrong "$command (status $status)"; fi
in_errors 'install Duktape (Debian: duktape-dev)'
run 0 parse --scripts off --format html write.html
in_output '</script>3</p>'
run 2 parse --scripts maybe write.html
run 2 parse --script-time 0 --scripts run write.html
if ! test -x "$(dirname "$hpar")/hpar-scripts"; then
  echo "$passed passed, $failed failed"
  test $failed = 0 || exit 1
  echo "skipped: this build has no hpar-scripts (Debian: duktape-dev)"
  exit 77
fi

run 0 parse --scripts run --format html write.html
in_output '</script><b>23</b></p>'
cp write.html in
run 0 parse --scripts run --format html -
in_output '</script><b>23</b></p>'
for mode in sequential parallel pipelined; do
  "$hpar" --help >/dev/null
  run 0 parse --scripts run --mode sequential --format html write.html
  cp out expected
  if "$hpar" parse --mode $mode write.html >/dev/null 2>&1; then
    run 0 parse --scripts run --mode $mode --format html write.html
    cmp -s out expected || wrong "$command: another tree"
  fi
done
run 2 parse --scripts run --many write.html
run 1 parse --scripts run absent.html
in_errors 'absent.html: cannot be read'
run 2 parse --scripts run --cuts 5000 write.html

# errors: the line of the file, of standard input, and of written text
printf '<!DOCTYPE html>\n<p>\n<script>\nvar a;\nmissing();</script>\n<script>b = (</script><script>var fine;</script>\n' >errors.html
run 0 parse --scripts run errors.html
in_errors 'errors.html:5: script 1: ReferenceError'
in_errors 'errors.html:6: script 2: SyntaxError'
in_errors 'hpar: errors.html: 2 of 3 scripts ended with an uncaught error'
cp errors.html in
run 0 parse --scripts run -
in_errors 'standard input:5: script 1: ReferenceError'
: >in
printf '<script>document.write("<script>\\n\\nmissing()</"+"script>")</script>' >nested.html
run 0 parse --scripts run nested.html
in_errors 'nested.html: script 2, line 3 of its text: ReferenceError'
printf '<script>throw {toString: function () { throw 1; }}</script><script>throw null</script>' >thrown.html
run 0 parse --scripts run thrown.html
in_errors '2 of 2 scripts'

# the clock and random numbers are the same in each run
printf '<script>document.write(new Date().getTime() + " " + Math.random() + " " + Date.now())</script>' >clock.html
run 0 parse --scripts run --format html clock.html
cp out expected
run 0 parse --scripts run --format html clock.html
cmp -s out expected || wrong "another clock"

# no file, no network
cat >reach.html <<'PAGE'
<script>
["XMLHttpRequest", "fetch", "WebSocket", "require", "process", "load", "read", "Duktape"].forEach(function (name) {
  if (this[name]) document.write("<reached>");
}, this);
document.write("<done>");
</script>
PAGE
run 0 parse --scripts run reach.html
in_output '    <done>'
if grep -q '| *<reached>$' out; then wrong 'a script reaches more than the document'; fi

# hostile scripts
printf '<script>for(;;);</script>' >endless.html
run 1 parse --scripts run --script-time 1 endless.html
in_errors 'endless.html: the scripts took more than 1 s of processor time'
printf '<script>for(;;)try{document.write("<p>x")}catch(e){}</script>' >caught.html
printf '<script>for(;;)document.write("<p>x")</script>' >writes.html
run 1 parse --scripts run --script-memory 64 --max-nodes 1000 writes.html
in_errors 'the tree ends there'
run 1 parse --scripts run --script-memory 16 writes.html
printf '<script>var a = "x"; for (;;) a += a;</script>after' >memory.html
run 0 parse --scripts run --script-memory 64 memory.html
in_errors '1 of 1 scripts'
in_output 'after'
printf '<script>function f() { f(); } f();</script>after' >recursion.html
run 0 parse --scripts run recursion.html
in_output 'after'
printf '<script>function w() { document.write("<script>w()</"+"script>") } w();</script>after' >write_recursion.html
run 0 parse --scripts run write_recursion.html
in_output 'after'

# hpar compare: a page that its child process does not survive; the other pages are compared
run 1 compare --scripts run --script-time 1 --repeat 1 --script-memory 16 write.html caught.html clock.html
in_errors 'caught.html: the scripts took more than 1 s'
in_output '2 of 2 equal, 1 not parsed'
run 0 compare --scripts run --repeat 2 --json errors.html
in_output '"scripts":3,"script_errors":2'
in_errors 'errors.html:5: script 1: ReferenceError'
run 2 compare --scripts run --many write.html

# hpar explain and hpar trace: the figures of the scripts, and their events
for mode in parallel pipelined; do
  if "$hpar" explain --mode $mode write.html >/dev/null 2>&1; then
    run 0 explain --scripts run --mode $mode write.html
    in_output '1 scripts ran in '
    in_output 'and wrote 4 bytes; 1 left another state: 0 '
    run 0 explain --scripts run --mode $mode --json write.html
    in_output '"script":{"runs":1,'
    in_output '"kind":"script"'
    run 0 trace --scripts run --mode $mode write.html
    in_output '"script":{"runs":1,'
    in_output '"name":"script"'
  fi
done
run 0 explain --scripts run --html page.html errors.html
in_errors 'errors.html:5: script 1: ReferenceError'
cp page.html out
in_output '3 scripts ran in '
run 1 explain --scripts run --script-time 1 endless.html
in_errors 'endless.html: the scripts took more than 1 s'
run 2 trace --scripts run --fragment div write.html

echo "$passed passed, $failed failed"
test $failed = 0
