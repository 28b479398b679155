#!/bin/sh
# Checks the command hpar resources. The argument is the program.
set -u

hpar=$1
. "$(dirname "$0")/support/tally.sh"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# run STATUS ARGUMENT...: the command reads the file `page`. Its output goes to out and err.
run() {
  wanted=$1
  shift
  "$hpar" "$@" >out 2>err <page
  got=$?
  if [ $got -eq "$wanted" ]; then fine; else wrong "hpar $*: status $got, not $wanted"; fi
}

# check NAME CONDITION
check() { if eval "$2"; then fine; else wrong "$1"; fi; }

cat >page <<'END'
<!doctype html><script src=early.js></script><base href=/d/><script async src=a.js type=module></script>
<link rel=preload as=font href="f?a=1&amp;b=&quot;" crossorigin><style>@import "i.css" print;</style>
<picture><source srcset="s 2x"><img src=http://[ loading=lazy></picture><template><img src=no></template>
END
cat >expected <<'END'
kind           url
script         http://h/d/early.js
base           http://h/d/
module         http://h/d/a.js async type="module"
preload        http://h/d/f?a=1&b=%22 as="font" crossorigin=""
import         http://h/d/i.css content="print"
image          - lazy source srcset="s 2x"
image          http://[ lazy
END
run 0 resources --base http://h/p page
check 'the table' 'cmp -s out expected'
run 0 resources --base http://h/p -
check 'standard input' 'cmp -s out expected'
run 0 resources page
check 'without a base, URLs stay as they are' 'grep -q "^script         early.js$" out && grep -q "^base           /d/$" out'

run 0 resources --scan --base http://h/p page
check 'the table of a scan' 'cmp -s out expected'
run 0 resources --scan --early --base http://h/p page
check 'the events of a scan' 'grep -q "confirmed *0 *15 *script *http://h/d/early.js$" out'

run 0 resources --json --base http://h/p page
printf '%s\n' '{"file": "page", "kind": "script", "value": "early.js", "url": "http://h/d/early.js"}' >expected
check 'JSON' 'head -n 1 out | cmp -s - expected'
check 'no valid URL' 'grep -q "\"value\": \"http://\[\", \"url\": null, \"lazy\": true" out'
if command -v python3 >/dev/null; then
  check 'each line is JSON' "python3 -c 'import json; [json.loads(line) for line in open(\"out\")]'"
else
  echo 'skipped: JSON is not checked, python3 not found'
fi

# The confirmed resources of a parse are those of its tree, whatever the number of threads is.
{
  cat page
  for i in 1 2 3 4 5 6 7 8 9; do
    for k in 1 2 3 4 5 6 7 8 9; do
      printf '<div class=c%s><p>text<img src="%s/%s.png" alt="a&amp;b"><b>x</b></div>' "$i" "$i" "$k"
    done
    head -c 4000 /dev/zero | tr '\0' x
  done
} >large
"$hpar" resources large | sed 1d >tree
for threads in 1 2 4; do
  run 0 resources --early --threads $threads large
  check 'the events have a head' 'head -n 1 out | grep -q "ms  event      thread      offset  kind"'
  sed 1d out | grep '^ *[0-9.]*  confirmed  ' | sed 's/^ *[0-9.]*  confirmed  *[0-9]*  *[0-9]*  //' >confirmed
  check "confirmed resources with $threads threads" 'cmp -s tree confirmed'
  check 'no resource is cancelled' '! grep -q "cancelled" out'
  run 0 resources --scan --threads $threads large
  sed 1d out >scanned
  check "scanned resources with $threads threads" 'cmp -s tree scanned'
done
run 0 resources --early --json --threads 2 large
check 'events as JSON' 'grep -q "\"event\": \"confirmed\", \"ms\": [0-9.]*, \"thread\": 0, \"offset\": 15, \"kind\": \"script\"" out'

run 0 resources --in-order --threads 3 large
check 'found resources come in order' "sed 1d out | awk '\$2 == \"found\" {print \$4}' | sort -cn"
sed 1d out | grep '^ *[0-9.]*  confirmed  ' | sed 's/^ *[0-9.]*  confirmed  *[0-9]*  *[0-9]*  //' >confirmed
check 'confirmed resources in order' 'cmp -s tree confirmed'

printf '%s' '<base href=/d/><script type=module>import "./a.js"; import "b"; import "http://i/c"; export * from "../d"</script>' \
  '<script type=importmap>{"imports": {"b": "./b.js"}}</script>' >modules
printf '%-13s  %s\n' kind url base http://h/d/ >expected
for url in http://h/d/a.js b http://i/c http://h/d; do printf 'module-import  %s type="module"\n' $url >>expected; done
printf 'importmap      - type="importmap" content="{\\"imports\\": {\\"b\\": \\"./b.js\\"}}"\n' >>expected
"$hpar" resources --base http://h/p modules >out
check 'imports of modules' 'cmp -s out expected'

printf '<img src=x>' >page2
run 0 resources page2 page
check 'names of several files' 'grep -qx page out && grep -qx page2 out'
run 0 resources --help
check 'help names the options' 'grep -q -e --early out && grep -q "FILE|-" out'
run 2 resources
run 2 resources --nothing page
run 2 resources --encoding nothing page
run 2 resources --base nothing page
check 'the message names the option' 'grep -q -e "--base: .nothing. is not a valid absolute URL" err'
run 1 resources missing page2
check 'the message names the file' 'grep -q "^hpar: missing: " err'
check 'the other file is done' 'grep -q "^image *x$" out'
if [ -w /dev/full ]; then
  "$hpar" resources page >/dev/full 2>err
  check 'full output is status 1' "[ $? -eq 1 ]"
fi
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
