/* Checks the detection of files that are not HTML. */

#include "programs/hpar/looks_like_html.h"

#include "check.h"

int main(void) {
#define LOOKS(bytes) hp_looks_like_else(bytes, sizeof bytes - 1, "utf-8")
  CHECK(!LOOKS("") && !LOOKS(" \n") && !LOOKS("<p>") && !LOOKS("\xEF\xBB\xBF <!doctype html>"));
  CHECK(!LOOKS("text <b>bold"));
  CHECK_STRING(LOOKS("\x89PNG\r\n\x1A\n...."), "a PNG image");
  CHECK_STRING(LOOKS("%PDF-1.7 <html>"), "a PDF document");
  CHECK_STRING(LOOKS("RIFF....WEBPVP8 "), "a WebP image");
  CHECK_STRING(LOOKS("{\"html\": 1}"), "JSON");
  CHECK_STRING(LOOKS("only words < here"), "plain text");
  CHECK_STRING(LOOKS("<p>\0\0\0"), "binary data");
  CHECK_STRING(LOOKS("\1<p>\2") ? "yes" : "no", "no");
  CHECK_STRING(LOOKS("\1\2\3"), "binary data");
  CHECK(!hp_looks_like_else("<\0p\0>\0", 6, "utf-16le"));
  CHECK(!hp_looks_like_else("\0<\0p\0>", 6, "utf-16be"));
  return check_report();
}
