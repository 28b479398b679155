# Checks that the installed program and library are hardened. They have position-independent code,
# no executable stack, no late binding, and no function address in writable memory, except
# jemalloc's.
hpar=$1
library=$HPAR_BUILD_DIR/libhpar.so
failed=0

if ! grep -q '^HPAR_HARDEN:BOOL=ON' "$HPAR_BUILD_DIR/CMakeCache.txt" ||
  grep -q '^HPAR_SANITIZE:STRING=..*' "$HPAR_BUILD_DIR/CMakeCache.txt"; then
  echo 'skipped: built without hardening'
  exit 77
fi
command -v readelf >/dev/null || {
  echo 'skipped: readelf not found (Debian: binutils)'
  exit 77
}

check() {
  if ! eval "$2"; then
    echo "failed: $file: $1"
    failed=1
  fi
}

# The functions of jemalloc, if the program contains it.
jemalloc=$HPAR_BUILD_DIR/jemalloc.o
test ! -f "$jemalloc" || jemalloc_functions=$(nm "$jemalloc" | awk '$2 ~ /[tT]/ { print $3 }')

# Prints the functions whose addresses are relocated into .data, one per line.
writable_functions() {
  code_in_data "$1" | while read -r place address; do
    name=$(nm "$1" 2>/dev/null | awk -v address="$address" '$1 ~ "^0*" address "$" { print $3; exit }')
    printf '%s\n' "$jemalloc_functions" | grep -qxF "${name:-none}" || printf '%s\n' "${name:-$address} at $place"
  done
}

# Prints the relocations that put a code address into .data: position and symbol.
code_in_data() {
  { readelf -SW "$1" && readelf -rW "$1"; } | awk '
    function hex(text,   i, n) {
      n = 0
      for (i = 1; i <= length(text); i++) n = n * 16 + index("0123456789abcdef", tolower(substr(text, i, 1))) - 1
      return n
    }
    / \.text / { sub(/.*\.text/, ""); code = hex($2); code_end = code + hex($4) }
    / \.data / { sub(/.*\.data/, ""); data = hex($2); data_end = data + hex($4) }
    $3 ~ /_RELATIV/ && hex($1) >= data && hex($1) < data_end && hex($4) >= code && hex($4) < code_end { print $1, $4 }
    $3 ~ /_(64|ABS64)$/ && hex($1) >= data && hex($1) < data_end { print $1, $5 }'
}

for file in "$hpar" "$library"; do
  headers=$(readelf -lW "$file")
  dynamic=$(readelf -dW "$file")
  check 'is not position-independent' 'echo "$headers" | grep -q "Elf file type is DYN"'
  check 'has a stack that can be executed' 'echo "$headers" | grep -q "GNU_STACK.* RW "'
  check 'has no part that is read-only after relocation' 'echo "$headers" | grep -q GNU_RELRO'
  check 'binds functions late' 'echo "$dynamic" | grep -q "BIND_NOW\|Flags:.*NOW"'
  check 'has segments that can be both written and executed' '! echo "$headers" | grep -q "LOAD.* RWE "'
  functions=$(writable_functions "$file")
  check "has addresses of functions in .data: $functions" 'test -z "$functions"'
done

# Only the tests link the code that makes allocations fail.
for file in "$hpar" "$library" "$HPAR_BUILD_DIR/libhpar.a"; do
  check 'has test hooks' '! nm "$file" 2>/dev/null | grep -q "hp_memory_fail\|hp_memory_left"'
done
exit $failed
