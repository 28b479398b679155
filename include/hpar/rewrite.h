#ifndef HPAR_REWRITE_H
#define HPAR_REWRITE_H

/* Rewriting HTML while it streams.
 *
 *   hpar_action remove = {.kind = HPAR_ACTION_REMOVE};
 *   hpar_rule rule = {HPAR_RULE_INIT, .selector = "script", .actions = &remove, .action_count = 1};
 *   hpar_rules *rules;
 *   hpar_rewriter *rewriter;
 *   if (hpar_rules_create(&rules) || hpar_rewriter_create(&rewriter)) return;
 *   if (!hpar_rules_add(rules, &rule, NULL) && !hpar_rules_compile(rules))
 *     hpar_rewrite(rewriter, rules, NULL, page, length, NULL, print, stdout);
 *   hpar_rewriter_destroy(rewriter);
 *   hpar_rules_destroy(rules);
 *
 * The output is the input byte for byte, except for the edits that rules request. Input leaves as
 * soon as no rule can edit it. The rewriter tracks the tree construction of the standard without
 * building a tree. Selectors therefore see the parents, the implied elements and the ends of
 * hpar_parse. Rules are compiled once and are immutable afterwards: any number of threads may use
 * them, each with its own rewriter. One thread at a time may use a rewriter.
 *
 * Selectors are those of select.h. hpar_rules_add refuses those that depend on input after the
 * start tag, by name: :has, :empty, :last-child, :only-child, :nth-last-child and the same of type.
 * :scope is :root. A selector sees the tree at the moment when the element is inserted. The
 * contents of a template count as its descendants. Classes and ids are case-sensitive, unless
 * hpar_rewrite_options.quirks is set and the page is in quirks mode.
 *
 * An element ends where the standard pops it from the stack of open elements: at its own end tag,
 * at another tag, or at the end of the input. Without its own end tag, content for its inside goes
 * before what ends it. Content for after it follows there, behind the missing end tag. body and
 * html end at the first end tag that the standard accepts for them, or with the input. A formatting
 * element that the parser opens again in the next block ends with the first block.
 *
 * Order of edits. "Before" and "append" content follows earlier content of the same place. "After"
 * and "prepend" content precedes it. Rules apply in the order of hpar_rules_add, actions of a rule
 * before its callback. An insertion into a void element, or into an element that ends with "/>" in
 * svg or math, is ignored. Inside removed content callbacks still run, and their edits are dropped.
 *
 * The parser adds the attributes of a later <html> or <body> tag to the open element. The element
 * begins and counts once, but rules see each of its tags (docs/guides/rewrite.md).
 *
 * The tree of the output is the edited tree of the input, with exceptions that this guide lists.
 * "--check" of the program hpar finds each of them in a page. For each page, text stays text, and
 * edits of attributes concern their own tags. A rename to the name of an element with raw text
 * fails, unless the element has this name. The exceptions let hostile input make elements that no
 * rule has seen. docs/guides/filters.md tells what hpar_rewrite_options.filter guarantees. */

#include <hpar/parse.h>
#include <hpar/select.h>

HPAR_BEGIN_C

typedef struct hpar_rules hpar_rules;
typedef struct hpar_rewriter hpar_rewriter;

/*** what callbacks receive ***/

/* The library fills these structures. They are valid during the callback, and so are their strings
 * and those that the functions below return. These functions take only the pointer that the
 * callback received, because the library has data of its own behind the structure. A later version
 * may add fields at their ends. Offsets are bytes of the input; of UTF-16, of its text in UTF-8. */

/* An element at its beginning. */
typedef struct hpar_element {
  hpar_string name; /* as selectors see it: in lower case, except in svg */
  hpar_namespace ns;
  bool implied;        /* it has no tag of its own */
  bool merges;         /* the tag begins no element: see docs/guides/rewrite.md */
  bool self_closing;   /* the tag ends with "/>" */
  bool has_content;    /* false for void elements, and for "/>" in svg and math */
  uint64_t start, end; /* of the start tag; without a tag, both are where the element begins */
} hpar_element;

