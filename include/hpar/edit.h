#ifndef HPAR_EDIT_H
#define HPAR_EDIT_H

/* Changes of a document after its parse. The calling thread becomes the owner of the document:
 *
 *   hpar_scripting *edit;
 *   if (hpar_document_edit(document, NULL, &edit) == HPAR_OK) {
 *     hpar_script_remove(edit, node);
 *     hpar_document_finish_edit(document);
 *   }
 *
 * The functions of hpar/script.h that change the document take the handle, in place of that of a
 * callback. They differ from changes by a script in these points:
 * - No script runs. hpar_script_write and hpar_script_postpone return HPAR_ERROR_ARGUMENT.
 * - A call that fails leaves the tree as it is, and later calls may succeed.
 * - The document node of a fragment parse may have any children except doctypes.
 *
 * These rules hold:
 * - A removed node stays readable until the next parse into the document, its clearing or its
 *   destruction. The handles of all nodes stay valid as long.
 * - Nodes that a change has made have no positions in the input. Other nodes keep theirs. An
 *   attribute that a change has added has no position. A changed value keeps that of the old one.
 * - Strings that the functions of hpar/document.h return stay valid until the document changes.
 * - Only the owner may use the document during an edit: reads by other threads must happen before
 *   or after it.
 * - The first change that needs memory reserves 1 MB of address space, or three times the tree's
 *   size. If the addresses after the tree are not free, the document copies the tree once and keeps
 *   both copies.
 *
 * The HTML of an edited tree may be that of another tree. For example, `-->` ends a comment,
 * `</script` ends a script, and a block ends the `p` around it. If the HTML of a tree is parsed to
 * this tree, and it has no `selectedcontent`, it still is after these changes:
 * - an attribute of `body`, `div` or `span` with a new name in lower case, or with a new value
 *   without NUL and CR
 * - a new `span` or `div` in `body` or `div`, and a new `span` in `span`
 * - a text without NUL and CR in one of these, if no other text is next to it
 * - a comment in one of these. Its data has no NUL, CR, `-->` or `--!>`. It begins with neither `>`
 *   nor `->`, and does not end with `<!-`
 * - the removal of any of these, if it leaves no two texts next to each other
 *
 * Documents that no thread edits cost the same as without these functions. */

#include <hpar/options.h>
#include <hpar/script.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Begins changes of the document by the calling thread, and sets `*edit` to the handle. Waits for
 * late threads of the last parse (see hpar_parse).
 *
 * `options` may be NULL. The function reads the scripting flag of inner HTML, and the limits. Those
 * of `depth` and `attributes` are as in a parse. `memory` counts the whole document, `nodes` counts
 * those that the edit makes, and `time_ns` begins with the call. A change that would exceed a limit
 * returns it. If the calling thread owns the document already, the function returns the same handle
 * with the new options.
 *
 * The handle is valid until hpar_document_finish_edit, the next parse into the document, its
 * clearing or its destruction.
 *
 * HPAR_ERROR_ARGUMENT: `document` or `edit` is NULL, an option is wrong, another thread owns the
 * document, or a parse fills it. hpar_document_error then has the reason. */
HPAR_API hpar_status hpar_document_edit(hpar_document *document, const hpar_options *options, hpar_scripting **edit);

/* Returns why the last hpar_document_edit failed: the field, its value and the accepted values. The
 * text is empty after a success, and valid until the next call for the document. */
HPAR_API const char *hpar_document_error(const hpar_document *document);

/* Ends the changes, and gives unused address space back. Any number of threads may then read the
 * document, and another thread may edit it. Does nothing without an edit, or for NULL.
 * A thread other than the owner may call this if the owner makes no call with the document. */
HPAR_API void hpar_document_finish_edit(hpar_document *document);

#ifdef __cplusplus
}
#endif
#endif
