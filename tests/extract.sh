#!/bin/sh
# Checks the commands hpar text and hpar links. The argument is the program.
set -u

hpar=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
passed=0 failed=0

check() {
  if eval "$2"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "failed: $1"
    head -n 12 out err 2>/dev/null
  fi
}

# run STATUS ARGUMENT...: the command reads the file `page`. Its output goes to out and err.
run() {
  wanted=$1
  shift
  "$hpar" "$@" >out 2>err <page
  got=$?
  check "hpar $*: status $got, not $wanted" "[ $got -eq $wanted ]"
}

# is TEXT: the output is TEXT.
is() {
  printf "$1" >expected
  check "output is $1" 'cmp -s out expected'
}

cat >page <<'END'
<!doctype html><title>t "1"</title><base href=/d/><script>s</script>
<p>a  "b"\<a href=x>c</a><pre> d
</pre><img srcset="i 1x, http://[ 2x"><noscript>n</noscript>
END

run 0 text page
is 'a "b"\\c\n d\n'
run 0 text -
is 'a "b"\\c\n d\n'
run 0 text --all --no-breaks page
is 't "1"s a "b"\\c d\nn\n'
run 0 text --keep-white-space page
check 'white space is kept' 'grep -q "^a  \"b\"" out'
run 0 text --json page -
is '{"file": "page", "text": "a \\"b\\"\\\\c\\n d\\n"}\n{"file": "-", "text": "a \\"b\\"\\\\c\\n d\\n"}\n'
run 0 text --scripting on --threads 2 --encoding utf-8 page
is 'a "b"\\c\n d\n'
printf '<p>x' >page2
run 0 text page2 page
is 'x\na "b"\\c\n d\n'

run 0 links --base http://h/p page
is 'http://h/d/x\nhttp://h/d/i\n'
run 0 links page
is ''
run 0 links --base http://h/p --json page
is '{"file": "page", "element": "a", "attribute": "href", "value": "x", "url": "http://h/d/x"}\n{"file": "page", "element": "img", "attribute": "srcset", "value": "i", "url": "http://h/d/i"}\n{"file": "page", "element": "img", "attribute": "srcset", "value": "http://[", "url": null}\n'
if command -v python3 >/dev/null; then
  check 'each line is JSON' "python3 -c 'import json; [json.loads(line) for line in open(\"out\")]'"
else
  echo 'skipped: JSON is not checked, python3 not found'
fi

for command in text links; do
  run 0 $command --help
  check 'help names the options' 'grep -q -e --json out && grep -q "FILE|-" out'
  run 2 $command
  run 2 $command --nothing page
  run 2 $command --encoding nothing page
  run 1 $command missing
  check 'the message names the file' 'grep -q "^hpar: missing: " err'
  run 1 $command missing page2
  check 'the other file is done' '[ $command = links ] || grep -q x out'
done
run 2 links --base nothing page
check 'the message names the option' 'grep -q -e "--base: .nothing. is not a valid absolute URL" err'
if [ -w /dev/full ]; then
  "$hpar" text page >/dev/full 2>err
  check 'full output is status 1' "[ $? -eq 1 ]"
fi

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
