# Checks the software bill of materials that scripts/sbom prints of this build.
for tool in python3 dpkg-query readelf ldd; do
  command -v $tool >/dev/null && continue
  echo "skipped: $tool not found (Debian: python3, dpkg, binutils, libc-bin)"
  exit 77
done
if [ "$1" != "$HPAR_BUILD_DIR/hpar" ] || [ ! -e "$HPAR_BUILD_DIR/libhpar.so" ]; then
  echo "skipped: this build has no libhpar.so, or is for another machine"
  exit 77
fi
exec python3 -B "$HPAR_SOURCE_DIR/tests/sbom.py" "$HPAR_SOURCE_DIR/scripts/sbom" "$HPAR_BUILD_DIR"
