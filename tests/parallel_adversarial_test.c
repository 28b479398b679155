/* Checks cuts that an incorrect merger gets wrong: sixteen documents with their expected trees, and
 * the shared list of documents with marked cuts. The test cuts exactly at the marks, also inside a
 * token, where no smart cut is possible. It uses every way to speculate, inline and on threads,
 * with near and distant checkpoints. */

#include "check.h"
#include "support/compare.h"
#include "support/shared.h"

#include <hpar/study.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARK "\xC2\xA6"

static comparer with;
static unsigned long passed, failed;

/* The bars mark the cuts. The dump omits "| " and the beginning of every page. */
typedef struct tree_case {
  const char *name, *marked, *expected;
} tree_case;

static const tree_case trees[] = {
    {"marker left in the list by a cell that closed early", "<p><i></p>|<table><tr><td><object></table>k",
     "  <body>\n"
     "    <p>\n"
     "      <i>\n"
     "    <table>\n"
     "      <tbody>\n"
     "        <tr>\n"
     "          <td>\n"
     "            <object>\n"
     "    \"k\"\n"},
    {"the leftover marker is the one that the outer object clears",
     "<object><i>|<table><tr><td><object></table></object>k",
     "  <body>\n"
     "    <object>\n"
     "      <i>\n"
     "        <table>\n"
     "          <tbody>\n"
     "            <tr>\n"
     "              <td>\n"
     "                <object>\n"
     "    <i>\n"
     "      \"k\"\n"},
    {"a formatting element that a leaked marker kept, and blanks where the body was taken for a row",
     "k|<tr><template><b><template><th></template></template> <i>l",
     "  <body>\n"
     "    \"k\"\n"
     "    <template>\n"
     "      content\n"
     "        <b>\n"
     "          <template>\n"
     "            content\n"
     "              <th>\n"
     "    <b>\n"
     "      \" \"\n"
     "      <i>\n"
     "        \"l\"\n"},
    {"the same where a row was taken for the body",
     "<table><tr>|<template><b><template><th></template></template> <td>k",
     "  <body>\n"
     "    <table>\n"
     "      <tbody>\n"
     "        <tr>\n"
     "          <template>\n"
     "            content\n"
     "              <b>\n"
     "                <template>\n"
     "                  content\n"
     "                    <th>\n"
     "          \" \"\n"
     "          <td>\n"
     "            \"k\"\n"},
    {"the first half of a token is done, but what it has made room for does not hold",
     "k|<li><form><li><span></form>|<li>l",
     "  <body>\n"
     "    \"k\"\n"
     "    <li>\n"
     "      <form>\n"
     "        <li>\n"
     "          <span>\n"
     "      <li>\n"
     "        \"l\"\n"},
    {"a second link below a local block", "<a name=u>k|<div><a name=v>l</a></div>m",
     "  <body>\n"
     "    <a>\n"
     "      name=\"u\"\n"
     "      \"k\"\n"
     "    <div>\n"
     "      <a>\n"
     "        name=\"u\"\n"
     "      <a>\n"
     "        name=\"v\"\n"
     "        \"l\"\n"
     "    \"m\"\n"},
    {"adoption moves what was spliced", "<i><section>|<p>k</p><p>l</p></i>m",
     "  <body>\n"
     "    <i>\n"
     "    <section>\n"
     "      <i>\n"
     "        <p>\n"
     "          \"k\"\n"
     "        <p>\n"
     "          \"l\"\n"
     "      \"m\"\n"},
    {"a wrong answer after the worker went on filling its elements", "<p>|<del>k<u>l<div>m</div>n</u>o</del>q",
     "  <body>\n"
     "    <p>\n"
     "      <del>\n"
     "        \"k\"\n"
     "        <u>\n"
     "          \"l\"\n"
     "    <div>\n"
     "      <u>\n"
     "        \"m\"\n"
     "    <u>\n"
     "      \"n\"\n"
     "    \"oq\"\n"},
    {"a form ends below elements that stay open", "<form><section>|<cite>k</form>l</cite>m</section>n",
     "  <body>\n"
     "    <form>\n"
     "      <section>\n"
     "        <cite>\n"
     "          \"kl\"\n"
     "        \"m\"\n"
     "    \"n\"\n"},
    {"a form that only the pointer knows",
     "<table><form></table>|<section><form name=b>k</form></section><form name=c>l",
     "  <body>\n"
     "    <table>\n"
     "      <form>\n"
     "    <section>\n"
     "      \"k\"\n"
     "    <form>\n"
     "      name=\"c\"\n"
     "      \"l\"\n"},
    {"text between spliced cells leaves the row", "<table><tr>|<td>7</td> k <td>8</td></tr></table>",
     "  <body>\n"
     "    \" k \"\n"
     "    <table>\n"
     "      <tbody>\n"
     "        <tr>\n"
     "          <td>\n"
     "            \"7\"\n"
     "          <td>\n"
     "            \"8\"\n"},
    {"a comment after the body, elements still open", "<section>|<p>k</body><!--l-->m",
     "  <body>\n"
     "    <section>\n"
     "      <p>\n"
     "        \"km\"\n"
     "  <!-- l -->\n"},
    {"a title in svg, then CDATA", "<svg><g>|<title>k<u>l</u></title><![CDATA[<m>]]></svg>n",
     "  <body>\n"
     "    <svg svg>\n"
     "      <svg g>\n"
     "        <svg title>\n"
     "          \"k\"\n"
     "          <u>\n"
     "            \"l\"\n"
     "        \"<m>\"\n"
     "    \"n\"\n"},
    {"an option of the next chunk rewrites the button",
     "<select><button><selectedcontent></button>|<option>K<option selected>L</select>m",
     "  <body>\n"
     "    <select>\n"
     "      <button>\n"
     "        <selectedcontent>\n"
     "          \"L\"\n"
     "      <option>\n"
     "        \"K\"\n"
     "      <option>\n"
     "        selected=\"\"\n"
     "        \"L\"\n"
     "    \"m\"\n"},
    {"a form that is ignored closes no p", "<form>|<p>|<form>k",
     "  <body>\n"
     "    <form>\n"
     "      <p>\n"
     "        \"k\"\n"},
    {"an answer that held once does not hold for ever",
     "<template>|<section><form><form>k</form></form></section><section><form><form>l</section></template>m",
     "<html>\n"
     "  <head>\n"
     "    <template>\n"
     "      content\n"
     "        <section>\n"
     "          <form>\n"
     "            <form>\n"
     "              \"k\"\n"
     "        <section>\n"
     "          <form>\n"
     "            <form>\n"
     "              \"l\"\n"
     "  <body>\n"
     "    \"m\"\n"},
};