/* An element at its end. */
typedef struct hpar_element_end {
  hpar_string name;
  bool implied;        /* no end tag of the element ends it */
  uint64_t start, end; /* of its end tag; without one, both are where the element ends */
} hpar_element_end;

typedef enum hpar_text_kind {
  HPAR_TEXT_DATA = 0, /* character references count */
  HPAR_TEXT_RCDATA,   /* of title and textarea: character references count */
  HPAR_TEXT_RAW,      /* of style, xmp, iframe, noembed, noframes, noscript with scripting */
  HPAR_TEXT_SCRIPT,
  HPAR_TEXT_PLAIN
} hpar_text_kind;

/* A text, or a piece of it: the input between two tags, comments or other markup. */
typedef struct hpar_text_piece {
  hpar_string raw; /* the bytes of the input, with character references and CDATA brackets */
  uint64_t offset;
  hpar_text_kind kind;
  bool last; /* the last piece of the text, which may be empty */
} hpar_text_piece;

typedef struct hpar_comment {
  hpar_string text; /* the bytes between its delimiters in the input */
  uint64_t offset;
} hpar_comment;

/* An attribute in hpar_element_attributes. */
typedef struct hpar_attribute_unit {
  hpar_string name, value; /* decoded; the name is in lower case */
  hpar_string replacement; /* the callback sets it to change the value */
  bool removes;            /* the callback sets it to remove the attribute */
} hpar_attribute_unit;

/* A URL in an attribute, or in the CSS of a style element. */
typedef struct hpar_url {
  hpar_element *element; /* NULL: the URL is in the text of a style element */
  hpar_string attribute; /* its name; `bytes` is NULL without an element */
  hpar_string raw;       /* as the attribute has it, without references and CSS escapes */
  hpar_string resolved;  /* the absolute URL; `bytes` NULL: it is invalid, or has no base */
  /* The callback sets it to change the URL. It is copied when the callback returns. */
  hpar_string replacement;
} hpar_url;

/* A doctype in the bytes of the input. The `bytes` of a missing part are NULL. */
typedef struct hpar_doctype {
  hpar_string name, public_id, system_id;
} hpar_doctype;

typedef struct hpar_document_end hpar_document_end;

/* Callbacks run on the thread that feeds, in document order, one at a time, except those of a rule
 * with `pure`. A callback must not use the rewriter: begin, feed, finish and hpar_rewrite return
 * HPAR_ERROR_ARGUMENT, and hpar_rewriter_destroy takes effect when the running call returns. After
 * HPAR_RETIRE the rule matches no further element, text, comment or doctype. */
typedef hpar_status (*hpar_element_callback)(hpar_element *element, void *context);
typedef hpar_status (*hpar_element_end_callback)(hpar_element_end *end, void *context);
typedef hpar_status (*hpar_text_callback)(hpar_text_piece *text, void *context);
typedef hpar_status (*hpar_comment_callback)(hpar_comment *comment, void *context);
typedef hpar_status (*hpar_attribute_callback)(hpar_attribute_unit *attribute, void *context);
typedef hpar_status (*hpar_url_callback)(hpar_url *url, void *context);
typedef hpar_status (*hpar_doctype_callback)(hpar_doctype *doctype, void *context);
typedef hpar_status (*hpar_document_end_callback)(hpar_document_end *end, void *context);
/* Reports the start tag of an element that matches: its place in the input. */
typedef void (*hpar_found_callback)(uint64_t start, uint64_t end, void *context);

/* How inserted UTF-8 is written. The rewriter encodes it for the page. A character that the page's
 * encoding lacks becomes a numeric character reference. */
typedef enum hpar_content {
  HPAR_CONTENT_TEXT = 0, /* "<", ">" and "&" become character references */
  HPAR_CONTENT_HTML      /* as given */
} hpar_content;

/* Where content goes, relative to an element, a text or a comment. */
typedef enum hpar_where {
  HPAR_WHERE_BEFORE = 0, /* before the start tag */
  HPAR_WHERE_AFTER,      /* after the end */
  HPAR_WHERE_PREPEND,    /* after the start tag; elements only, as the next two */
  HPAR_WHERE_APPEND,     /* before the end */
  HPAR_WHERE_INNER,      /* instead of the content, and of earlier PREPEND and APPEND content */
  HPAR_WHERE_REPLACE     /* instead of the element, text or comment */
} hpar_where;

