#ifndef HPAR_PARSE_H
#define HPAR_PARSE_H

/* Parsing bytes into a document: HTML Living Standard, "Parsing HTML documents".
 *
 * The tree is the same for every mode, thread count, cut, strategy, predictor and merge order. One
 * thread at a time may use a parser. A parser keeps memory and threads between parses. Different
 * parsers may run at once.
 *
 * Time is linear in the input, except where the standard defines a tree that is larger than the
 * input. Such a tree has formatting elements that are reconstructed in each of many paragraphs.
 * Limits bound the tree and the time: see hpar_limits. SECURITY.md lists the functions that take
 * more than linear time. */

#include <hpar/node.h>
#include <hpar/options.h>
#include <hpar/stats.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hpar_parser hpar_parser;

/* A parse error: the standard's name for it ("eof-in-tag") and the byte offset in the input. The
 * code of tree construction errors is "tree-construction", because the standard does not name
 * them. The text has static storage. */
typedef struct hpar_parse_error {
  const char *code;
  uint64_t offset;
} hpar_parse_error;

/* Creates a parser and stores it in `*parser`. The caller destroys it. HPAR_ERROR_MEMORY: `*parser`
 * is NULL. HPAR_ERROR_ARGUMENT: `parser` is NULL. */
HPAR_API hpar_status hpar_parser_create(hpar_parser **parser);

/* Frees the parser and ends its threads. Documents stay. A feed that has not finished is abandoned:
 * its document becomes empty. NULL: nothing happens. In
 * a callback of a call on the parser, it takes effect when that call returns. */
HPAR_API void hpar_parser_destroy(hpar_parser *parser);

/* Returns why the parser's last call failed. The error belongs to the parser, and is valid until
 * the next call on it. For NULL, an error says so. */
HPAR_API const hpar_error *hpar_parser_error(const hpar_parser *parser);

/* Starts the threads that a parse with these options would use, and wakes them: they spin for up to
 * 2 ms. The next parse then starts without delay. A caller that waits for input calls it when the
 * first bytes arrive. hpar_parser_begin does not call it, but the first feed does. `options` NULL:
 * the defaults. Does nothing if such a parse has one thread. HPAR_ERROR_ARGUMENT: the parser is
 * NULL, or an option is not accepted. HPAR_ERROR_MEMORY. */
HPAR_API hpar_status hpar_parser_prepare(hpar_parser *parser, const hpar_options *options);

/* Parses `length` bytes into `document` and drops its earlier tree. `options` NULL: the defaults.
 * `bytes` may be NULL if `length` is 0. The bytes must outlive the document, unless
 * hpar_options.copy_input is set.
 *
 * The parallel parser does not wait for a thread that is late. Such a thread may still read the
 * bytes and write to its own part of the document's memory. Destroying, clearing, parsing into or
 * otherwise changing the document waits for the thread. So does destroying the parser. A caller
 * that frees the bytes and keeps the document calls hpar_document_clear before.
 *
 * `stats` may be NULL. Otherwise its `size` must be set. It is filled if the parse succeeds or ends
 * at a limit. After any other failure it has the defaults.
 *
 * The parser finds the encoding as the standard defines it: a byte order mark,
 * hpar_options.encoding, then a meta element in the first 1024 bytes. Without any of these, valid
 * UTF-8 is UTF-8, and other bytes are windows-1252. A later meta element with another encoding
 * starts the parse again. A fragment is not searched for meta elements. The tree is in UTF-8, and
 * offsets are those of the input. Invalid sequences become U+FFFD as the Encoding Standard defines
 * it.
 *
 * HPAR_ERROR_ARGUMENT: an argument is NULL, or an option is not accepted. HPAR_ERROR_UNSUPPORTED:
 * this build lacks the requested part. HPAR_ERROR_TOO_LARGE,
 * HPAR_ERROR_MEMORY. The document is empty after a failure, except at a limit. If the parser or the
 * document is NULL, nothing changes. */
HPAR_API hpar_status hpar_parse(hpar_parser *parser, const hpar_options *options, const char *bytes, size_t length,
                                hpar_document *document, hpar_stats *stats);

/* Parses `length` bytes into a document of its own, which the caller destroys:
 *
 *   hpar_document *document = hpar_parse_bytes(page, length, NULL, NULL);
 *
 * It makes a parser for this one call; a program that parses many pages keeps one, and calls
 * hpar_parse. `options` NULL: the defaults. `bytes` may be NULL if `length` is 0. The bytes must
 * outlive the document, unless hpar_options.copy_input is set. No thread uses them after the call.
 *
 * Returns NULL after a failure. After a limit, the document has the tree so far, and
 * `error->status` is the limit's. Fails as hpar_parse does. `error` may be NULL. */
HPAR_API hpar_document *hpar_parse_bytes(const char *bytes, size_t length, const hpar_options *options,
                                         hpar_error *error);

/* Does the same with the bytes of the file or pipe `path`. The document owns a copy of them.
 * HPAR_ERROR_IO: the file cannot be read, and `error->text` has its name and the reason.
 * HPAR_ERROR_ARGUMENT, also: `path` is NULL. */
HPAR_API hpar_document *hpar_parse_file(const char *path, const hpar_options *options, hpar_error *error);

