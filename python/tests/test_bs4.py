"""Beautiful Soup's own tests with the builder "hpar": those that fail also fail with "html5lib", or have a reason.
Line numbers are those of "html5lib"."""
import glob
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import unittest

import hpar
from test_peers import SHARED, pages

try:
    import bs4
    import html5lib

    import hpar.bs4
except ImportError:
    bs4 = None

PACKAGES = os.path.dirname(os.path.dirname(os.path.abspath(hpar.__file__)))
# The tests that fail, by reason. All but that of the first reason fail with "html5lib", too.
REASONS = {
    "Since 2025, the standard makes processing instructions of what were comments.": {
        "test_html5lib::TestHTML5LibBuilder::test_processing_instruction"},
    "The standard puts html, head and body around each page.": {
        "test_formatter::TestFormatter::test_indent", "test_formatter::TestFormatter::test_sort_attributes",
        "test_navigablestring::TestNavigableString::test_string_has_immutable_name_property",
        "test_navigablestring::TestNavigableStringSubclasses::test_cdata",
        "test_navigablestring::TestNavigableStringSubclasses::test_cdata_is_never_formatted",
        "test_navigablestring::TestNavigableStringSubclasses::test_doctype_ends_in_newline",
        "test_pageelement::TestEncoding::test_repr",
        "test_pageelement::TestPersistence::test_copy_navigablestring_subclass_has_same_type",
        "test_soup::TestPickle::test_pickle_with_no_builder", "test_tag::TestTag::test_tag_with_recursive_string_has_string",
        "test_tree::TestFind::test_find_everything", "test_tree::TestNextOperations::test_next_of_root_is_none",
        "test_tree::TestPreviousOperations::test_previous_generator",
        "test_tree::TestPreviousOperations::test_previous_of_first_item_is_none",
        "test_tree::TestTreeModification::test_append_child_thats_already_at_the_end",
        "test_tree::TestTreeModification::test_append_to_contents_moves_tag",
        "test_tree::TestTreeModification::test_extend", "test_tree::TestTreeModification::test_extract",
        "test_tree::TestTreeModification::test_extract_multiples_of_same_tag",
        "test_tree::TestTreeModification::test_insert_beautifulsoup_object_inserts_children",
        "test_tree::TestTreeModification::test_move_tag_to_beginning_of_parent",
        "test_tree::TestTreeModification::test_replace_first_child", "test_tree::TestTreeModification::test_replace_last_child",
        "test_tree::TestTreeModification::test_replace_with_multiple", "test_tree::TestTreeModification::test_wrap"},
    "A builder that makes a whole tree, as html5lib's, does not use bs4's string containers.": {
        "test_navigablestring::TestNavigableStringSubclasses::test_default_string_containers",
        "test_navigablestring::TestNavigableStringSubclasses::test_ruby_strings",
        "test_soup::TestConstructor::test_alternate_string_containers",
        "test_tag::TestTag::test_all_strings_ignores_special_string_containers",
        "test_tag::TestTag::test_get_text_ignores_special_string_containers",
        "test_tag::TestTag::test_string_methods_inside_special_string_container_tags"},
    "Nor does bs4 join its white space, as it does for its own parser.": {"test_tag::TestTag::test_all_text"},
    "Nor can it leave out elements (parse_only).": {
        "test_pageelement::TestFormatters::test_encoding_substitution_doesnt_happen_if_tag_is_strained",
        "test_soup::TestSelectiveParsing::test_parse_with_soupstrainer"},
    "The standard drops NUL in text.": {"test_soup::TestConstructor::test_embedded_null"},
    "The builder finds the encoding itself, and has no exclude_encodings.": {"test_soup::TestConstructor::test_exclude_encodings"},
}
CONFTEST = """
import bs4.builder, bs4.builder._html5lib, bs4.tests, hpar.bs4
builder = {builder}
bs4.builder._html5lib.HTML5TreeBuilder = bs4.builder.HTML5TreeBuilder = builder
bs4.tests.default_builder = builder
"""


def failures(builder):
    """The names of the tests that fail with a builder, and the number of the others."""
    tests = os.path.dirname(importlib.util.find_spec("bs4.tests").origin)
    names = [os.path.basename(path)[:-3] for path in sorted(glob.glob(os.path.join(tests, "test_*.py")))]
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "conftest.py"), "w", encoding="utf-8") as file:
            file.write(CONFTEST.format(builder=builder))
        for name in names:
            if name not in ("test_builder_registry", "test_docs", "test_htmlparser", "test_lxml"):  # of other builders
                with open(os.path.join(folder, name + ".py"), "w", encoding="utf-8") as file:
                    file.write(f"from bs4.tests.{name} import *\n")
        done = subprocess.run([sys.executable, "-B", "-m", "pytest", "-q", "-rf", "--tb=no", "-p", "no:cacheprovider", "."],
                              cwd=folder, env={**os.environ, "PYTHONPATH": PACKAGES},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    output = done.stdout.decode("utf-8", "replace")
    passed = re.search(r"(\d+) passed", output)
    return set(re.findall(r"^FAILED (\w+)\.py(::\S+)", output, re.MULTILINE)), int(passed[1]) if passed else 0, output


def available(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ImportError:
        return False


@unittest.skipIf(bs4 is None, "bs4 or html5lib not found (Debian: python3-bs4 python3-html5lib)")
class BeautifulSoup(unittest.TestCase):
    @unittest.skipUnless(available("bs4.tests") and available("pytest"), "no tests of bs4, or no pytest (Debian: python3-pytest)")
    def test_own_tests(self):
        ours, passed, output = failures("hpar.bs4.HparTreeBuilder")
        theirs, _, _ = failures("bs4.builder._html5lib.HTML5TreeBuilder")
        self.assertGreater(passed, 380, output)
        names = {"".join(name).partition("[")[0] for name in ours}  # without the parameters
        self.assertLessEqual(names, set().union(*REASONS.values()))
        self.assertEqual({"".join(name) for name in ours - theirs}, next(iter(REASONS.values())))

    def test_places(self):
        markup = "\n   <p>\r\n\r<i\n>ä<b></b></i>"
        places = {tag.name: (tag.sourceline, tag.sourcepos) for tag in bs4.BeautifulSoup(markup, "hpar").find_all(True)}
        self.assertEqual(places, {"html": (None, None), "head": (None, None), "body": (None, None), "p": (2, 5), "i": (5, 0),
                                  "b": (5, 4)})
        self.assertEqual(bs4.BeautifulSoup(markup.encode("latin-1"), "hpar").b.sourcepos, 4)
        self.assertEqual(bs4.BeautifulSoup(markup.encode("utf-16"), "hpar").b.sourceline, None)
        soup = bs4.BeautifulSoup("<p><sourceline>", "hpar", store_line_numbers=False)
        self.assertEqual(soup.p.sourceline.name, "sourceline")

    @unittest.skipUnless(os.path.isdir(SHARED), "no pages: set HPAR_SHARED")
    def test_places_of_pages(self):
        count = 0
        for name, page in pages():
            text = page.decode(hpar.parse(page).encoding, "replace")
            ours, theirs = (bs4.BeautifulSoup(text, builder) for builder in ("hpar", "html5lib"))
            if str(ours) != str(theirs):
                continue
            for mine, other in zip(ours.find_all(True), theirs.find_all(True)):
                if mine.sourceline is not None:
                    count += 1
                    self.assertEqual((mine.sourceline, mine.sourcepos), (other.sourceline, other.sourcepos), (name, mine.name))
        self.assertGreater(count, 500)


if __name__ == "__main__":
    unittest.main()
