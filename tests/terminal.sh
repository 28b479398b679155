#!/bin/sh
# Checks the progress lines that hpar compare and hpar profile write on a terminal. The program
# script (Debian: bsdutils) provides the pseudo-terminal.

hpar=$1
script -qec true /dev/null >/dev/null 2>&1 </dev/null || {
  echo 'skipped: no pseudo-terminal, or script not found'
  exit 77
}
. "$(dirname "$0")/support/tally.sh"
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2

# on_terminal ARGUMENT...: runs hpar on a terminal; its output goes to out.
on_terminal() {
  last="hpar $* on a terminal"
  script -qec "'$hpar' $*" /dev/null >out 2>err </dev/null
}
out_has() { if grep -q -e "$1" out; then fine; else wrong "$last: output lacks $1"; fi; }

mkdir folder
printf '<p>x' >page.html
printf '<p>y' >folder/other.html
on_terminal compare --repeat 1 page.html folder/other.html missing.html
out_has '1 of 3: page.html'
if "$hpar" parse --predictor help >names 2>/dev/null; then
  awk 'BEGIN { for (i = 0; i < 200000; i++) print "<p>paragraph " i }' >long.html
  on_terminal profile long.html folder
  out_has 'switches of the tokenizer'
fi

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
