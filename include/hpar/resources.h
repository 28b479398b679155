#ifndef HPAR_RESOURCES_H
#define HPAR_RESOURCES_H

/* The resources that a browser loads with a document or prepares for, and the document's links.
 *
 *   hpar_resource_list *found = hpar_resources_all(document, top, NULL);
 *   for (size_t i = 0; found && i < found->count; i++) {
 *     const hpar_resource *resource = &found->resources[i];
 *     printf("%s %.*s\n", hpar_resource_kind_name(resource->kind),
 *            (int)resource->url.length, resource->url.bytes);
 *   }
 *   hpar_list_destroy(found);
 *
 * docs/guides/resources.md lists the elements and attributes that have resources, by the HTML
 * Standard, and those that are left out. The contents of template elements have none, except those
 * of a declarative shadow root. All strings are values as they are in the document, except that
 * URLs of imports up to 4096 bytes have no escapes. The caller resolves URLs, chooses among
 * `srcset`, and evaluates `media`. A link, style or source with `media` "not all" has none. */

#include <hpar/node.h>

HPAR_BEGIN_C

typedef enum hpar_resource_kind {
  HPAR_RESOURCE_SCRIPT = 0,
  HPAR_RESOURCE_MODULE, /* a script of type module */
  HPAR_RESOURCE_STYLE,
  HPAR_RESOURCE_IMPORT, /* a style sheet that a style element imports */
  HPAR_RESOURCE_IMAGE,
  HPAR_RESOURCE_POSTER,
  HPAR_RESOURCE_PRELOAD,
  HPAR_RESOURCE_MODULE_PRELOAD,
  HPAR_RESOURCE_PRECONNECT,
  HPAR_RESOURCE_DNS_PREFETCH,
  HPAR_RESOURCE_ICON,
  HPAR_RESOURCE_MANIFEST,
  HPAR_RESOURCE_BASE,
  HPAR_RESOURCE_POLICY,   /* a content security policy, in `content` */
  HPAR_RESOURCE_REFERRER, /* a referrer policy, in `content` */
  HPAR_RESOURCE_VIEWPORT, /* in `content` */
  HPAR_RESOURCE_FRAME,    /* the document of an iframe or a frame */
  HPAR_RESOURCE_OBJECT,   /* of an object or embed element */
  HPAR_RESOURCE_MEDIA,    /* of an audio or video element, or of a source element in one */
  HPAR_RESOURCE_TRACK,
  HPAR_RESOURCE_PREFETCH,
  HPAR_RESOURCE_REFRESH,       /* the page that replaces this one. `content` is the whole value */
  HPAR_RESOURCE_MODULE_IMPORT, /* what an inline module imports: `url` is the specifier */
  HPAR_RESOURCE_IMPORT_MAP,    /* its text is in `content`. Browsers load what modules name by it */
  HPAR_RESOURCE_KINDS
} hpar_resource_kind;

/* Bits of hpar_resource.flags. */
enum {
  HPAR_RESOURCE_ASYNC = 1,  /* script: it has the attribute `async` */
  HPAR_RESOURCE_DEFER = 2,  /* script: it has the attribute `defer` */
  HPAR_RESOURCE_LAZY = 4,   /* image, iframe: browsers load it when it comes near the screen */
  HPAR_RESOURCE_SOURCE = 8, /* image, media: from a source element of `picture` */
  /* of an event: a script has written the start tag. The offset is the end of the script's tag */
  HPAR_RESOURCE_WRITTEN = 16,
  HPAR_RESOURCE_ALTERNATE = 32 /* style: an alternate style sheet, which users may choose */
};

/* What happens to a resource during a parse. */
typedef enum hpar_resource_event {
  HPAR_RESOURCE_FOUND = 0, /* a worker has found it under assumptions that may be wrong */
  HPAR_RESOURCE_CONFIRMED, /* the document has it */
  HPAR_RESOURCE_CANCELLED  /* it was found, or confirmed, and the document does not have it */
} hpar_resource_event;

/* A resource. The string of a missing attribute has the `bytes` NULL. Strings are valid as those of
 * the document are; the `url` of an import with escapes is valid during the callback only. */
typedef struct hpar_resource {
  hpar_resource_kind kind;
  unsigned flags;
  hpar_node element;
  /* around an image or a source: the picture, audio or video, whose resources are alternatives */
  hpar_node picture;
  hpar_string url;
  hpar_string srcset, sizes; /* image, and preload of an image: the candidates */
  hpar_string media, type, as, crossorigin, integrity, referrerpolicy, fetchpriority, charset, nonce;
  hpar_string content;  /* of meta and importmap; import: layer, supports(), media after the URL */
  uint64_t offset;      /* of an event: the start tag in the input; otherwise 0 */
  unsigned thread;      /* of an event: the thread that found it; otherwise 0 */
  uint64_t reserved[8]; /* zero */
} hpar_resource;

