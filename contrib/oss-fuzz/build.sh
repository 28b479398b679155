#!/bin/bash
# Builds the fuzz targets of tests/fuzz for OSS-Fuzz, which sets SRC, WORK, OUT, CC, CXX, CFLAGS and LIB_FUZZING_ENGINE.
# $OUT runs on a machine without shared libraries of others: json-c, which the target rules needs, is linked statically,
# and what the targets may lack is left out.
set -euo pipefail

source=$SRC/hpar
build=$WORK/hpar
static=$WORK/static
mkdir -p "$static"
libraries=$(pkg-config --variable=libdir json-c)
cp "$libraries/libjson-c.a" "$static/"
sed "s|^libdir=.*|libdir=$static|" "$libraries/pkgconfig/json-c.pc" >"$static/json-c.pc"
export PKG_CONFIG_PATH=$static
mapfile -t names < <("$source/scripts/fuzz" --list)
cmake -S "$source" -B "$build" -DCMAKE_BUILD_TYPE=None "-DHPAR_FUZZING_ENGINE=$LIB_FUZZING_ENGINE" \
  -DHPAR_HARDEN=OFF -DHPAR_GROWTH=OFF -DHPAR_BENCH=OFF -DHPAR_NGINX=OFF -DHPAR_DUKTAPE=OFF \
  -DHPAR_HWLOC=OFF -DHPAR_JEMALLOC=OFF -DHPAR_IDN=OFF -DHPAR_JSONC=ON \
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
