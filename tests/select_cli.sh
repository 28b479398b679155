#!/bin/sh
# Checks hpar select: output formats, exit codes, errors, and the selector fixtures of LOL HTML if
# they exist.
hpar=$1
. "$(dirname "$0")/support/scratch.sh"

# check EXPECTED-STATUS EXPECTED-OUTPUT ARGUMENT...: runs hpar select.
check() {
  wanted=$1
  printf "$2" >expected
  shift 2
  "$hpar" select "$@" >out 2>err </dev/null
  status=$?
  if test $status = "$wanted" && cmp -s out expected; then
    fine
  else
    wrong "hpar select $* (status $status)"
    sed 's/^/  got: /' out err
    sed 's/^/  expected: /' expected
  fi
}

# reports TEXT: checks that the standard error of the last run contains the text.
reports() {
  if grep -qF -- "$1" err; then fine; else
    wrong "standard error lacks: $1"
    cat err
  fi
}

printf '<!DOCTYPE html><ul class=x><li id=a>one <b>two</b><li>three<a href="u&amp;v">l</a></ul>\n' >a.html
: >empty.html
mkdir pages
printf '<p>1<p>2' >pages/1.html
printf '<p>3<br>' >pages/2.htm

check 0 '<li id="a">one <b>two</b></li>\n<li>three<a href="u&amp;v">l</a></li>\n' li a.html
check 0 'one <b>two</b>\nthree<a href="u&amp;v">l</a>\n' --print inner li a.html
check 0 'one two\nthreel\n' --print=text li a.html
check 0 'u&v\n' --print attribute:href '*' a.html
check 0 '27-36\n50-54\n' --print position li a.html
check 0 'implied\n' --print position body a.html
check 0 '{"file":"a.html","selector":"#a","name":"li","attributes":{"id":"a"},"start":27,"end":36,"attribute_positions":{"id":{"name_start":31,"name_end":33,"value_start":34,"value_end":35}},"html":"<li id=\\"a\\">one <b>two</b></li>"}\n' \
  --print json '#a' a.html
check 0 '{"file":"a.html","selector":"b","name":"b","attributes":{},"start":40,"end":43,"end_tag":{"start":46,"end":50},"html":"<b>two</b>"}\n' \
  --print json b a.html
check 0 '{"file":"empty.html","selector":"body","name":"body","attributes":{},"html":"<body></body>"}\n' --print json body empty.html
long=$(printf '%0300d' 0)
printf '<p y%s1=a y%s2=b>' $long $long >long.html
"$hpar" select --print json p long.html >out
for number in 1 2; do
  if test "$(grep -o "\"y${long}$number\"" out | wc -l)" = 2; then fine; else wrong "long names: $(cat out)"; fi
done
check 0 '2\n' --count li a.html
check 0 '0\n' --count nav a.html
check 0 '<br>\n' br pages/2.htm
check 0 'pages/1.html: 2\npages/2.htm: 1\n' --count p pages
check 0 'pages/1.html: <p>1</p>\npages/1.html: <p>2</p>\npages/2.htm: <p>3<br></p>\n' p pages
check 0 'pages/1.html: <p>1</p>\npages/1.html: <p>2</p>\npages/2.htm: <p>3<br></p>\npages/2.htm: <br>\n' --selector p --selector br pages
check 1 '' --require nav a.html
reports 'the selector nav matches nothing'
check 0 '<b>two</b>\n' --fragment div b a.html
check 1 '' p missing.html
reports 'missing.html'
check 2 '' 'li:foo' a.html
reports 'byte 3: this pseudo-class is unknown'
reports '    ^'
check 2 ''
check 2 '' p
check 2 '' --print colour p a.html
reports "'colour' is not outer, inner, text, attribute:NAME, position or json"
check 2 '' --print attribute: p a.html

echo '<p>x</p>' | "$hpar" select --print text p - >out
if test "$(cat out)" = x; then fine; else failed=$((failed + 1)); fi