/*** edits in callbacks ***/

/* HPAR_ERROR_ARGUMENT, also: a name is invalid, or the unit cannot have this edit. Names are
 * NUL-terminated. Those of attributes are in lower case. */

/* Sets `*name` and the decoded `*value`, in UTF-8, of the attribute at `index` in the tag, without
 * duplicates. Returns false past the last. Either pointer may be NULL. Edits do not show. */
HPAR_API bool hpar_element_attribute_at(const hpar_element *element, size_t index, hpar_string *name,
                                        hpar_string *value);
/* Returns the decoded value in UTF-8; `bytes` is NULL without such an attribute. Edits show. */
HPAR_API hpar_string hpar_element_attribute(const hpar_element *element, const char *name);
/* Calls `callback` with each attribute, new ones last, in linear time. Edits show. Ends with the
 * first status that is not HPAR_OK, and returns it. */
HPAR_API hpar_status hpar_element_attributes(hpar_element *element, hpar_attribute_callback callback, void *context);
/* Returns true if an edit has removed the element, or it is inside a removed element. */
HPAR_API bool hpar_element_removed(const hpar_element *element);
/* Returns the number of elements that were open before its tag. */
HPAR_API uint32_t hpar_element_depth(const hpar_element *element);

/* Sets an attribute: only its value's bytes change, in the page's quotes. A new one is last. */
HPAR_API hpar_status hpar_element_set(hpar_element *element, const char *name, const char *value, size_t length);
/* Removes an attribute, if the element has it. "*" in the name is any text, as in "on*". */
HPAR_API hpar_status hpar_element_unset(hpar_element *element, const char *name);
/* Renames the start tag and the end tag. */
HPAR_API hpar_status hpar_element_rename(hpar_element *element, const char *name);
HPAR_API hpar_status hpar_element_insert(hpar_element *element, hpar_where where, const char *content, size_t length,
                                         hpar_content format);
HPAR_API hpar_status hpar_element_remove(hpar_element *element);
/* Removes the tags and keeps the content. */
HPAR_API hpar_status hpar_element_unwrap(hpar_element *element);
/* Registers a callback for the end of this element, after those registered before. */
HPAR_API hpar_status hpar_element_on_end(hpar_element *element, hpar_element_end_callback callback, void *context);
/* BEFORE: before the end, as APPEND of the element. AFTER: after it. */
HPAR_API hpar_status hpar_element_end_insert(hpar_element_end *end, hpar_where where, const char *content,
                                             size_t length, hpar_content format);
/* These two change the end tag, if there is one. */
HPAR_API hpar_status hpar_element_end_remove(hpar_element_end *end);
HPAR_API hpar_status hpar_element_end_rename(hpar_element_end *end, const char *name);
/* Returns the text in UTF-8, with character references replaced. `bytes` NULL: no memory. */
HPAR_API hpar_string hpar_text_piece_decoded(const hpar_text_piece *text);
/* In raw text and scripts, HPAR_CONTENT_TEXT is as given, and must not hold the end tag. */
HPAR_API hpar_status hpar_text_piece_insert(hpar_text_piece *text, hpar_where where, const char *content, size_t length,
                                            hpar_content format);
HPAR_API hpar_status hpar_text_piece_remove(hpar_text_piece *text);
/* Replaces the text. HPAR_ERROR_ARGUMENT for a text that would end the comment. */
HPAR_API hpar_status hpar_comment_set_text(hpar_comment *comment, const char *text, size_t length);
HPAR_API hpar_status hpar_comment_insert(hpar_comment *comment, hpar_where where, const char *content, size_t length,
                                         hpar_content format);
HPAR_API hpar_status hpar_comment_remove(hpar_comment *comment);
HPAR_API hpar_status hpar_doctype_remove(hpar_doctype *doctype);
HPAR_API hpar_status hpar_document_end_append(hpar_document_end *end, const char *content, size_t length,
                                              hpar_content format);

