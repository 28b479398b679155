/* Rewriting of many pages at once, each by one rewriter of one thread. */

#include "base/call.h"
#include "base/memory.h"
#include "rewrite/state.h"
#include "runtime/units.h"

#include <hpar/parse.h>
#include <stdatomic.h>
#include <stddef.h>

typedef struct many_job {
  const hpar_rules *rules;
  hpar_rewrite_options options;
  hp_sized_array pages;
  size_t count;
  const hpar_rules **held;   /* by page, until the end: a callback may overwrite the page */
  hpar_rewriter **rewriters; /* by thread */
  hpar_page_callback callback;
  void *context;
  hp_unit_state *states; /* by page; NULL without a callback */
} many_job;

static hpar_rewrite_page page_at(const many_job *j, size_t index) {
  hpar_rewrite_page page;
  hp_read_sized_at(&page, sizeof page, j->pages, index);
  if (!page.rules) page.rules = j->rules;
  return page;
}

/* An older caller has a part of the statistics, or nothing of them. */
static void write_result(const many_job *j, size_t index, const hpar_rewrite_page *page) {
  hpar_rewrite_page *given = hp_sized_at(j->pages, index);
  const size_t size = j->pages.distance, known = sizeof page->stats, at = offsetof(hpar_rewrite_page, stats);
  if (size >= offsetof(hpar_rewrite_page, status) + sizeof given->status) given->status = page->status;
  if (size < at + sizeof given->stats.size) return;
  given->stats.size = size - at < known ? size - at : known;
  hp_write_sized(&given->stats, &page->stats, known);
}

static void run_page(void *context, size_t index, unsigned thread, hp_unit_steps *steps) {
  const many_job *j = context;
  hpar_rewrite_page page = page_at(j, index);
  (void)steps;
  hpar_rewrite_options options = j->options;
  options.mode = HPAR_MODE_SEQUENTIAL;
  options.error = NULL; /* of the whole call: several threads are here */
  page.stats = (hpar_rewrite_stats){HPAR_REWRITE_STATS_INIT, .failed_at = UINT64_MAX};
  page.status = hpar_rewrite(j->rewriters[thread], j->held[index], &options, page.bytes, page.length, &page.stats,
                             page.write, page.context);
  write_result(j, index, &page);
}

/* Reports a page in order. A thread that finds another one here leaves its page to that one. */
static hp_admission report_page(void *context, size_t index, size_t first) {
  const many_job *j = context;
  (void)first;
  j->callback(index, hp_sized_at(j->pages, index), j->context);
  return HP_ADMIT_NOW;
}

/* Makes a rewriter for each thread. Returns the number of threads that have one. */
static unsigned make_rewriters(many_job *j, unsigned threads) {
  unsigned made = 0;
  j->rewriters = hp_allocate_zeroed(threads * sizeof *j->rewriters);
  while (j->rewriters && made < threads && !hpar_rewriter_create(&j->rewriters[made])) made++;
  return made;
}

/* Keeps all rules alive until the end. A callback may destroy those of later pages. */
static void hold_rules(const many_job *j) {
  for (size_t i = 0; i < j->count; i++) {
    j->held[i] = page_at(j, i).rules;
    hp_begin_use(&j->held[i]->use);
  }
}

/* Checks the pages, and sets `error->item` to the first wrong one. */
static hpar_status check_pages(const many_job *j, hpar_error *error) {
  for (size_t i = 0; i < j->count; i++) {
    const hpar_rewrite_page page = page_at(j, i);
    const char *problem = !page.bytes && page.length ? "bytes is NULL"
                          : !page.rules              ? "rules is NULL, and the call has no rules"
                                                     : NULL;
    if (!problem) continue;
    hp_explain(error, HPAR_ERROR_ARGUMENT, "hpar_rewrite_page.%s", problem);
    if (error) error->item = i;
    return HPAR_ERROR_ARGUMENT;
  }
  return HPAR_OK;
}

static hpar_status rewrite_all(many_job *j) {
  if (!j->count) return HPAR_OK;
  const hp_executor executor = hp_executor_of_call(j->options.run, j->options.run_context, j->options.threads);
  hp_crew crew = {0};
  unsigned useful = j->count < executor.threads ? (unsigned)j->count : executor.threads;
  unsigned prepared = hp_crew_prepare(&crew, &executor, useful), threads = make_rewriters(j, prepared ? prepared : 1);
  if (j->callback) j->states = hp_allocate_zeroed(j->count * sizeof *j->states);
  j->held = hp_allocate(j->count * sizeof *j->held);
  bool runs = threads && j->held && (!j->callback || j->states);
  if (runs) {
    hold_rules(j);
    static const hp_unit_client silent = {.run = run_page}, reporting = {.run = run_page, .admit = report_page};
    const hp_unit_plan plan = {.client = j->callback ? &reporting : &silent,
                               .job = j,
                               .count = j->count,
                               .states = j->states,
                               .consumers = threads};
    hp_unit_queue queue;
    hp_unit_queue_run(&queue, &plan, &crew, &executor, threads, false);
    for (size_t i = 0; i < j->count; i++) hp_rules_end_use(j->held[i]);
  }
  hp_crew_close(&crew);
  for (unsigned i = 0; i < threads; i++) hpar_rewriter_destroy(j->rewriters[i]);
  hp_free(j->rewriters);
  hp_free((void *)j->states);
  hp_free(j->held);
  return runs ? HPAR_OK : HPAR_ERROR_MEMORY;
}

hpar_status hpar_rewrite_many(const hpar_rules *rules, const hpar_rewrite_options *options, hpar_rewrite_page *pages,
                              size_t count, hpar_page_callback callback, void *context) {
  many_job j = {.rules = rules, .count = count, .callback = callback, .context = context};
  hpar_error *const error = hp_rewrite_error_of(options);
  hpar_status status = hp_read_rewrite_options(&j.options, options, error);
  if (status == HPAR_OK && j.options.suspends)
    status = hp_explain(error, HPAR_ERROR_ARGUMENT, "hpar_rewrite_options.suspends is for one input");
  if (status == HPAR_OK && !pages && count)
    status = hp_explain(error, HPAR_ERROR_ARGUMENT, "pages is NULL and count is %zu", count);
  if (status == HPAR_OK && rules && !rules->is_compiled)
    status = hp_explain(error, HPAR_ERROR_ARGUMENT, "the rules are not compiled");
  if (status == HPAR_OK)
    status = hp_check_sized_array(pages, count, sizeof *pages, "hpar_rewrite_page", "HPAR_REWRITE_PAGE_INIT", error);
  if (status == HPAR_OK) j.pages = hp_sized_array_of(pages, count);
  if (status == HPAR_OK) status = check_pages(&j, error);
  if (status == HPAR_OK) status = rewrite_all(&j);
  return hp_explain_status(error, status);
}
