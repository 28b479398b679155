#!/bin/sh
# plugins.sh CMAKE BUILD CC SOURCE: installs BUILD, builds the plug-ins of examples/study against it, with CMake and with
# pkg-config, and uses each in the installed `hpar compare`. Then the same for a predictor that only adds a file, and
# files that are no plug-ins.
set -eu

cmake=$1 build=$2 cc=$3 source=$4
top=$(mktemp -d "${TMPDIR:-/tmp}/hpar-plugins.XXXXXX")
trap 'rm -rf "$top"' EXIT
cp -r "$source/examples/study" "$top/study"
"$cmake" --install "$build" --prefix "$top/installed" >"$top/log"
hpar=$top/installed/bin/hpar
passed=0 failed=0

check() { # NAME COMMAND...: the command succeeds
  what=$1
  shift
  if "$@" >"$top/checked" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "failed: $what"
    head -5 "$top/checked"
  fi
}

refuses() { # STATUS TEXT ARGUMENT...: hpar compare prints the text and ends with the status
  expected=$1 text=$2
  shift 2
  status=0
  "$hpar" compare "$@" "$top/page.html" >"$top/out" 2>&1 || status=$?
  check "$text" sh -c 'test "$1" = "$2" && grep -qF -- "$3" "$4"' - "$status" "$expected" "$text" "$top/out"
}

