/* Measures the way from the caller's bytes to the text that the tokenizer reads: finding the
 * encoding, and validating or decoding. Also measures the sequential parser that is fed in pieces,
 * for comparison with parse/kept. */

#include "text/input.h"
#include "programs/bench/suite.h"

enum { PIECE = 16 << 10 };

static void input_open(hp_bench_run *run, const hp_bench *self) {
  const hp_subject *subject = self->subject;
  size_t bytes = hp_subject_bytes(subject);
  hpar_status status = bytes ? HPAR_OK : HPAR_ERROR_IO;
  hp_buffer buffer = {0};
  while (!status && hp_bench_next(run)) {
    for (size_t i = 0; i < subject->count && !status; i++) {
      const hp_page *page = hp_subject_page(subject, i);
      size_t head = page->length < HP_SNIFF_BYTES ? page->length : HP_SNIFF_BYTES;
      hp_sniffed sniffed = hp_sniff(page->bytes, head, NULL, true);
      hp_input input;
      status =
          hp_input_decode_sniffed(&input, page->bytes, page->length, &sniffed, &(hp_slice_executor){.buffer = &buffer});
      if (!status) hp_input_close(&input);
      hp_buffer_clear(&buffer);
    }
  }
  hp_buffer_close(&buffer);
  if (status) {
    hp_bench_fail(run, hpar_status_text(status));
  } else {
    hp_bench_bytes(run, bytes);
  }
}

static hpar_status feed_pieces(hpar_parser *parser, const hp_page *page) {
  hpar_status status = HPAR_OK;
  for (size_t at = 0; at < page->length && !status; at += PIECE) {
    status = hpar_parser_feed(parser, page->bytes + at, page->length - at < PIECE ? page->length - at : PIECE);
  }
  return status;
}

static void parse_fed(hp_bench_run *run, const hp_bench *self) {
  static const hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL};
  const hp_subject *subject = self->subject;
  hp_bench_bed bed;
  if (!hp_bench_open_bed(&bed, run, subject, &options)) return;
  hpar_status status = HPAR_OK;
  while (!status && hp_bench_next(run)) {
    for (size_t i = 0; i < subject->count && !status; i++) {
      status = hpar_parser_begin(bed.parser, &options, bed.document);
      if (!status) status = feed_pieces(bed.parser, hp_subject_page(subject, i));
      if (!status) status = hpar_parser_finish(bed.parser, NULL);
    }
  }
  if (status) hp_bench_fail(run, hpar_status_text(status));
  hp_bench_close_bed(&bed);
}

void hp_bench_add_input(void) {
  hp_bench_add_subjects("input/open", HP_SETS | HP_SINGLE_PAGES, &(hp_bench){.function = input_open});
  hp_bench_add_subjects("parse/fed", HP_SETS | HP_SINGLE_PAGES, &(hp_bench){.function = parse_fed});
}
