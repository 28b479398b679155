# Checks that every C file has the format of .clang-format.
exec "$HPAR_SOURCE_DIR/scripts/check-format"
