/* Reads the input as a file of rules in JSON, as hpar rewrite and the module for nginx do. A
 * refusal names the file, and a byte of the selector if that is wrong. Rules that are accepted
 * rewrite a page in any division to the same output. */

#include "fuzz/fuzz.h"
#include "programs/rules/edit_rules.h"
#include "support/rewriting.h"

#include <string.h>

/* Has each unit that rules name: elements, texts, comments, a doctype, instructions. */
static const char page[] =
    "<!doctype html><html lang=en><head><title>t &amp; t</title><style>@import 'a.css';</style>"
    "<script>var a = '<b>';</script></head><body class='x y'><!-- c --><!--[if IE]><p>d<![endif]-->"
    "<p id=i class=x>one <b>two<i>three</b>four</i><a href='/u?q=1#f' title=a>five</a>"
    "<ul><li class=k>six<li>se<b>v</b>en</ul><img src=a.png srcset='b.png 2x, c.png'>"
    "<table><tr><td>eight<td>nine</table><template><p>ten</template><svg><a x=y /></svg>"
    "<textarea>el<b>even</textarea><?php echo ?></body></html> twelve";

static void check_refusal(const hp_refusal *refusal, const char *name, const compare_case *input) {
  if (strncmp(refusal->text, name, strlen(name)) != 0) fuzz_wrong("no file in a refusal", input->bytes, input->length);
  if (refusal->selector && refusal->offset > strlen(refusal->selector))
    fuzz_wrong("an offset after the selector", input->bytes, input->length);
}

static void check_output(hpar_rules *compiled, uint64_t seed, const compare_case *input) {
  static hpar_rewriter *rewriter;
  if (!rewriter && hpar_rewriter_create(&rewriter)) abort();
  rewriting rules = {.compiled = compiled};
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  const char *wrong = rewriting_difference(&rules, rewriter, &options, page, sizeof page - 1, seed);
  if (wrong) fuzz_wrong(wrong, input->bytes, input->length);
  rules.compiled = NULL;
  rewriting_free(&rules);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char name[] = "rules.json";
  compare_case input;
  const uint8_t *choices;
  if (!fuzz_split(data, size, &input, &choices)) return 0;
  uint64_t seed;
  memcpy(&seed, choices, sizeof seed);
  hp_edit_rules rules = {0};
  hp_refusal refusal = {{0}, NULL, 0};
  hpar_rules *compiled = NULL;
  if (hpar_rules_create(&compiled)) abort();
  hpar_status status = hp_edit_rules_read(&rules, name, input.bytes, input.length, &refusal);
  if (!status) status = hp_edit_rules_compile(&rules, NULL, NULL, compiled, &refusal);
  if (status == HPAR_OK)
    check_output(compiled, seed, &input);
  else if (status == HPAR_ERROR_ARGUMENT)
    check_refusal(&refusal, name, &input);
  else if (status != HPAR_ERROR_UNSUPPORTED)
    fuzz_wrong(hpar_status_text(status), input.bytes, input.length);
  hpar_rules_destroy(compiled);
  hp_edit_rules_free(&rules);
  return 0;
}