/* Writes the bytes without marks into `document`. */
static size_t unmark(const char *marked, size_t length, const char *mark, buffer *document, uint64_t *cuts) {
  size_t count = 0, size = strlen(mark);
  buffer_clear(document);
  for (size_t i = 0; i < length;) {
    if (length - i >= size && !memcmp(marked + i, mark, size)) {
      cuts[count++] = document->length;
      i += size;
    } else {
      buffer_byte(document, marked[i++]);
    }
  }
  return count;
}

static void unescape(const char *text, size_t length, buffer *to) {
  buffer_clear(to);
  for (size_t i = 0; i < length; i++) {
    if (text[i] != '\\' || i + 1 == length)
      buffer_byte(to, text[i]);
    else if (text[i + 1] == 'n')
      buffer_byte(to, '\n'), i++;
    else if (text[i + 1] == 'r')
      buffer_byte(to, '\r'), i++;
    else if (length - i >= 4 && !memcmp(text + i, "\\000", 4))
      buffer_byte(to, 0), i += 3;
    else
      buffer_byte(to, text[i]);
  }
}

static void everywhere(const char *name, const compare_case *document, const uint64_t *cuts, size_t cut_count) {
  static const size_t checkpoints[] = {1, 0};
  if (!compare_expect(&with, document, 1000)) {
    failed++;
    printf("%s: the sequential parse failed: %s\n", name, hpar_status_text(with.status));
    return;
  }
  for (size_t way = 0; way < compare_ways(); way++) {
    for (unsigned k = 0; k < 8; k++) {
      compare_how how = {.cuts = cuts,
                         .cut_count = cut_count,
                         .threads = k & 4 ? 3 : 2,
                         .executor = k & 1 ? HPAR_EXECUTOR_THREADS : HPAR_EXECUTOR_INLINE,
                         .checkpoint_bytes = checkpoints[k >> 1 & 1],
                         .max_errors = k & 4 ? 1000 : 0};
      compare_way(way, &how);
      compare_result result = compare_parallel(&with, &how);
      if (result == COMPARE_SAME) {
        passed++;
        continue;
      }
      failed++;
      printf("%s: ", name);
      compare_print(&with, &how, result);
      printf("\n");
    }
  }
}