/* Receives one resource, which is valid during the call. It may read the document. */
typedef hpar_status (*hpar_resource_callback)(const hpar_resource *resource, void *context);

/* Receives an event of a parse (hpar_options.resources). The resource is valid during the call. The
 * callback may read the strings only. It must not call the library with the parser or the document.
 *
 * A thread of a parallel parse reports FOUND at once, so that several threads call at the same
 * time. CONFIRMED and CANCELLED come from the calling thread, which is that of task 0 with a
 * caller's executor. CONFIRMED comes in the order of the start tags, and is the same in each mode.
 * A resource without FOUND was not found before. FOUND never follows CONFIRMED of the same
 * resource: the calling thread waits until no other thread reports what it confirms. So a callback
 * for FOUND must not wait for that thread. Tags that scripts of the parse write have resources,
 * too, and the parse cancels what such text makes invalid. Elements that a script makes or changes
 * by other functions have no events. A resource has the same `offset` in all its events. After
 * CONFIRMED, CANCELLED only comes if the parse begins again: for another encoding, a limit, or
 * bytes that a parallel parse finds to be no valid UTF-8. Events may lack if memory runs out. */
typedef void (*hpar_resource_event_callback)(const hpar_resource *resource, hpar_resource_event event, void *context);

/* The resources that a parse reports. */
typedef struct hpar_resource_options {
  hpar_resource_event_callback callback; /* NULL: the parse reports none, and has no cost for it */
  void *context;
  /* FOUND comes from the calling thread, in the order of the start tags, after all text before the
   * tag is parsed, and before a later tag is confirmed. What it parses again may have no FOUND */
  bool in_order;
  uint64_t reserved[3]; /* zero */
} hpar_resource_options;

/* Returns the name of a kind, such as "script" or "dns-prefetch". NULL past the last. */
HPAR_API const char *hpar_resource_kind_name(size_t kind);
/* Reports the resources of `top` and its descendants in tree order, in linear time. The images of a
 * picture come before the image of its img element. Shadow roots count up to 16 deep. */
HPAR_API hpar_status hpar_resources(const hpar_document *document, hpar_node top, hpar_resource_callback callback,
                                    void *context);

typedef struct hpar_resource_list {
  size_t count;
  const hpar_resource *resources;
} hpar_resource_list;
/* Returns the resources that hpar_resources reports, in its order; NULL after a failure. The list
 * owns the strings `url` of imports. hpar_list_destroy frees it. */
HPAR_API hpar_resource_list *hpar_resources_all(const hpar_document *document, hpar_node top, hpar_error *error);

/*** links ***/

/* The links of a subtree, resolved by the URL Standard (https://url.spec.whatwg.org/) against the
 * base URL of the document. The first `base` element with an `href` sets it; no `base` is a link.
 * docs/guides/text-and-links.md lists the attributes that have links, and the limits of resolving.
 * The contents of template elements have no links. */

/* A link. The pointers to `url` and `attribute` are valid during the callback only. */
typedef struct hpar_link {
  hpar_node element;
  hpar_string attribute;   /* the local name */
  hpar_string value;       /* the value of the attribute, or one URL of a list */
  hpar_string url;         /* resolved; `bytes` is NULL if there is no valid URL */
  bool host_not_converted; /* the host name of `url` has characters beyond ASCII, for lack of ICU */
} hpar_link;

/* Receives one link. It may read the document. */
typedef hpar_status (*hpar_link_callback)(const hpar_link *link, void *context);

typedef struct hpar_link_options {
  size_t size;                /* HPAR_LINK_OPTIONS_INIT sets it */
  const char *document_url;   /* the URL of the document, in UTF-8; NULL: unknown */
  const char *query_encoding; /* its label; NULL: that of the document, as in browsers */
  hpar_error *error;          /* filled by the call; NULL: none */
} hpar_link_options;
#define HPAR_LINK_OPTIONS_INIT HPAR_SIZED(hpar_link_options)

/* Reports the links of `top` and its descendants in tree order, and for each element by attribute,
 * in linear time. Without a document URL, and without an absolute URL in a `base` element, relative
 * links have no valid URL. HPAR_ERROR_ARGUMENT, also: `document_url` is not a valid absolute URL,
 * or `query_encoding` is no label of an encoding. */
HPAR_API hpar_status hpar_links(const hpar_document *document, hpar_node top, const hpar_link_options *options,
                                hpar_link_callback callback, void *context);

typedef struct hpar_link_list {
  size_t count;
  const hpar_link *links;
} hpar_link_list;
/* Returns the links that hpar_links reports; NULL after a failure. hpar_list_destroy frees all. */
HPAR_API hpar_link_list *hpar_links_all(const hpar_document *document, hpar_node top, const hpar_link_options *options,
                                        hpar_error *error);

HPAR_END_C
#endif
