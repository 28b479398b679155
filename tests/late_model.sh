# Checks the model of the runtime (units.pml) and that of merge trees (late_tree.pml) with spin
# (Debian: spin): no assertion fails and no thread waits forever, for every interleaving. Without any
# one of its conditions, each model must find an error.
if ! command -v spin >/dev/null || ! command -v cc >/dev/null; then
  echo "skipped: spin or cc not found"
  exit 77
fi
models=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d) && cd "$folder" || exit 1
trap 'rm -rf "$folder"' EXIT
count=0
failed=0

# run LEVEL MODEL OPTION...: explores the model. Returns whether it has no error.
run() {
  level=$1 model=$2
  shift 2
  rm -f pan.out
  spin -a "$@" "$models/$model.pml" >spin.out 2>&1 &&
    cc -w "$level" -DSAFETY -DHC4 -DMEMLIM=4000 -o pan pan.c 2>cc.out &&
    timeout 500 ./pan -m1000000 >pan.out 2>&1
  grep -q "errors: 0" pan.out && ! grep -q "max search depth too small" pan.out
}

# explore MODEL OPTION...: counts a model that has an error.
explore() {
  count=$((count + 1))
  if run -O2 "$@"; then
    echo "$*: $(grep 'states, stored' pan.out | sed 's/^ *//')"
  else
    echo "$*: failed"
    cat spin.out cc.out pan.out
    failed=$((failed + 1))
  fi
}

# omit NUMBER MODEL OPTION...: counts a model that has no error without the condition. An error comes
# early, so that the compiler would take longer to optimise than it saves.
omit() {
  omitted=$1
  shift
  count=$((count + 1))
  if run -O0 "$@" "-DOMIT=$omitted"; then
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

# The merger of three threads has too many states for each run of the tests.
explore units -DCLIENT=1 -DWORKERS=2 -DUNITS=4
explore units -DCLIENT=2 -DWORKERS=1 -DUNITS=4
explore units -DCLIENT=3 -DWORKERS=2 -DUNITS=4
if [ "$HPAR_TEST_FULL" ]; then explore units -DCLIENT=2 -DWORKERS=2 -DUNITS=4; fi
for condition in 1 5 16 17 18; do omit $condition units -DCLIENT=1 -DWORKERS=1 -DUNITS=3; done
omit 4 units -DCLIENT=1 -DWORKERS=2 -DUNITS=3
omit 3 units -DCLIENT=3 -DWORKERS=2 -DUNITS=4
for condition in 7 11 12 13; do omit $condition units -DCLIENT=2 -DWORKERS=1 -DUNITS=3; done
for condition in 8 9 10; do omit $condition units -DCLIENT=2 -DWORKERS=2 -DUNITS=4; done
for condition in 2 6 14 15; do omit $condition units -DCLIENT=3 -DWORKERS=1 -DUNITS=4; done
explore late_tree
for condition in 1 2; do omit $condition late_tree; done
echo "$((count - failed)) passed, $failed failed"
test $failed = 0
