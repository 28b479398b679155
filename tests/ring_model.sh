# Checks the model of the token buffer, ring.pml, with spin (Debian: spin) in small sizes: no
# assertion fails and no thread sleeps forever, for every interleaving.
if ! command -v spin >/dev/null || ! command -v cc >/dev/null; then
  echo "skipped: spin or cc not found"
  exit 77
fi
model=$(cd "$(dirname "$0")" && pwd)/ring.pml
folder=$(mktemp -d) && cd "$folder" || exit 1
trap 'rm -rf "$folder"' EXIT
failed=0
check() {
  spin -a "$@" "$model" >spin.out 2>&1 && cc -O1 -DSAFETY -DCOLLAPSE -DMEMLIM=2000 -o pan pan.c 2>cc.out && timeout 500 ./pan -m1000000 >pan.out 2>&1
  if grep -q "errors: 0" pan.out && ! grep -q "max search depth too small" pan.out; then
    echo "$*: $(grep 'states, stored' pan.out | sed 's/^ *//')"
  else
    echo "$*: failed"
    cat spin.out cc.out pan.out
    failed=$((failed + 1))
  fi
}
check -DLENGTH=1 -DBATCH=1
check -DLENGTH=2 -DBATCH=1
check -DLENGTH=2 -DBATCH=2
check -DLENGTH=3 -DBATCH=2 -DROLLBACKS=1
check -DLENGTH=2 -DBATCH=2 -DBARRIER=2
if (check -DLENGTH=2 -DBATCH=1 -DBARRIER=0; exit $failed) >/dev/null; then
  echo "without a barrier: the model does not find that somebody is left asleep"
  failed=$((failed + 1))
fi
echo "$((6 - failed)) passed, $failed failed"
test $failed = 0
