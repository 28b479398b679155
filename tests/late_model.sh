# Checks the model of late threads, late.pml, with spin (Debian: spin): no assertion fails and no
# thread waits forever, for every interleaving. Without any one of the conditions it must find an
# error.
if ! command -v spin >/dev/null || ! command -v cc >/dev/null; then
  echo "skipped: spin or cc not found"
  exit 77
fi
model=$(cd "$(dirname "$0")" && pwd)/late.pml
folder=$(mktemp -d) && cd "$folder" || exit 1
trap 'rm -rf "$folder"' EXIT
failed=0

# run OPTION...: explores the model. Returns whether it has no error.
run() {
  spin -a "$@" "$model" >spin.out 2>&1 &&
    cc -w -DSAFETY -DCOLLAPSE -DMEMLIM=2000 -o pan pan.c 2>cc.out &&
    timeout 500 ./pan -m1000000 >pan.out 2>&1
  grep -q "errors: 0" pan.out && ! grep -q "max search depth too small" pan.out
}

all="1x3 2x3${HPAR_TEST_FULL:+ 1x4 2x4}"
for size in $all; do
  sizes="-DLENGTH=${size%x*} -DCHUNKS=${size#*x}"
  rm -f pan.out
  # shellcheck disable=SC2086 # several options
  if run $sizes; then
    echo "$sizes: $(grep 'states, stored' pan.out | sed 's/^ *//')"
  else
    echo "$sizes: failed"
    cat spin.out cc.out pan.out
    failed=$((failed + 1))
  fi
done
conditions="1 2 3 4 5 6"
for omitted in $conditions; do
  rm -f pan.out
  if run -DLENGTH=1 -DCHUNKS=3 -DOMIT=$omitted; then
    echo "without condition $omitted: the model finds no error"
    failed=$((failed + 1))
  elif ! grep -q "errors: 1" pan.out 2>/dev/null; then
    echo "without condition $omitted: not explored"
    cat spin.out cc.out pan.out
    failed=$((failed + 1))
  else
    echo "without condition $omitted: $(grep -m1 '^pan:1' pan.out)"
  fi
done
# shellcheck disable=SC2086 # a list of words
set -- $all $conditions
echo "$(($# - failed)) passed, $failed failed"
test $failed = 0