for file in "$top"/study/*.c; do
  check "$file has at most 150 lines" test "$(wc -l <"$file")" -le 150
  check "$file includes only study.h" test "$(grep '^ *# *include' "$file")" = '#include <hpar/study.h>'
done

# Another predictor is one more file.
sed 's/"nearest"/"nearest2"/' "$top/study/predictor.c" >"$top/study/another.c"

"$cmake" -S "$top/study" -B "$top/cmake" -DCMAKE_PREFIX_PATH="$top/installed" -DCMAKE_C_COMPILER="$cc" \
  -DCMAKE_C_FLAGS="-Wall -Wextra -Werror" >>"$top/log"
"$cmake" --build "$top/cmake" >>"$top/log"
mkdir "$top/cc"
if command -v pkg-config >/dev/null; then
  PKG_CONFIG_PATH=$(dirname "$(find "$top/installed" -name hpar.pc)")
  export PKG_CONFIG_PATH
  for file in "$top"/study/*.c; do
    "$cc" -std=c11 -shared -fPIC $(pkg-config --cflags hpar) "$file" -o "$top/cc/$(basename "$file" .c).so"
  done
fi

printf '<!doctype html><title>t</title><table>' >"$top/page.html"
i=0
while test $i -lt 400; do
  printf '<tr><td>a%d<td><b>b</b><script>if (a < %d) w("</p>")</script><!-- <p> -->\n<p class="<">c<div>d</div></p></tr>' $i $i
  i=$((i + 1))
done >>"$top/page.html"

for folder in "$top/cmake" "$top/cc"; do
  test -e "$folder/strategy.so" || continue
  for part in strategy:--strategy:learner predictor:--predictor:nearest another:--predictor:nearest2 cut_policy:--cut:blocks; do
    file=$folder/${part%%:*}.so name=${part##*:}
    option=${part#*:}
    option=${option%:*}
    for how in "--threads 2" "--chunks 10 --executor inline" "--chunk-size 700 --merge tree"; do
      check "$option $name $how" "$hpar" compare $option "$name" --plugin "$file" $how --repeat 1 --json "$top/page.html"
      cp "$top/checked" "$top/out"
      check "$name is in the result" grep -qE "\"(strategy|predictor|cut)\":[[:space:]]*\"$name\"" "$top/out"
      check "$name has an equal tree" grep -q '"equal":[[:space:]]*true' "$top/out"
    done
    check "$name is listed" sh -c '"$1" compare --plugin "$2" "$3" help | grep -qF "($2)"' - "$hpar" "$file" "$option"
  done
done

for folder in "$top/cmake" "$top/cc"; do
  test -e "$folder/driver.so" || continue
  for name in warm tokens; do
    for how in "--threads 2" "--threads 1" "--executor inline"; do
      check "--mode $name $how" "$hpar" compare --mode $name --plugin "$folder/driver.so" $how --repeat 1 --json "$top/page.html"
      cp "$top/checked" "$top/out"
      check "$name has parsed" grep -qE "\"mode\":[[:space:]]*\"$name\"" "$top/out"
      check "$name has an equal tree" grep -q '"equal":[[:space:]]*true' "$top/out"
    done
    check "$name is listed" sh -c '"$1" compare --plugin "$2" --mode help | grep -qF "($2)"' - "$hpar" "$folder/driver.so"
    check "parse --mode $name" "$hpar" parse --mode $name --plugin "$folder/driver.so" --format none "$top/page.html"
    check "trace --mode $name" "$hpar" trace --mode $name --plugin "$folder/driver.so" "$top/page.html"
  done
done

python3 "$source/experiments/accuracy/run" --hpar "$hpar" --chunks 8 --plugin "$top/cmake/strategy.so" \
  --strategies enumerate,learner "$top/page.html" >"$top/table" 2>&1 || cat "$top/table"
check 'the accuracy table has the plug-in' grep -q '^| learner |' "$top/table"
check 'the start hypotheses of enumerate converge' grep -qF '### Start hypotheses of a chunk, enumerate, 8 chunks' "$top/table"

plug() { # NAME TEXT: compiles a plug-in of this text
  printf '#include <hpar/study.h>\n%s\n' "$2" >"$top/$1.c"
  "$cc" -std=c11 -shared -fPIC -I"$top/installed/include" "$top/$1.c" -o "$top/$1.so"
}
plug none 'int nothing(void); int nothing(void) { return 0; }'
plug null 'HPAR_PLUGIN { return NULL; }'
plug newer 'static const hpar_plugin p = {.version = HPAR_PLUGIN_VERSION + 1}; HPAR_PLUGIN { return &p; }'
plug nameless 'static size_t f(const char *t, size_t l, size_t e, void *c) { (void)t, (void)l, (void)c; return e; }
static const hpar_cut_policy c = {HPAR_CUT_POLICY_INIT, .cut = f}, *const l[] = {&c, NULL};
static const hpar_plugin p = {HPAR_PLUGIN_VERSION, .cut_policies = l}; HPAR_PLUGIN { return &p; }'
plug taken 'static const hpar_strategy s = {HPAR_STRATEGY_INIT, .name = "exact"}, *const l[] = {&s, NULL};
static const hpar_plugin p = {HPAR_PLUGIN_VERSION, .strategies = l}; HPAR_PLUGIN { return &p; }'
plug twice 'static const hpar_strategy s = {HPAR_STRATEGY_INIT, .name = "same"}, *const l[] = {&s, &s, NULL};
static const hpar_plugin p = {HPAR_PLUGIN_VERSION, .strategies = l}; HPAR_PLUGIN { return &p; }'
plug mode 'static const hpar_driver d = {HPAR_DRIVER_INIT, .name = "parallel"}, *const l[] = {&d, NULL};
static const hpar_plugin p = {HPAR_PLUGIN_VERSION, .drivers = l}; HPAR_PLUGIN { return &p; }'
plug idle 'static const hpar_driver d = {HPAR_DRIVER_INIT, .name = "idle"}, *const l[] = {&d, NULL};
static const hpar_plugin p = {HPAR_PLUGIN_VERSION, .drivers = l}; HPAR_PLUGIN { return &p; }'
plug empty 'static const hpar_cut_policy c = {HPAR_CUT_POLICY_INIT, .name = "empty"}, *const l[] = {&c, NULL};
static const hpar_plugin p = {HPAR_PLUGIN_VERSION, .cut_policies = l}; HPAR_PLUGIN { return &p; }'
refuses 1 'nosuch.so' --plugin nosuch.so
refuses 1 'page.html' --plugin "$top/page.html"
refuses 1 'none.so: it has no function hpar_plugin_open' --plugin "$top/none.so"
refuses 1 'null.so: its function hpar_plugin_open returns NULL' --plugin "$top/null.so"
refuses 1 'newer.so: it has version 3, and hpar takes version 2' --plugin "$top/newer.so"
refuses 1 'nameless.so: its cut policy 0 has no name' --plugin "$top/nameless.so"
refuses 1 "taken.so: there is another strategy 'exact'" --plugin "$top/taken.so"
refuses 1 "mode.so: there is another driver 'parallel'" --plugin "$top/mode.so"
refuses 1 "twice.so: there is another strategy 'same'" --plugin "$top/twice.so"
refuses 1 "there is another strategy 'learner'" --plugin "$top/cmake/strategy.so" --plugin "$top/cc/strategy.so"
refuses 2 "--mode: 'nosuch' is not one of these" --plugin "$top/cmake/driver.so" --mode nosuch
refuses 2 'hpar_study.custom_driver->drive is NULL' --plugin "$top/idle.so" --mode idle
refuses 2 "--strategy: 'nosuch' is not one of these" --plugin "$top/cmake/strategy.so" --strategy nosuch

status=0
"$hpar" compare --plugin "$top/empty.so" --cut empty "$top/page.html" >"$top/out" 2>&1 || status=$?
check 'a part without its function' test $status != 0

echo "$passed passed, $failed failed"
test $failed = 0
