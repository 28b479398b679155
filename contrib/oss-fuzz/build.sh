#!/bin/bash
# Builds the fuzz targets of tests/fuzz for OSS-Fuzz, which sets SRC, WORK, OUT, CC, CXX, CFLAGS and LIB_FUZZING_ENGINE.
# The libraries that the targets may lack are left out, because $OUT runs on a machine without them.
set -euo pipefail

source=$SRC/hpar
build=$WORK/hpar
mapfile -t names < <("$source/scripts/fuzz" --list)
cmake -S "$source" -B "$build" -DCMAKE_BUILD_TYPE=None "-DHPAR_FUZZING_ENGINE=$LIB_FUZZING_ENGINE" \
  -DHPAR_HARDEN=OFF -DHPAR_GROWTH=OFF -DHPAR_BENCH=OFF -DHPAR_NGINX=OFF -DHPAR_DUKTAPE=OFF \
  -DHPAR_HWLOC=OFF -DHPAR_JEMALLOC=OFF -DHPAR_IDN=OFF -DHPAR_JSONC=OFF \
  -DHPAR_ZLIB=OFF -DHPAR_LIBDEFLATE=OFF -DHPAR_ZSTD=OFF -DHPAR_BROTLI=OFF
cmake --build "$build" --parallel "$(nproc)" --target "${names[@]/%/_fuzz}"

for name in "${names[@]}"; do
  cp "$build/tests/${name}_fuzz" "$OUT/"
  cp "$source/tests/fuzz/html.dict" "$OUT/${name}_fuzz.dict"
  test ! -e "$source/tests/fuzz/$name.dict" || cat "$source/tests/fuzz/$name.dict" >>"$OUT/${name}_fuzz.dict"
  folders=()
  for folder in corpus findings; do
    test ! -d "$source/tests/fuzz/$folder/$name" || folders+=("$source/tests/fuzz/$folder/$name")
  done
  test ${#folders[@]} = 0 || zip -q -r -j "$OUT/${name}_fuzz_seed_corpus.zip" "${folders[@]}"
done