static void own_trees(void) {
  buffer document = {0}, expected = {0};
  uint64_t cuts[8];
  for (size_t i = 0; i < sizeof trees / sizeof trees[0]; i++) {
    const tree_case *of = &trees[i];
    size_t count = unmark(of->marked, strlen(of->marked), "|", &document, cuts);
    compare_case at = {document.bytes, document.length, NULL, false, "utf-8"};
    everywhere(of->name, &at, cuts, count);

    buffer_clear(&expected);
    if (of->expected[0] != '<') buffer_text(&expected, "| <html>\n|   <head>\n");
    for (const char *line = of->expected; *line;) {
      size_t length = strcspn(line, "\n") + 1;
      buffer_text(&expected, "| ");
      buffer_add(&expected, line, length);
      line += length;
    }
    if (with.expected.length == expected.length && !memcmp(with.expected.bytes, expected.bytes, expected.length)) {
      passed++;
    } else {
      failed++;
      printf("%s: the sequential tree is wrong\n%.*s\nexpected:\n%sgot:\n%.*s\n", of->name, (int)document.length,
             document.bytes, expected.bytes, (int)with.expected.length,
             with.expected.length ? with.expected.bytes : "");
    }
  }
  buffer_free(&document);
  buffer_free(&expected);
}

static bool shared_documents(const char *path) {
  size_t length;
  char *bytes = shared_read(path, &length);
  if (!bytes) return false;
  buffer text = {0}, document = {0};
  uint64_t cuts[64];
  size_t rows = 0;
  for (char *line = bytes, *next; *line; line = next) {
    size_t size = strcspn(line, "\n");
    next = line + size + (line[size] == '\n');
    line[size] = 0;
    char *field = strchr(line, '\t'), *flag = field ? strchr(field + 1, '\t') : NULL;
    if (!flag || !strncmp(line, "id\t", 3)) continue;
    *field++ = 0;
    *flag++ = 0;
    rows++;
    unescape(field, strlen(field), &text);
    size_t count = unmark(text.bytes, text.length, MARK, &document, cuts);
    if (!count || count > 60) {
      failed++;
      printf("%s: no cut is marked\n", line);
      continue;
    }
    compare_case at = {document.bytes, document.length, NULL, !strncmp(flag, "on", 2), "utf-8"};
    everywhere(line, &at, cuts, count);
    for (size_t i = 0; count > 1 && i < count; i++) everywhere(line, &at, cuts + i, 1);

    /* one more cut, at each byte */
    for (uint64_t extra = 1; extra < document.length; extra++) {
      uint64_t more[65];
      size_t n = 0;
      bool placed = false;
      for (size_t i = 0; i < count; i++) {
        if (!placed && extra <= cuts[i]) {
          if (extra < cuts[i]) more[n++] = extra;
          placed = true;
        }
        more[n++] = cuts[i];
      }
      if (!placed) more[n++] = extra;
      compare_how how = {.cuts = more,
                         .cut_count = n,
                         .predictor = hpar_predictor_name(0),
                         .threads = 3,
                         .executor = HPAR_EXECUTOR_INLINE,
                         .checkpoint_bytes = 1};
      compare_result result = compare_parallel(&with, &how);
      if (result == COMPARE_SAME) {
        passed++;
        continue;
      }
      failed++;
      printf("%s, one cut more: ", line);
      compare_print(&with, &how, result);
      printf("\n");
    }
  }
  if (!rows) printf("%s: no documents\n", path);
  buffer_free(&text);
  buffer_free(&document);
  free(bytes);
  return rows > 0;
}

int main(int count, char **arguments) {
  char path[4096];
  bool shared = check_part(count, arguments, "shared");
  if (!compare_possible()) return CHECK_SKIPPED;
  if (shared && !shared_path(path, sizeof path, "design/adversarial-cuts.tsv")) return CHECK_SKIPPED;
  compare_watch();
  if (!compare_open(&with)) return 1;
  bool fine = true;
  if (shared)
    fine = shared_documents(path);
  else
    own_trees();
  compare_close(&with);
  printf("%lu passed, %lu failed\n", passed, failed);
  return failed || !fine;
}
