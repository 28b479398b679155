#!/bin/sh
# Compiles the public headers without a warning, as C11 and later and as C++11 and later, with each compiler that is
# here. Each header stands alone, and each macro that initialises a structure is used. Their lines and functions are few.
include=$HPAR_SOURCE_DIR/include
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
passed=0
failed=0

{
  for header in "$include"/hpar/*.h; do echo "#include <hpar/${header##*/}>"; done
  # No library is linked.
  echo 'hpar_status hpar_study_apply(hpar_study_target *target, const hpar_options *options) {'
  echo '  return target || options ? HPAR_OK : HPAR_ERROR_ARGUMENT;'
  echo '}'
  echo 'int main(void) {'
  sed -n 's/^#define \(HPAR_[A-Z_]*_INIT\) HPAR_SIZED(\([a-z_]*\)).*/  \2 \1_ = {\1}; if (\1_.size != sizeof(\2)) return 1;/p' "$include"/hpar/*.h
  cat <<'BODY'
  hpar_limits limits = HPAR_LIMITS_UNTRUSTED, none = HPAR_LIMITS_UNTRUSTED;
  none.depth = none.attributes = none.nodes = none.nodes_per_byte = none.memory = none.memory_per_byte = none.time_ns = 0;
  for (size_t i = 0; i < sizeof none; i++)
    if (((const char *)&none)[i]) return 2;
  if (limits.depth != 512 || limits.attributes != 1024 || limits.nodes != 10000 || limits.nodes_per_byte != 1) return 3;
  if (limits.memory != 16 << 20 || limits.memory_per_byte != 64 || limits.time_ns != UINT64_C(10000000000)) return 4;
#ifdef __cplusplus
  hpar_options options = {HPAR_OPTIONS_INIT};
  options.mode = HPAR_MODE_PARALLEL;
  options.limits = HPAR_LIMITS_UNTRUSTED;
#else
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .limits = HPAR_LIMITS_UNTRUSTED};
#endif
  return options.size != sizeof options || options.mode != HPAR_MODE_PARALLEL || options.limits.depth != 512 ? 5 : 0;
}
BODY
} >all.c
uses=$(grep -c '_INIT_ =' all.c)
macros=$(cat "$include"/hpar/*.h | sed -n 's/^#define \(HPAR_[A-Z_]*_INIT\) .*/\1/p' | sort -u | wc -l)
if [ "$uses" = "$macros" ] && [ "$uses" -gt 0 ]; then
  passed=$((passed + 1))
else
  failed=$((failed + 1))
  echo "failed: $uses of $macros macros for initialisation are of the form that this test knows"
fi
cp all.c all.cc
for header in "$include"/hpar/*.h; do
  name=${header##*/}
  printf '#include <hpar/%s>\nint %s;\n' "$name" "${name%.h}_is_included" >"alone_${name%.h}.c"
  cp "alone_${name%.h}.c" "alone_${name%.h}.cc"
done

# check COMPILER STANDARD SUFFIX: cc and clang may be other names of a later compiler.
checked=
check() {
  command -v "$1" >/dev/null || return 0
  this="$(realpath "$(command -v "$1")")-$2"
  case " $checked " in *" $this "*) return 0 ;; esac
  checked="$checked $this"
  echo 'int nothing;' >"nothing.$3"
  "$1" "-std=$2" -c "nothing.$3" -o nothing.o 2>/dev/null || return 0
  if "$1" "-std=$2" -Wall -Wextra -Wconversion -Wshadow -pedantic-errors -Werror -I"$include" -c alone_*."$3" &&
    "$1" "-std=$2" -Wall -Wextra -Wconversion -Wshadow -pedantic-errors -Werror -I"$include" "all.$3" -o all && ./all; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "failed: $1 -std=$2: exit status $?"
  fi
}

for standard in c11 c17 c2x; do
  for compiler in cc gcc-11 gcc-12 clang clang-14 clang-16; do check $compiler $standard c; done
done
for standard in c++11 c++14 c++17 c++20; do
  for compiler in c++ g++-11 g++-12 clang++ clang++-14 clang++-16; do check $compiler $standard cc; done
done

# Each header but the generated one begins with an example, which compiles with these names.
{
  echo '#include <hpar/hpar.h>'
  echo '#include <hpar/study.h>'
  echo '#include <stdio.h>'
  echo 'hpar_status print(const char *, size_t, void *);'
  for header in hpar node parse resources rewrite script select; do
    echo "void example_$header(hpar_document *, hpar_node, const char *, size_t, hpar_script_callback, void *);"
    echo "void example_$header(hpar_document *document, hpar_node top, const char *page, size_t length,"
    echo '  hpar_script_callback run, void *engine) {'
    echo '  (void)document, (void)top, (void)page, (void)length, (void)run, (void)engine; {'
    awk '/^#include/ {exit} /^ \*   / {sub(/^ \*/, ""); print; found = 1; next} found {exit}' "$include/hpar/$header.h"
    echo '}}'
  done
} >examples.c
statements=$(grep -c '^   .*;$' examples.c)
if [ "$statements" -gt 15 ] && cc -std=c11 -Wall -Wextra -Werror -I"$include" -c examples.c; then
  passed=$((passed + 1))
else
  failed=$((failed + 1))
  echo "failed: the examples of the headers, with $statements statements"
fi

# Whoever embeds the parser reads all headers but that of studies.
for header in "$include"/hpar/*.h; do
  [ "${header##*/}" = study.h ] || cat "$header"
done >read.h
lines=$(wc -l <read.h)
functions=$(grep -c '^HPAR_API' read.h)
if [ "$lines" -le 1600 ] && [ "$functions" -le 120 ]; then
  passed=$((passed + 1))
else
  failed=$((failed + 1))
  echo "failed: $lines lines and $functions functions; at most 1600 and 120"
fi

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
