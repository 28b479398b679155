# Checks the operators of scripts/mutate on mutate/sample.c: the list of mutants is sample.txt, and each
# one in the program changes what the program prints.
if ! /usr/bin/python3 -c 'from clang import cindex; cindex.Index.create()' 2>/dev/null; then
  echo "skipped: libclang for /usr/bin/python3 not found (Debian: python3-clang)"
  exit 77
fi
sample="$HPAR_SOURCE_DIR/tests/mutate"
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
/usr/bin/python3 -B "$HPAR_SOURCE_DIR/scripts/mutate" --list "$sample/sample.c" --output "$folder/sample.c" >"$folder/list" || exit 1
diff "$sample/sample.txt" "$folder/list" || exit 1
cc -std=gnu11 -w -I"$sample" -o "$folder/sample" "$folder/sample.c" "$sample/main.c" || exit 1

failures=0
expected=$("$folder/sample")
for number in $(awk '$2 != "fixed" && $3 != "fixed" { print $1 }' "$folder/list"); do
  if [ "$(HPAR_MUTANT=$number "$folder/sample")" = "$expected" ]; then
    echo "failed: the program prints the same with mutant $(grep "^$number " "$folder/list")"
    failures=$((failures + 1))
  fi
done
echo "$(wc -l <"$folder/list") passed, $failures failed"
exit $((failures > 0))
