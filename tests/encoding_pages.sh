# Compares real pages that are not UTF-8 with Python's codecs.
command -v python3 >/dev/null || { echo 'skipped: python3 not found'; exit 77; }
exec python3 "$(dirname "$0")/encoding_pages.py" "$@"
