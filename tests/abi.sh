# Checks with abidiff that this library is compatible with the recorded library,
# tests/abi/libhpar.abi. New functions and types are compatible. The test builds a library with
# debug information.
#
#   abi.sh --record    writes the record: at each release, and after an intended change of the
#                      interface
command -v abidw >/dev/null && command -v abidiff >/dev/null || {
  echo 'skipped: abidw or abidiff not found (Debian: abigail-tools)'
  exit 77
}
case $(uname -m) in
x86_64) ;;
*)
  echo 'skipped: the record is that of x86_64'
  exit 77
  ;;
esac
source=${HPAR_SOURCE_DIR:-$(cd "$(dirname "$0")/.." && pwd)}
record=$source/tests/abi/libhpar.abi
work=$(mktemp -d /tmp/hpar-abi.XXXXXX) || exit 1
trap 'rm -rf "$work"' EXIT

cmake -S "$source" -B "$work/build" -DCMAKE_BUILD_TYPE=Debug -DBUILD_TESTING=OFF -DHPAR_BENCH=OFF \
  -DHPAR_JEMALLOC=OFF -DHPAR_HWLOC=OFF -DCMAKE_C_FLAGS="-O0 -g -w -fdebug-prefix-map=$source=." >"$work/log" 2>&1 &&
  cmake --build "$work/build" --target hpar_shared --parallel 2 >>"$work/log" 2>&1 || {
  cat "$work/log"
  exit 1
}
# Functions for libhpar-study are private to a version.
printf '[suppress_function]\n  symbol_name_regexp = ^hp_\n  drop = yes\n[suppress_variable]\n  symbol_name_regexp = ^hp_\n  drop = yes\n' >"$work/apart"
abidw --suppressions "$work/apart" --headers-dir "$source/include" --drop-private-types --exported-interfaces-only --no-corpus-path --no-comp-dir-path --no-show-locs \
  --out-file "$work/new.abi" "$work/build/libhpar.so" || exit 1
if [ "$1" = --record ]; then
  cp "$work/new.abi" "$record"
  exit
fi
# The insides of these types are private.
cat >"$work/private" <<'EOT'
[suppress_type]
  name_regexp = ^(hp_.*|hpar_document|hpar_parser|hpar_frequency_table|hpar_selectors)$
EOT
abidiff --no-added-syms --suppressions "$work/private" "$record" "$work/new.abi" && echo 'compatible'
