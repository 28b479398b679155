/* many: parses many documents on threads of the program's own. */

#include <hpar/hpar.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, DOCUMENTS = 6 };

typedef struct job {
  pthread_t thread;
  hpar_task_callback task;
  void *argument;
  unsigned index;
} job;

static void *run_job(void *context) {
  job *self = context;
  self->task(self->argument, self->index);
  return NULL;
}

/* The executor: an hpar_run_callback. A program with a thread pool passes the tasks to its pool. */
static void run_tasks(unsigned count, hpar_task_callback task, void *argument, void *context) {
  job jobs[THREADS];
  unsigned started = 0;
  (void)context;
  for (unsigned i = 1; i < count && i < THREADS; i++) {
    jobs[started] = (job){.task = task, .argument = argument, .index = i};
    if (pthread_create(&jobs[started].thread, NULL, run_job, &jobs[started]) == 0) started++;
  }
  if (count > 0) task(argument, 0);
  for (unsigned i = 0; i < started; i++) pthread_join(jobs[i].thread, NULL);
}

/* Stores a result. The library calls it on the thread that parsed the input. */
static void count_paragraphs(size_t index, hpar_input *input, const hpar_document *document, const hpar_parser *parser,
                             const hpar_stats *stats, unsigned thread, void *context) {
  unsigned *paragraphs = context;
  (void)parser, (void)stats, (void)thread;
  if (input->status) return;
  hpar_node root = hpar_document_root(document);
  for (hpar_node node = root; node; node = hpar_node_walk(document, root, node)) {
    hpar_string name = hpar_node_name(document, node);
    paragraphs[index] += name.length == 1 && name.bytes[0] == 'p';
  }
}

int main(void) {
  static const char page[] = "<p>1<p>2<p>3<p>4<p>5<p>6";
  hpar_input inputs[DOCUMENTS] = {0};
  unsigned paragraphs[DOCUMENTS] = {0};
  for (unsigned i = 0; i < DOCUMENTS; i++)
    inputs[i] = (hpar_input){HPAR_INPUT_INIT, .bytes = page, .length = (i + 1) * 4};
  hpar_options options = {HPAR_OPTIONS_INIT, .threads = THREADS};
  options.parallel.executor = HPAR_EXECUTOR_CALLER;
  options.parallel.run = run_tasks;
  hpar_parser *parser = NULL;
  hpar_status status = hpar_parser_create(&parser);
  if (!status) status = hpar_parse_many(parser, &options, inputs, DOCUMENTS, NULL, count_paragraphs, paragraphs);
  if (status) fprintf(stderr, "%s\n", hpar_parser_error(parser)->text);
  for (unsigned i = 0; i < DOCUMENTS && !status; i++)
    printf("document %u: %s, %u paragraphs\n", i, hpar_status_text(inputs[i].status), paragraphs[i]);
  hpar_parser_destroy(parser);
  return status != HPAR_OK;
}
