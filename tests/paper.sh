# Checks the paper: scripts/check-paper on it and on copies with one defect each. With latexmk, also builds it.
if ! command -v python3 >/dev/null; then
  echo "skipped: python3 not found (Debian: python3)"
  exit 77
fi
failed=0
fail() {
  failed=1
  echo "failed: $*"
}
check() { python3 -B "$HPAR_SOURCE_DIR/scripts/check-paper" "$@"; }
dir=$(mktemp -d /tmp/hpar-paper.XXXXXX) || exit 1
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/paper"
for name in paper.tex selection.json tables plots; do cp -R "$HPAR_SOURCE_DIR/paper/$name" "$dir/paper"; done

check "$dir/paper" || fail "the paper has findings"

# reject KIND EXPRESSION: check-paper reports KIND after sed has changed the paper by EXPRESSION.
reject() {
  mkdir "$dir/bad"
  cp -R "$dir/paper/tables" "$dir/paper/plots" "$dir/bad"
  sed "$2" "$dir/paper/paper.tex" >"$dir/bad/paper.tex"
  cmp -s "$dir/paper/paper.tex" "$dir/bad/paper.tex" && fail "sed $2 changes nothing"
  check "$dir/bad" >"$dir/out"
  status=$?
  test $status = 1 && grep -q "paper.tex: $1: " "$dir/out" || {
    fail "after sed $2: status $status, no finding of kind $1"
    cat "$dir/out"
  }
  rm -r "$dir/bad"
}
reject number 's/^The merger has the true state\./& It takes 12 steps./'
reject number 's/^The merger has the true state\./& It takes 1.5\\,ms./'
reject number 's/^The merger has the true state\./& It takes a thousand steps./'
reject number 's/^The merger has the true state\./& It takes \\(95\\) of \\(96\\) steps./'
reject value 's/\\hpv{hostile\/faults}/\\hpv{hostile\/fault}/'
reject value 's/\\hptable{speedup}/\\hptable{speedups}/'
reject value 's/\\hpplot{peers}/\\hpplot{peer}/'
reject claim 's/(Table~\\ref{tab:speedup})//'
reject claim 's/(Table~\\ref{tab:equal})//'
reject sentence 's/^The merger has the true state\./The merger has the true state and the stack and the list and the modes and the flags and the position and the pointers and the tree and all else in this parse./'

if ! command -v latexmk >/dev/null || ! command -v pdflatex >/dev/null; then
  echo "not built: latexmk and pdflatex not found (Debian: latexmk, texlive-latex-extra)"
  exit $failed
fi
if ! (cd "$dir/paper" && latexmk -pdf -interaction=nonstopmode -halt-on-error paper.tex) >"$dir/out" 2>&1; then
  fail "latexmk"
  tail -20 "$dir/out"
elif grep -E 'Overfull|undefined|multiply|^LaTeX Warning' "$dir/paper/paper.log"; then
  fail "paper.log has the warnings above"
fi
pages=$(sed -n 's/^Output written on paper.pdf (\([0-9]*\) page.*/\1/p' "$dir/paper/paper.log")
test "${pages:-99}" -le 12 || fail "the paper has ${pages:-no} pages; 12 are allowed"
exit $failed