/* Incremental input: begin, any number of feeds, finish. The tree, the parse errors and the
 * counters of tokens and nodes are those of hpar_parse for any division of the input.
 *
 * - The caller may change or free the bytes after a feed returns. The document keeps the text.
 * - The feeds parse as much as they can, after 1024 bytes or when the encoding is certain. Other
 *   threads parse chunks between the calls. With the inline executor, the caller's executor and the
 *   pipelined parser, finish parses everything.
 * - A meta element that declares another encoding starts the parse again, as in hpar_parse. So do
 *   bytes that are not valid UTF-8, if nothing declares the encoding.
 * - The options are copied. What they point to must stay until finish. The caller must not read the
 *   document before finish. Finish checks forced cuts against the input's length.
 * - These abandon the feed: another begin, hpar_parse, hpar_parse_many or hpar_tokenize with the
 *   parser; destroying the parser; any other use of the document. The document is then empty. */

/* Begins a feed into `document` and drops its earlier tree. `options` NULL: the defaults. Fails as
 * hpar_parse does; there is no feed then. */
HPAR_API hpar_status hpar_parser_begin(hpar_parser *parser, const hpar_options *options, hpar_document *document);

/* Feeds `length` bytes; 0: nothing happens. After a limit feed returns its status and ignores the
 * bytes. HPAR_ERROR_ARGUMENT without a change: the parser is NULL, there is no feed, or `bytes` is
 * NULL and `length` is not 0. After any other failure the document is empty. Feed and finish then
 * return the same status. They return HPAR_ERROR_ARGUMENT if the caller used the document. */
HPAR_API hpar_status hpar_parser_feed(hpar_parser *parser, const char *bytes, size_t length);

/* Ends the feed, with any status. `stats` is as in hpar_parse. Returns HPAR_ERROR_ARGUMENT if the
 * parser is NULL or there is no feed. If `stats` is not valid, the feed goes on. */
HPAR_API hpar_status hpar_parser_finish(hpar_parser *parser, hpar_stats *stats);

/* One of several inputs. */
typedef struct hpar_input {
  const char *bytes; /* may be NULL if `length` is 0; must stay as for hpar_parse */
  size_t length;
  hpar_document *document; /* the caller's; each may be in one input only. NULL: the parser lends
                              one until the callback returns */
  hpar_status status;      /* the library sets it to the result of this input's parse */
} hpar_input;

/* Reports a parsed input, on the thread that parsed it, while others run. `thread` is below
 * hpar_many_stats.threads, and two calls at once have different numbers. `document` is empty after
 * a failure. `parser` has the parse errors and the error text of this input. The callback may read
 * both. It must not throw an exception or longjmp. A parser that it destroys lives until the call
 * returns, and a document until the callback does. */
typedef void (*hpar_batch_callback)(size_t index, hpar_input *input, const hpar_document *document,
                                    const hpar_parser *parser, const hpar_stats *stats, unsigned thread, void *context);

/* Parses `count` inputs, each with the sequential parser on one of hpar_options.threads threads,
 * the longest first. For many documents this has a higher throughput than to parse each in
 * parallel.
 *
 * `mode` and all options of cutting and merging are ignored. The limits apply to each input. With
 * HPAR_EXECUTOR_INLINE, or without the parallel parser, the calling thread parses all inputs.
 * `callback` may be NULL. `stats` may be NULL; otherwise its `size` must be set.
 *
 * Returns HPAR_OK even if inputs fail: each has its own status. HPAR_ERROR_ARGUMENT or
 * HPAR_ERROR_UNSUPPORTED: the parser is NULL, `inputs` is NULL and `count` is not 0, or hpar_parse
 * would refuse the options. HPAR_ERROR_MEMORY: no thread has the memory to start. In these cases
 * nothing is parsed. */
HPAR_API hpar_status hpar_parse_many(hpar_parser *parser, const hpar_options *options, hpar_input *inputs, size_t count,
                                     hpar_many_stats *stats, hpar_batch_callback callback, void *context);

/* Returns the number of parse errors that the last parse kept, at most hpar_options.max_errors; 0
 * for NULL. */
HPAR_API size_t hpar_parse_error_count(const hpar_parser *parser);

/* Returns a parse error of the last parse. They are ordered by offset, and valid until the next
 * call on the parser. Past the last: an empty code and offset 0. */
HPAR_API hpar_parse_error hpar_parse_error_at(const hpar_parser *parser, size_t index);

/* Reports the resources of an input to options->resources without building a tree. The scan takes
 * about as long as a parse. Its memory does not grow with the page.
 *
 * The calling thread scans the whole input and reports CONFIRMED, in the order of the start tags.
 * The list is that of a parse, with two differences. `element` is HPAR_NO_NODE. `picture` is a
 * number that the images of one picture share. With several threads, the others scan later parts of
 * the input at the same time and report FOUND at once. CANCELLED comes at the end. It also comes
 * before the scan begins again in an encoding that a meta element declares.
 *
 * The scan uses these options: resources, mode, threads, encoding, fragment, scripting,
 * parallel.executor, parallel.wait, limits.input, and the predictor of a study. With
 * resources.in_order, only the calling thread scans. It runs no scripts.
 *
 * HPAR_ERROR_ARGUMENT: the parser or the callback is NULL, `bytes` is NULL though `length` is not
 * 0, or an option is invalid. HPAR_ERROR_UNSUPPORTED: the encoding is UTF-16, ISO-2022-JP or
 * "replacement". HPAR_LIMIT_INPUT: the input is longer than limits.input, and its beginning is
 * scanned. HPAR_ERROR_MEMORY. */
HPAR_API hpar_status hpar_scan_resources(hpar_parser *parser, const hpar_options *options, const char *bytes,
                                         size_t length);

#ifdef __cplusplus
}
#endif
#endif
