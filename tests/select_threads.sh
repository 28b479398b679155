#!/bin/sh
# Checks that hpar select reads and searches one large page with several threads, and prints the
# same bytes as with one thread: each form, the count, several selectors, scripting, standard input.
hpar=$1
. "$(dirname "$0")/support/scratch.sh"

# same FILE: checks that `out` is not empty and equals FILE.
same() {
  if test -s out && cmp out "$1"; then fine; else
    wrong "$mode $arguments"
  fi
}

# fails STATUS TEXT ARGUMENT...: checks the exit status, and the text on standard error.
fails() {
  wanted=$1
  text=$2
  shift 2
  "$hpar" select "$@" >out 2>err
  status=$?
  if test $status = "$wanted" && grep -qF -- "$text" err; then fine; else
    wrong "hpar select $* (status $status)"
    cat err
  fi
}

mkdir many
for i in 1 2 3; do printf '<title>%s</title><p class=c>a' $i >many/$i.html; done

awk 'BEGIN {
  print "<!DOCTYPE html><title>t</title><noscript><p>n</p></noscript>"
  for (i = 0; i < 13000; i++) {
    print i % 5 ? "<section><p class=x>a &amp; b</p><a href=q" i ">b</a></section>" : "<div><p>c<b>d<table>"
    if (i % 5 == 0) print "<tr><td>1<td>2</tr>e</table></b></div>"
  }
}' >huge.html
printf '%s\n' '--threads 3' '--threads 1' '' >modes
if "$hpar" parse --mode parallel --format none many/1.html 2>err; then
  printf '%s\n' '--mode parallel --threads 3' '--mode parallel --threads 2 --scripting on' >>modes
else
  fails 2 'no parallel parser' --mode parallel p many/1.html
fi
while read -r arguments; do
  for scripting in off on; do
    # shellcheck disable=SC2086 # several arguments
    "$hpar" select --mode sequential --scripting $scripting $arguments huge.html >tree.$scripting
  done
  while read -r mode <&3; do
    expected=tree.off
    test "$mode" = "${mode%--scripting on}" || expected=tree.on
    # shellcheck disable=SC2086 # several arguments
    "$hpar" select $mode $arguments huge.html >out
    same "$expected"
    # shellcheck disable=SC2086 # several arguments
    "$hpar" select $mode $arguments - <huge.html | sed 's/"file":"-"/"file":"huge.html"/' >out
    same "$expected"
  done 3<modes
done <<'END'
--count p
--print position noscript,td:nth-child(2n)
--print json --selector td --selector div>b
--print attribute:href section:nth-child(7n)>a
--print text b:last-of-type
--print inner section
table:has(tr)
END
"$hpar" select --mode sequential --fragment div 'p ~ a' huge.html >tree
"$hpar" select --threads 3 --fragment div 'p ~ a' huge.html >out
same tree
"$hpar" select --mode sequential --count p huge.html many huge.html >tree
"$hpar" select --threads 3 --count p huge.html many huge.html >out
same tree
fails 1 'the selector nav matches nothing' --threads 3 --require nav huge.html
fails 2 '--mode and --many exclude each other' --many --mode sequential p many
echo "$passed passed, $failed failed"
test $failed = 0
