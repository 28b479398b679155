#ifndef HPAR_LINKS_H
#define HPAR_LINKS_H

/* The links of a subtree, resolved against the document's base URL.
 *
 * A link is a URL in one of these attributes:
 * - `href` of a, area, link and of SVG elements, where `xlink:href` counts as well;
 * - `src` of audio, embed, frame, iframe, img, input, script, source, track and video;
 * - `srcset` of img and source, and `imagesrcset` of link: each candidate is a link;
 * - `ping` of a and area: each URL is a link;
 * - `action` of form, `formaction` of button and input;
 * - `cite` of blockquote, del, ins and q;
 * - `data` of object, `poster` of video, `background` of body, `longdesc` of frame, iframe and img.
 *
 * `base` elements are not links. The first `base` element of the document that has an `href` sets
 * the base URL. The contents of template elements have no links.
 *
 * URLs are resolved and serialised by the URL Standard (https://url.spec.whatwg.org/), with these
 * limits:
 * - Host names are converted to ASCII by ICU, which is loaded when the first such name comes. A
 *   build or a machine without it keeps the characters of the name, and does not check Punycode.
 * - Queries in ISO-2022-JP are encoded in UTF-8.
 * - A host name has at most 4096 bytes. */

#include <hpar/node.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A link. The pointers to `url` and `attribute` are valid during the callback only. */
typedef struct hpar_link {
  hpar_node element;
  hpar_string attribute;   /* the local name */
  hpar_string value;       /* the value of the attribute, or one URL of a list */
  hpar_string url;         /* resolved; `bytes` is NULL if there is no valid URL */
  bool host_not_converted; /* the host name of `url` has characters beyond ASCII, for lack of ICU */
} hpar_link;

/* Receives one link. It may read the document, but not change it. */
typedef hpar_status (*hpar_link_callback)(const hpar_link *link, void *context);

/* How links are resolved. */
typedef struct hpar_link_options {
  size_t size;              /* sizeof(hpar_link_options): HPAR_LINK_OPTIONS_INIT sets it */
  const char *document_url; /* the URL of the document, in UTF-8; NULL: unknown */
  /* the label of the encoding of queries; NULL: that of the document, as in browsers */
  const char *query_encoding;
} hpar_link_options;

#define HPAR_LINK_OPTIONS_INIT HPAR_SIZED(hpar_link_options)

/* Reports the links of `top` and its descendants in tree order, and for each element by attribute.
 *
 * `options` NULL means the defaults. Without a document URL, and without an absolute URL in a
 * `base` element, relative links have no valid URL. The function takes linear time. Any number of
 * threads may call it for one document at once. HPAR_NO_NODE has no links.
 *
 * Returns HPAR_ERROR_MEMORY if memory runs out. Returns HPAR_ERROR_ARGUMENT in these cases:
 * - `document` or `callback` is NULL.
 * - `options->size` is 0, or `options` has a field that this library lacks.
 * - `document_url` is not a valid absolute URL, or `query_encoding` is no label of an encoding. */
HPAR_API hpar_status hpar_links(const hpar_document *document, hpar_node top, const hpar_link_options *options,
                                hpar_link_callback callback, void *context);

/* The links of a subtree in the order of hpar_links. */
typedef struct hpar_link_list {
  size_t count;
  const hpar_link *links;
} hpar_link_list;

/* Returns the links that hpar_links reports, for a loop without a callback:
 *
 *   hpar_link_list *found = hpar_links_all(document, top, NULL, NULL);
 *   for (size_t i = 0; found && i < found->count; i++) use(found->links[i].url);
 *   hpar_list_destroy(found);
 *
 * The list owns the strings `url`. The others are valid as those of the document are. Returns NULL
 * after a failure of hpar_links; `error` may be NULL. */
HPAR_API hpar_link_list *hpar_links_all(const hpar_document *document, hpar_node top, const hpar_link_options *options,
                                        hpar_error *error);

#ifdef __cplusplus
}
#endif
#endif
