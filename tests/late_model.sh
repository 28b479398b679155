# Checks the models of late threads (late*.pml) with spin (Debian: spin): no assertion fails and no
# thread waits forever, for every interleaving. Without any one of its conditions, each model must
# find an error.
if ! command -v spin >/dev/null || ! command -v cc >/dev/null; then
  echo "skipped: spin or cc not found"
  exit 77
fi
models=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d) && cd "$folder" || exit 1
trap 'rm -rf "$folder"' EXIT
count=0
failed=0

# run MODEL OPTION...: explores the model. Returns whether it has no error.
run() {
  model=$1
  shift
  rm -f pan.out
  spin -a "$@" "$models/$model.pml" >spin.out 2>&1 &&
    cc -w -DSAFETY -DCOLLAPSE -DMEMLIM=2000 -o pan pan.c 2>cc.out &&
    timeout 500 ./pan -m1000000 >pan.out 2>&1
  grep -q "errors: 0" pan.out && ! grep -q "max search depth too small" pan.out
}

# explore MODEL OPTION...: counts a model that has an error.
explore() {
  count=$((count + 1))
  if run "$@"; then
    echo "$*: $(grep 'states, stored' pan.out | sed 's/^ *//')"
  else
    echo "$*: failed"
    cat spin.out cc.out pan.out
    failed=$((failed + 1))
  fi
}

# omit NUMBER MODEL OPTION...: counts a model that has no error without the condition.
omit() {
  omitted=$1
  shift
  count=$((count + 1))
  if run "$@" "-DOMIT=$omitted"; then
    echo "$1 without condition $omitted: the model finds no error"
    failed=$((failed + 1))
  elif ! grep -q "errors: 1" pan.out 2>/dev/null; then
    echo "$1 without condition $omitted: not explored"
    cat spin.out cc.out pan.out
    failed=$((failed + 1))
  else
    echo "$1 without condition $omitted: $(grep -m1 '^pan:1' pan.out)"
  fi
}

for size in 1x3 2x3 ${HPAR_TEST_FULL:+1x4 2x4}; do
  explore late "-DLENGTH=${size%x*}" "-DCHUNKS=${size#*x}"
done
for condition in 1 2 3 4 5 6; do omit $condition late -DLENGTH=1 -DCHUNKS=3; done
for slices in 2 3 ${HPAR_TEST_FULL:+4 5}; do explore late_slices "-DSLICES=$slices"; done
for condition in 1 2 3 4; do omit $condition late_slices -DSLICES=3; done
explore late_tree
for condition in 1 2; do omit $condition late_tree; done
explore late_neighbours
for condition in 1 2 3 4; do omit $condition late_neighbours; done
echo "$((count - failed)) passed, $failed failed"
test $failed = 0
