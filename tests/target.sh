#!/bin/sh
# Checks that the compiler rejects systems with another pointer size, byte order or kernel, with one
# sentence.
# Predefined macros simulate such systems, so that the test needs no cross compiler.

cc=${CC:-cc}
command -v "$cc" >/dev/null || {
  echo "skipped: $cc not found"
  exit 77
}
. "$(dirname "$0")/support/tally.sh"
root=$(cd "$(dirname "$0")/.." && pwd)

# compiles FLAG...: preprocesses a source that includes the base headers.
compiles() {
  "$cc" -E -D_GNU_SOURCE -I"$root/include" -I"$root/src" "$@" "$root/src/base/memory.c" 2>&1 >/dev/null
}

# refuses SENTENCE FLAG...
refuses() {
  sentence=$1
  shift
  if ! message=$(compiles -w "$@") && printf '%s\n' "$message" | grep -q "#error.*$sentence"; then fine; else wrong "$*: $message"; fi
}

if message=$(compiles); then fine; else wrong "this system: $message"; fi
refuses 'HPar needs a 64-bit system' -U__SIZEOF_POINTER__ -D__SIZEOF_POINTER__=4
refuses 'HPar needs a little-endian or big-endian system' -U__BYTE_ORDER__ -D__BYTE_ORDER__=__ORDER_PDP_ENDIAN__
refuses 'HPar needs Linux' -U__linux__

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