# --many prints the same bytes as one page after the other, in the order of the operands
mkdir many
for i in 1 2 3 4 5 6 7 8 9; do
  printf '<title>%s</title><p class=c>a%s<p>b<a href=%s>c</a><table><td>d</table>' $i $i $i >many/$i.html
done
for arguments in '--print json p' '--print position td,tbody' '--print attribute:href a' '--count p' '--print text body' 'p'; do
  # shellcheck disable=SC2086 # several arguments
  "$hpar" select $arguments many/9.html many a.html >alone
  for threads in 0 1 4; do
    # shellcheck disable=SC2086 # several arguments
    "$hpar" select --many --threads $threads $arguments many/9.html many a.html >out
    if test -s out && cmp out alone; then fine; else failed=$((failed + 1)); fi
  done
done
check 1 'many/2.html: <title>2</title>\n' --many title missing.html many/2.html
reports 'missing.html'
check 0 '3\n' --many --count --selector p --selector a many/5.html
check 1 '2\n' --many --count --require --selector p --selector x many/5.html
reports 'the selector x matches nothing'
check 2 '' --many --mode parallel p many/5.html
reports '--mode and --many exclude each other'

# --stream prints the same positions as a selection in the tree, with any number of threads
awk 'BEGIN {
  print "<!DOCTYPE html><title>t</title>"
  for (i = 0; i < 9000; i++) {
    print i % 3 ? "<section><p class=x>a</p><a href=q>b</a></section>" : "<div><p>c</p><table>"
    if (i % 3 == 0) print "<tr><td>1</td></tr><tr><td>2</td></tr></table></div>"
  }
}' >large.html
for selector in p 'div > p' 'tr:nth-child(2n) td' 'section p + a, [class]' nav; do
  "$hpar" select --print position "$selector" large.html >tree
  for arguments in '--mode sequential' '--mode parallel --threads 3' '--threads 2' ''; do
    # shellcheck disable=SC2086 # several arguments
    "$hpar" select --stream $arguments "$selector" large.html >out
    if cmp out tree; then fine; else failed=$((failed + 1)); fi
    # shellcheck disable=SC2086 # several arguments
    "$hpar" select --stream $arguments --count "$selector" - <large.html >out
    if test "$(cat out)" = "$(wc -l <tree)"; then fine; else failed=$((failed + 1)); fi
  done
done
check 0 'many/1.html: 16-27\nmany/1.html: 29-32\nmany/2.html: 16-27\nmany/2.html: 29-32\n' --stream p many/1.html many/2.html
check 1 '2\n' --stream --count --require --selector p --selector x many/5.html
reports 'the selector x matches nothing'
check 1 'many/2.html: 1\n' --stream --count title missing.html many/2.html
reports 'missing.html'
check 2 '' --stream p:last-child many/5.html
reports 'needs what follows the start tag'
check 2 '' --stream --print json p many/5.html
reports '--stream prints positions only'
check 2 '' --stream --fragment 'a  b' p many/5.html
reports "--fragment: 'a  b' is no element"
check 2 '' --fragment 'a  b' p many/5.html
reports "--fragment: 'a  b' is no element"
reports 'fragment'
check 2 '' --stream --many p many/5.html
reports 'exclude each other'
printf '\377\376<\0p\0>\0' >utf16.html
check 1 '' --stream p utf16.html
reports 'utf16.html'
{ printf '<img src="data:' && head -c 1100000 /dev/zero | tr '\0' a && printf '"><p>'; } >wide.html
check 1 '' --stream img wide.html
reports 'wide.html: a tag has more than 1 MB, which --stream does not keep'
check 0 '0-1100017\n' --print position img wide.html

shared=${HPAR_SHARED:-$HPAR_SOURCE_DIR/../shared}
if test -f "$shared/lolhtml/selector_matching.jsonl" && command -v python3 >/dev/null; then
  if python3 "$HPAR_SOURCE_DIR/tests/select_fixtures.py" "$hpar" "$shared/lolhtml/selector_matching.jsonl"; then
    fine
  else
    failed=$((failed + 1))
  fi
else
  echo "skipped: no selector fixtures"
fi
echo "$passed passed, $failed failed"
test $failed = 0
