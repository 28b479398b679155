# text.sh: the wording rules of Markdown files, public headers and comments (scripts/check-text).
if ! command -v python3 >/dev/null; then
  echo "skipped: python3 not found (Debian: python3)"
  exit 77
fi
exec python3 -B "$HPAR_SOURCE_DIR/scripts/check-text"