/*** rules ***/

/* What an action changes. */
typedef enum hpar_unit {
  HPAR_UNIT_ELEMENT = 0,
  HPAR_UNIT_TEXT,         /* each text inside the element */
  HPAR_UNIT_COMMENT,      /* each comment inside the element */
  HPAR_UNIT_DOCTYPE,      /* rules for the document only: REMOVE */
  HPAR_UNIT_DOCUMENT_END, /* rules for the document only: APPEND */
  HPAR_UNIT_CONDITIONAL,  /* each conditional comment inside the element, as <!--[if IE]> */
  HPAR_UNIT_INSTRUCTION   /* each processing instruction inside the element, as <?xml?> */
} hpar_unit;

typedef enum hpar_action_kind {
  HPAR_ACTION_BEFORE = 0, /* inserts `value` */
  HPAR_ACTION_AFTER,
  HPAR_ACTION_PREPEND, /* elements only, like APPEND, INNER, RENAME and the following */
  HPAR_ACTION_APPEND,  /* elements and the end of the document */
  HPAR_ACTION_INNER,   /* replaces the content of the element by `value` */
  HPAR_ACTION_REPLACE, /* replaces the unit by `value` */
  HPAR_ACTION_REMOVE,
  HPAR_ACTION_UNWRAP,           /* removes the tags, or the brackets of a conditional comment */
  HPAR_ACTION_RENAME,           /* to `name` */
  HPAR_ACTION_SET_ATTRIBUTE,    /* `name` to `value` */
  HPAR_ACTION_UNSET_ATTRIBUTE,  /* `name`, in which "*" is any text, as in "on*" */
  HPAR_ACTION_PREFIX_ATTRIBUTE, /* `replacement` for `value` at the beginning of attribute `name` */
  HPAR_ACTION_FIND,             /* text only: `replacement` for each `value` */
  HPAR_ACTION_PREFIX_URLS,      /* elements: `value` before each URL that begins with one "/" */
  HPAR_ACTION_REBASE_URLS       /* elements only: makes URLs absolute; `value`: URL of the page */
} hpar_action_kind;

/* <!--[if IE]>HTML<![endif]--> is one conditional comment, and a mark alone, as <!--[if !IE]><!-->,
 * is one, too. UNWRAP leaves the HTML, which rules do not see. Actions for comments see them also.
 *
 * FIND compares decoded text: "R&D" finds "R&amp;D". `name` lists where it looks, of the words
 * text, script, style, title, comment and all; NULL is "text", which is what a reader sees.
 *
 * The last two actions and hpar_rule.url edit URLs. Attributes with URLs are href, src, srcset,
 * poster, action, formaction, data, cite, background, ping, manifest, longdesc, imagesrcset and
 * xlink:href, where the standard has them. A meta refresh has one in `content`. The URLs of CSS are
 * those of url() and @import in `style` attributes and style elements. Empty URLs do not count, and
 * absolute ones stay as they are.
 *
 * URLs are resolved as in browsers. The first `base` element with `href` counts for what follows
 * it. PREFIX_URLS changes nothing if that has a scheme or a host. REBASE_URLS leaves URLs that
 * begin with "#". Its `value` may be empty: then it is hpar_rewrite_options.document_url. */

/* A declarative edit. `name` is NUL-terminated. The layout never changes. */
typedef struct hpar_action {
  hpar_unit unit;
  hpar_action_kind kind;
  hpar_content format; /* of `value`, where it is content; of `replacement` with FIND */
  const char *name;
  hpar_string value, replacement;
} hpar_action;

