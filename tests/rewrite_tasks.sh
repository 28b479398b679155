# Compares the eight tasks of docs/guides/rewrite.md with edits of trees by html5lib.
/usr/bin/python3 -c 'import html5lib' 2>/dev/null || { echo 'skipped: no html5lib for /usr/bin/python3; apt install python3-html5lib'; exit 77; }
exec /usr/bin/python3 "$(dirname "$0")/rewrite_tasks.py" "$@"
