# Counts results as tally.sh, in an empty directory that exists until the script ends.

. "$(dirname "$0")/support/tally.sh"
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