/* A rule. hpar_rules_add copies it, except what `context` refers to. */
typedef struct hpar_rule {
  size_t size;          /* HPAR_RULE_INIT sets it */
  const char *selector; /* NULL: all text and comments, the doctype, and the end of the input */
  const hpar_action *actions;
  size_t action_count;
  hpar_element_callback element;
  hpar_element_end_callback end; /* for each element that matches: exactly once, where it ends */
  hpar_text_callback text;       /* for each text inside elements that match */
  hpar_comment_callback comment; /* for each comment inside elements that match */
  hpar_doctype_callback doctype; /* rules for the document only */
  hpar_document_end_callback document_end;
  void *context;
  uint64_t limit; /* the most elements that the rule matches; 0: any number */
  /* also matches elements without a tag of their own: html, head, body, tbody, tr, colgroup, p and
   * formatting elements that the parser opens again */
  bool implied;
  bool text_pieces; /* `text` and text actions receive pieces as they arrive, not whole texts */
  /* the caller promises that the callbacks, except `document_end` and `found`, may run on any
   * thread, in any order, at the same time, and more than once. They depend on their object and on
   * constant data only, and call no function of a rewriter. See docs/guides/rewrite.md */
  bool pure;
  /* FIND in visible text also finds "ab" in a<b>b</b>, around inline tags and comments, within
   * `max_text` bytes. It replaces the first piece, and removes the others. Tags stay. One thread
   * rewrites. Not with `limit`, `text_pieces` or callbacks but `found` */
  bool across_tags;
  hpar_found_callback found; /* for each element that matches, in document order */
  hpar_url_callback url;     /* for each URL of elements that match, after `element` */
} hpar_rule;
#define HPAR_RULE_INIT HPAR_SIZED(hpar_rule)

HPAR_API hpar_status hpar_rules_create(hpar_rules **rules);
/* Appends a rule. HPAR_ERROR_ARGUMENT, also: the rule is invalid, or the rules are compiled.
 * `error->offset` is in the selector, and `error->item` is the number of an action, if one of them
 * is the cause. After a failure the set is as before. */
HPAR_API hpar_status hpar_rules_add(hpar_rules *rules, const hpar_rule *rule, hpar_error *error);
/* Makes the rules ready for rewriters, and complete. A failure or a second call changes nothing. */
HPAR_API hpar_status hpar_rules_compile(hpar_rules *rules);
/* Frees the rules, after the last stream between begin and finish with them. */
HPAR_API void hpar_rules_destroy(hpar_rules *rules);

/*** rewriting ***/

/* What happens after a failure: a limit, a callback, or a lack of memory. */
typedef enum hpar_on_failure {
  /* output ends before the input that could not be processed; feed and finish return the status */
  HPAR_FAIL_STOP = 0,
  /* the rest is passed on without edits, and feed returns HPAR_OK; finish returns the status */
  HPAR_FAIL_PASS
} hpar_on_failure;

/* What happens to input in UTF-16. */
typedef enum hpar_utf16 {
  /* it becomes UTF-8 without a mark, as its sender must declare: hpar_rewrite_stats.decoded */
  HPAR_UTF16_DECODE = 0,
  HPAR_UTF16_PASS,  /* no rule applies; hpar_rewrite_stats.passed_through is set */
  HPAR_UTF16_REFUSE /* begin or feed returns HPAR_ERROR_UNSUPPORTED */
} hpar_utf16;

