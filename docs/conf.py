"""Sphinx over the guides and the Doxygen reference: see scripts/build-docs, which sets HPAR_REFERENCE to the XML."""
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

with open(os.path.join(ROOT, "include", "hpar", "node.h"), encoding="utf-8") as header:
    release = version = re.search(r'#define HPAR_VERSION "(.*)"', header.read())[1]
project = "HPar"
author = "HPar contributors"
copyright = "HPar contributors"  # pylint: disable=redefined-builtin
extensions = ["breathe", "myst_parser"]
master_doc = "index"
language = "en"
html_theme = "alabaster"
html_show_copyright = False
breathe_projects = {"hpar": os.environ.get("HPAR_REFERENCE", "")}
breathe_default_project = "hpar"
breathe_domain_by_extension = {"h": "c"}
c_id_attributes = ["HPAR_API"]
myst_heading_anchors = 3

# A link from a page to a file outside this folder becomes a download.
LINK = re.compile(r"\[([^\]`]+|`[^`]+`)\]\(((?:\.\./)+[^)#\s]+\.md)(?:#[^)]*)?\)")


def link_files(app, name, source):
    """Changes the links of the page `name` that lead to Markdown files outside the site."""
    folder = os.path.dirname(os.path.join(app.srcdir, name))

    def download(match):
        path = os.path.normpath(os.path.join(folder, match[2]))
        inside = path.startswith(str(app.srcdir) + os.sep)
        return match[0] if inside else "{download}`%s <%s>`" % (match[1].strip("`"), match[2])

    source[0] = LINK.sub(download, source[0])


def setup(app):
    """Called by Sphinx."""
    app.connect("source-read", link_files)
