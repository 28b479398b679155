#include "html/tree/construct.h"

#include <strings.h>

static bool is(hp_name name, const char *text) {
  size_t length = strlen(text);
  return name.bytes && name.length == length && !strncasecmp(name.bytes, text, length);
}

static bool begins(hp_name name, const char *text) {
  size_t length = strlen(text);
  return name.bytes && name.length >= length && !strncasecmp(name.bytes, text, length);
}

static const char *const quirky_prefixes[] = {
    "+//Silmaril//dtd html Pro v0r11 19970101//",
    "-//AS//DTD HTML 3.0 asWedit + extensions//",
    "-//AdvaSoft Ltd//DTD HTML 3.0 asWedit + extensions//",
    "-//IETF//DTD HTML 2.0 Level 1//",
    "-//IETF//DTD HTML 2.0 Level 2//",
    "-//IETF//DTD HTML 2.0 Strict Level 1//",
    "-//IETF//DTD HTML 2.0 Strict Level 2//",
    "-//IETF//DTD HTML 2.0 Strict//",
    "-//IETF//DTD HTML 2.0//",
    "-//IETF//DTD HTML 2.1E//",
    "-//IETF//DTD HTML 3.0//",
    "-//IETF//DTD HTML 3.2 Final//",
    "-//IETF//DTD HTML 3.2//",
    "-//IETF//DTD HTML 3//",
    "-//IETF//DTD HTML Level 0//",
    "-//IETF//DTD HTML Level 1//",
    "-//IETF//DTD HTML Level 2//",
    "-//IETF//DTD HTML Level 3//",
    "-//IETF//DTD HTML Strict Level 0//",
    "-//IETF//DTD HTML Strict Level 1//",
    "-//IETF//DTD HTML Strict Level 2//",
    "-//IETF//DTD HTML Strict Level 3//",
    "-//IETF//DTD HTML Strict//",
    "-//IETF//DTD HTML//",
    "-//Metrius//DTD Metrius Presentational//",
    "-//Microsoft//DTD Internet Explorer 2.0 HTML Strict//",
    "-//Microsoft//DTD Internet Explorer 2.0 HTML//",
    "-//Microsoft//DTD Internet Explorer 2.0 Tables//",
    "-//Microsoft//DTD Internet Explorer 3.0 HTML Strict//",
    "-//Microsoft//DTD Internet Explorer 3.0 HTML//",
    "-//Microsoft//DTD Internet Explorer 3.0 Tables//",
    "-//Netscape Comm. Corp.//DTD HTML//",
    "-//Netscape Comm. Corp.//DTD Strict HTML//",
    "-//O'Reilly and Associates//DTD HTML 2.0//",
    "-//O'Reilly and Associates//DTD HTML Extended 1.0//",
    "-//O'Reilly and Associates//DTD HTML Extended Relaxed 1.0//",
    "-//SQ//DTD HTML 2.0 HoTMetaL + extensions//",
    "-//SoftQuad Software//DTD HoTMetaL PRO 6.0::19990601::extensions to HTML 4.0//",
    "-//SoftQuad//DTD HoTMetaL PRO 4.0::19971010::extensions to HTML 4.0//",
    "-//Spyglass//DTD HTML 2.0 Extended//",
    "-//Sun Microsystems Corp.//DTD HotJava HTML//",
    "-//Sun Microsystems Corp.//DTD HotJava Strict HTML//",
    "-//W3C//DTD HTML 3 1995-03-24//",
    "-//W3C//DTD HTML 3.2 Draft//",
    "-//W3C//DTD HTML 3.2 Final//",
    "-//W3C//DTD HTML 3.2//",
    "-//W3C//DTD HTML 3.2S Draft//",
    "-//W3C//DTD HTML 4.0 Frameset//",
    "-//W3C//DTD HTML 4.0 Transitional//",
    "-//W3C//DTD HTML Experimental 19960712//",
    "-//W3C//DTD HTML Experimental 970421//",
    "-//W3C//DTD W3 HTML//",
    "-//W3O//DTD W3 HTML 3.0//",
    "-//WebTechs//DTD Mozilla HTML 2.0//",
    "-//WebTechs//DTD Mozilla HTML//",
};

static hpar_quirks quirks_of(const hp_token *t) {
  const hp_doctype *d = t->doctype;
  if ((t->flags & HP_TOKEN_FORCE_QUIRKS) || !is(d->name, "html")) return HPAR_QUIRKS;
  if (is(d->public_id, "-//W3O//DTD W3 HTML Strict 3.0//EN//") ||
      is(d->public_id, "-/W3C/DTD HTML 4.0 Transitional/EN") || is(d->public_id, "HTML") ||
      is(d->system_id, "http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd"))
    return HPAR_QUIRKS;
  for (size_t i = 0; i < sizeof quirky_prefixes / sizeof *quirky_prefixes; i++)
    if (begins(d->public_id, quirky_prefixes[i])) return HPAR_QUIRKS;
  bool html401 = begins(d->public_id, "-//W3C//DTD HTML 4.01 Frameset//") ||
                 begins(d->public_id, "-//W3C//DTD HTML 4.01 Transitional//");
  if (html401) return d->system_id.bytes ? HPAR_LIMITED_QUIRKS : HPAR_QUIRKS;
  if (begins(d->public_id, "-//W3C//DTD XHTML 1.0 Frameset//") ||
      begins(d->public_id, "-//W3C//DTD XHTML 1.0 Transitional//"))
    return HPAR_LIMITED_QUIRKS;
  return HPAR_NO_QUIRKS;
}

//§ the-initial-insertion-mode
void in_initial(hp_builder *b, const hp_token *t) {
  hp_place document = {b->document->root, 0};
  hp_token rest = *t;
  if (t->kind == HPAR_TOKEN_TEXT) {
    rest = rest_of(t, leading_white(t));
    if (!rest.length) return;
  } else if (is_comment(t)) {
    insert_comment_at(b, t, document);
    return;
  } else if (t->kind == HPAR_TOKEN_DOCTYPE) {
    hp_node *node = hp_arena_take(b->nodes, sizeof *node);
    node->kind = HPAR_NODE_DOCTYPE;
    node->ns = 0;
    node->flags = 0;
    node->doctype = t->doctype;
    b->node_count++;
    insert_at(b, document, hp_ref_of(b->base, node));
    b->document->quirks = quirks_of(t);
    b->mode = HP_BEFORE_HTML;
    return;
  }
  parse_error(b, t);
  b->document->quirks = HPAR_QUIRKS;
  b->mode = HP_BEFORE_HTML;
  process_token(b, &rest);
}