typedef struct hpar_rewrite_options {
  size_t size;          /* HPAR_REWRITE_OPTIONS_INIT sets it */
  const char *encoding; /* the label that the transport gives; NULL: the rewriter sniffs it */
  const char *fragment; /* the context element, as in hpar_options; NULL: a document */
  bool no_scripting;    /* the scripting flag is off. It is on by default, as in browsers */
  bool quirks;          /* in quirks mode, classes and ids are compared without ASCII case */
  /* for hostile input: removes start tags that the parser ignores, and reads the output again by
   * the same rules, on one thread. HPAR_ERROR_UNSUPPORTED: it has an element or an attribute that a
   * rule removes, and ends before that tag. HPAR_FAIL_PASS and HPAR_UTF16_PASS are not accepted */
  bool filter;
  bool suspends; /* callbacks may return HPAR_SUSPEND: see hpar_rewriter_resume. 32 KB of memory */
  hpar_on_failure on_failure;
  hpar_utf16 utf16;
  size_t max_memory; /* bytes of the rewriter; 0: any. HPAR_LIMIT_MEMORY */
  /* bytes of a tag, comment or doctype that the rewriter keeps; 0: 1 MB. HPAR_LIMIT_MEMORY. It
   * keeps what a rule reads, the tags in a matched element, and the names of all tags */
  size_t max_token;
  size_t max_text;      /* bytes of a whole text; a longer one comes in pieces; 0: 64 KB */
  uint32_t max_depth;   /* open elements; 0: any. HPAR_LIMIT_DEPTH */
  uint64_t max_input;   /* bytes; 0: any. HPAR_LIMIT_INPUT */
  uint64_t max_time_ns; /* since begin; 0: any. HPAR_LIMIT_TIME */
  /* The threads, with the calling one, up to HPAR_MAX_THREADS; 0: one for each usable core, except
   * that HPAR_MODE_AUTO then uses one for an input */
  unsigned threads;
  /* How one input is rewritten. Each mode has the same output and calls the same callbacks.
   * - HPAR_MODE_PARALLEL: several threads rewrite each feed of at least 64 KB.
   * - HPAR_MODE_AUTO: the same for feeds of at least 256 KB, if `threads` is above 1.
   * - HPAR_MODE_SEQUENTIAL: one thread. hpar_rewrite_many ignores the mode and takes this one.
   * One thread rewrites UTF-16, a fragment, with `suspends`, and with a limit of memory, time or
   * depth. So it does if a rule has `implied`, or a selector reads languages or states of form
   * controls. The last case is a rule with `text_pieces` that edits texts, beside one that edits
   * whole texts and has callbacks for texts, comments or the doctype that are not pure. */
  hpar_mode mode;
  /* The caller's executor, as in hpar_select_options. The callbacks for one input then run on the
   * feeding thread and on that of task 0, in order and never at once */
  hpar_run_callback run;
  void *run_context;
  hpar_error *error;        /* filled by a call with these options; NULL: none */
  const char *document_url; /* of the page, in UTF-8; NULL: unknown. For hpar_rule.url */
  /* 1: no call waits for a late thread. The bytes, and what `pure` callbacks read, must stay until
   * the rewriter's next begin or hpar_rewrite returns, or it is destroyed: these wait */
  uint64_t bytes_stay;
} hpar_rewrite_options;
#define HPAR_REWRITE_OPTIONS_INIT HPAR_SIZED(hpar_rewrite_options)

typedef struct hpar_rewrite_stats {
  size_t size; /* HPAR_REWRITE_STATS_INIT sets it */
  uint64_t input_bytes, output_bytes;
  uint64_t tags;    /* start and end tags that the scanner read */
  uint64_t matches; /* pairs of an element and a rule */
  uint64_t edits;
  uint64_t held_bytes;   /* the most bytes that waited between two feeds */
  uint64_t memory_bytes; /* the most memory of the rewriter, without the rules */
  uint64_t depth;        /* the most open elements */
  uint64_t misplaced;    /* "after" content inside an element that has no end tag */
  bool passed_through;   /* UTF-16 that was not rewritten */
  bool retired;          /* all rules had retired: tags, depth and encoding may lack the rest */
  bool decoded;          /* the input was UTF-16, and the output is UTF-8 */
  uint64_t failed_at;    /* input offset of the failure; UINT64_MAX: none */
  const char *encoding;  /* name of the encoding, static; NULL: unknown */
} hpar_rewrite_stats;
#define HPAR_REWRITE_STATS_INIT HPAR_SIZED(hpar_rewrite_stats)

/* A rewriter keeps its memory from one stream to the next. */
HPAR_API hpar_status hpar_rewriter_create(hpar_rewriter **rewriter);
/* Frees the rewriter. A stream that has not finished ends without output. */
HPAR_API void hpar_rewriter_destroy(hpar_rewriter *rewriter);
/* Returns why the rewriter's last call failed, valid until the next one. For NULL, it says so. */
HPAR_API const hpar_error *hpar_rewriter_error(const hpar_rewriter *rewriter);

/* Begins a stream. A stream that has not finished is dropped. `rules` must stay until finish.
 * `write` receives the output in order: pieces of at least 256 bytes, and the rest at the end of
 * each feed. If it fails, the stream ends, and feed and finish return its status. `write` NULL:
 * there is no output, for rules that only read. HPAR_ERROR_ARGUMENT, also: `rules` are not
 * compiled. HPAR_ERROR_UNSUPPORTED: ISO-2022-JP, "replacement" or refused UTF-16. */
HPAR_API hpar_status hpar_rewriter_begin(hpar_rewriter *rewriter, const hpar_rules *rules,
                                         const hpar_rewrite_options *options, hpar_write_callback write, void *context);
/* Feeds `length` bytes, which the caller may then change without `bytes_stay`. Any division of the
 * input gives the same output without `text_pieces`. After a failure feed only returns its status,
 * unless the rest passes. HPAR_ERROR_ARGUMENT and no change: NULL, no stream, a callback. */
HPAR_API hpar_status hpar_rewriter_feed(hpar_rewriter *rewriter, const char *bytes, size_t length);
/* Ends the stream: ends all elements, runs the callbacks of the document's end, writes the rest.
 * The stream ends with any status. HPAR_ERROR_ARGUMENT as for feed. */
HPAR_API hpar_status hpar_rewriter_finish(hpar_rewriter *rewriter, hpar_rewrite_stats *stats);
/* Goes on after HPAR_SUSPEND. A callback that waits for an answer returns it, and so does the call
 * of feed, finish or hpar_rewrite around it. That call is not over: its arguments must stay, and
 * the object of the callback stays valid for edits. `answer` is what the callback would return.
 * Returns what the call returns, or HPAR_SUSPEND again. Until then the rewriter refuses other calls
 * as in a callback, except hpar_rewriter_destroy. Any thread may resume, and callbacks and `write`
 * then run there. HPAR_ERROR_ARGUMENT: no callback waits, or `answer` is HPAR_SUSPEND. */
HPAR_API hpar_status hpar_rewriter_resume(hpar_rewriter *rewriter, hpar_status answer);
/* Rewrites a whole input: begin, feed, finish. */
HPAR_API hpar_status hpar_rewrite(hpar_rewriter *rewriter, const hpar_rules *rules, const hpar_rewrite_options *options,
                                  const char *bytes, size_t length, hpar_rewrite_stats *stats,
                                  hpar_write_callback write, void *context);

typedef struct hpar_rewrite_page {
  size_t size;       /* HPAR_REWRITE_PAGE_INIT sets it */
  const char *bytes; /* may be NULL if `length` is 0 */
  size_t length;
  const hpar_rules *rules;   /* of this page; NULL: those of the call */
  hpar_write_callback write; /* as in hpar_rewrite, on the thread that rewrites this page */
  void *context;
  hpar_status status;       /* the library sets it, and `stats` */
  hpar_rewrite_stats stats; /* grows at its end, so that no field may ever follow it */
} hpar_rewrite_page;
#define HPAR_REWRITE_PAGE_INIT HPAR_SIZED(hpar_rewrite_page)

/* Reports a page whose output is complete or has failed. The calls come in the order of the pages,
 * one at a time, on any thread of the call, while other threads rewrite later pages. The callback
 * may change or clear `*page`, but nothing of the other pages. */
typedef void (*hpar_page_callback)(size_t index, hpar_rewrite_page *page, void *context);

/* Rewrites `count` pages, each by one rewriter on one of hpar_rewrite_options.threads threads. Each
 * page has the output and the statistics of hpar_rewrite, and its own limits.
 *
 * The callbacks of a rule run on the thread that rewrites the page, in document order within the
 * page. Those of different pages run at the same time, so `context` of a rule must allow that.
 * HPAR_RETIRE and `limit` concern one page. `callback` may be NULL, and `pages` if `count` is 0.
 *
 * Returns HPAR_OK even if pages fail: each has its own status. Otherwise nothing is rewritten.
 * HPAR_ERROR_ARGUMENT, also: a page has no rules, or `suspends` is set. */
HPAR_API hpar_status hpar_rewrite_many(const hpar_rules *rules, const hpar_rewrite_options *options,
                                       hpar_rewrite_page *pages, size_t count, hpar_page_callback callback,
                                       void *context);

HPAR_END_C
#endif
