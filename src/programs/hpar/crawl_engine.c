/* Engines that run the units on other machines. Each calls `hpar crawl run DIR UNITS`. */

#include "programs/hpar/crawl_progress.h"
#include "programs/hpar/process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Slurm's default limit (MaxArraySize) is 1001 tasks. */
enum { MAX_SLURM_TASKS = 1000 };

/* Debian's Python, which has Debian's packages. */
static const char python[] = "/usr/bin/python3";

/* Runs each unit as a task. A task that fails does not stop the others. */
static const char dask_script[] =
    "import shutil, subprocess, sys\n"
    "from distributed import Client, LocalCluster, as_completed\n"
    "program, folder, units, workers, scheduler = sys.argv[1:6]\n"
    "def run(unit):\n"
    "    command = [program, 'crawl', 'run', folder, str(unit), '--threads', '1', '--progress', 'none']\n"
    "    setpriv = shutil.which('setpriv')\n"
    "    return subprocess.run(([setpriv, '--pdeathsig', 'KILL'] if setpriv else []) + command).returncode\n"
    "def main():\n"
    "    if scheduler:\n"
    "        client = Client(scheduler)\n"
    "        if not client.scheduler_info()['workers']:\n"
    "            print('hpar: crawl: waits for workers; start some: dask-worker ' + scheduler, file=sys.stderr)\n"
    "    else:\n"
    "        cluster = LocalCluster(n_workers=int(workers), threads_per_worker=1, dashboard_address=None)\n"
    "        client = Client(cluster)\n"
    "    futures = client.map(run, range(int(units)), pure=False)\n"
    "    failed = sum(1 for future in as_completed(futures) if future.exception() or future.result())\n"
    "    client.close()\n"
    "    if not scheduler:\n"
    "        cluster.close()\n"
    "    return 1 if failed else 0\n"
    "if __name__ == '__main__':\n"
    "    sys.exit(main())\n";

static bool find_self(char *path, size_t size) {
  ssize_t length = readlink("/proc/self/exe", path, size - 1);
  if (length <= 0) return false;
  path[length] = 0;
  return true;
}

static int check_dask(const hp_crawl *c) {
  char output[16];
  char *import[] = {(char *)python, "-c", "import distributed", NULL};
  if (hp_run_program(import, output, sizeof output)) {
    hp_complain("crawl: --engine dask needs Dask: apt install python3-distributed");
    return HP_EXIT_USAGE;
  }
  if (!c->scheduler) return -1;
  char *connect[] = {(char *)python, "-c", "import distributed, sys; distributed.Client(sys.argv[1], timeout=10)",
                     (char *)c->scheduler, NULL};
  if (!hp_run_program(connect, output, sizeof output)) return -1;
  hp_complain("crawl: --scheduler %s: no scheduler answers; start one: dask-scheduler", c->scheduler);
  return HP_EXIT_FAILED;
}

static int check_slurm(void) {
  char sbatch[4096], sinfo[4096], output[16];
  if (!hp_find_program("sbatch", sbatch, sizeof sbatch) || !hp_find_program("sinfo", sinfo, sizeof sinfo)) {
    hp_complain("crawl: --engine slurm needs sbatch: apt install slurm-wlm");
    return HP_EXIT_USAGE;
  }
  char *arguments[] = {sinfo, "--noheader", NULL};
  if (!hp_run_program(arguments, output, sizeof output)) return -1;
  hp_complain("crawl: --engine slurm: no controller answers; start slurmctld, and run sinfo to test it");
  return HP_EXIT_FAILED;
}

int hp_crawl_check_engine(const hp_crawl *c) {
  if (c->scheduler && c->engine != HP_ENGINE_DASK) {
    hp_complain("crawl: --scheduler is for Dask; add --engine dask");
    return HP_EXIT_USAGE;
  }
  return c->engine == HP_ENGINE_DASK ? check_dask(c) : c->engine == HP_ENGINE_SLURM ? check_slurm() : -1;
}

/* How a text is written: its beginning, an apostrophe, what follows an opening brace, its end. */
typedef struct quoting {
  const char *begin, *apostrophe, *after_brace, *end;
} quoting;

static const quoting for_shell = {"'", "'\\''", "", "'"};
/* GNU parallel replaces {} and other words in braces, and hands the result to a second shell. For
 * that shell, {''} is {}. */
static const quoting for_parallel = {"\\''", "'\\'\\\\\\'\\''", "'\\'\\''", "'\\'"};

static void write_quoted(FILE *file, const quoting *q, const char *text) {
  fputs(q->begin, file);
  for (; *text; text++) {
    if (*text == '\'')
      fputs(q->apostrophe, file);
    else
      fprintf(file, "%c%s", *text, *text == '{' ? q->after_brace : "");
  }
  fputs(q->end, file);
}

static void print_command(const char *self, const char *command, const char *folder, const quoting *q) {
  write_quoted(stdout, q, self);
  printf(" crawl %s ", command);
  write_quoted(stdout, q, folder);
}

static int print_parallel(const hp_crawl *c, const char *self, const char *folder) {
  static const char *const progresses[] = {"auto", "json", "none"};
  print_command(self, "watch", folder, &for_shell);
  printf(" --progress %s &\nseq 0 %zu | parallel --joblog ", progresses[c->progress],
         c->unit_count ? c->unit_count - 1 : 0);
  char log[4200];
  snprintf(log, sizeof log, "%s/parallel.log", folder);
  write_quoted(stdout, &for_shell, log);
  fputs(" --retries 3 ", stdout);
  print_command(self, "run", folder, &for_parallel);
  fputs(" {} --threads 1 --progress none\nkill $! 2>/dev/null\n", stdout);
  print_command(self, "reduce", folder, &for_shell);
  fputc('\n', stdout);
  return hp_finish_output(HP_EXIT_FINE);
}

/* Each task of the array runs a range of units on one core. */
static int write_slurm_script(const hp_crawl *c, const char *self, const char *folder) {
  hp_new_file out;
  if (!hp_new_file_open(&out, folder, "slurm.sh")) return -1;
  size_t units = c->unit_count ? c->unit_count : 1, a_task = (units + MAX_SLURM_TASKS - 1) / MAX_SLURM_TASKS;
  fprintf(out.file, "#!/bin/sh\n#SBATCH --job-name=hpar-crawl\n#SBATCH --array=0-%zu\n#SBATCH --cpus-per-task=1\n",
          (units + a_task - 1) / a_task - 1);
  fprintf(out.file, "first=$((SLURM_ARRAY_TASK_ID * %zu))\n", a_task);
  fputs("exec ", out.file);
  write_quoted(out.file, &for_shell, self);
  fputs(" crawl run ", out.file);
  write_quoted(out.file, &for_shell, folder);
  fprintf(out.file, " $first-$((first + %zu)) --threads 1\n", a_task - 1);
  return hp_new_file_finish(&out) ? 0 : -1;
}

/* Writes the path of the log files, in which sbatch expands %a. */
static bool name_slurm_log(char *log, size_t size, const char *folder) {
  size_t used = 0;
  for (const char *at = folder; *at && used + 32 < size; at++) {
    log[used++] = *at;
    if (*at == '%') log[used++] = '%';
  }
  log[used] = 0;
  return snprintf(log + used, size - used, "/slurm-%%a.log") > 0 && used + 32 < size;
}

/*** progress ***/

/* The units run elsewhere, so the files of results tell what is done. */
typedef struct watch {
  const hp_crawl *crawl;
  hp_crawl_state all;
  bool *done;                /* by unit */
  uint64_t pause, last_look; /* in ns */
} watch;

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void look_for_results(watch *w) {
  for (size_t i = 0; i < w->crawl->unit_count; i++) {
    hp_unit_results results = {0};
    if (w->done[i]) continue;
    w->done[i] = !hp_unit_read(&w->crawl->units[i], w->crawl->folder, &results);
    if (w->done[i]) {
      w->all.done++;
      w->all.records += hp_tally_count(&results.tally, HP_COUNTERS, "records");
      w->all.bytes_in += hp_crawl_bytes_of(&w->crawl->units[i]);
      w->all.bytes_out += hp_tally_count(&results.tally, HP_COUNTERS, "record_bytes");
    }
    hp_unit_results_free(&results);
  }
}

/* A look at many units on a slow file system takes long: it gets a twentieth of the time. */
static void show_results(void *context) {
  watch *w = context;
  uint64_t begin = now();
  if (begin - w->last_look < w->pause || !hp_crawl_progress_due(&w->all)) return;
  look_for_results(w);
  hp_crawl_progress_show(&w->all, 0, 0, 0);
  w->last_look = now();
  w->pause = 20 * (w->last_look - begin);
}

static bool open_watch(watch *w, const hp_crawl *c) {
  *w = (watch){.crawl = c, .done = calloc(c->unit_count + 1, sizeof *w->done)};
  if (!w->done) return false;
  hp_crawl_progress_open(&w->all, c, c->unit_count);
  for (size_t i = 0; i < c->unit_count; i++) {
    w->done[i] = hp_unit_is_done(&c->units[i], c->folder);
    w->all.reused += w->done[i];
    if (!w->done[i]) w->all.bytes_known += hp_crawl_bytes_of(&c->units[i]);
  }
  return true;
}

static void close_watch(watch *w) {
  look_for_results(w);
  w->all.failed = w->all.units - w->all.done - w->all.reused;
  hp_crawl_progress_show(&w->all, 0, 0, 0);
  hp_clear_progress();
  free(w->done);
}

static int run_watched(const hp_crawl *c, char *const *arguments) {
  watch w;
  if (!open_watch(&w, c)) return hp_complain_status(NULL, HPAR_ERROR_MEMORY);
  int code = hp_run_watched(arguments, show_results, &w);
  close_watch(&w);
  return code;
}

int hp_crawl_watch(const hp_crawl *c) {
  const struct timespec tick = {0, 200000000};
  watch w;
  if (!open_watch(&w, c)) return hp_complain_status(NULL, HPAR_ERROR_MEMORY);
  while (w.all.done + w.all.reused < w.all.units) {
    nanosleep(&tick, NULL);
    show_results(&w);
    if (c->progress == HP_PROGRESS_NONE) look_for_results(&w);
  }
  close_watch(&w);
  return HP_EXIT_FINE;
}

/*** Slurm and Dask ***/

static int run_slurm(const hp_crawl *c, const char *self, const char *folder) {
  char program[4096], script[4200], log[8400];
  if (write_slurm_script(c, self, folder) || !hp_find_program("sbatch", program, sizeof program) ||
      !name_slurm_log(log, sizeof log, folder)) {
    hp_complain("%s/slurm.sh: cannot be written: %s", folder, strerror(errno));
    return HP_EXIT_FAILED;
  }
  snprintf(script, sizeof script, "%s/slurm.sh", folder);
  char *arguments[] = {program, "--wait", "--output", log, script, NULL};
  int code = run_watched(c, arguments);
  if (code) hp_complain("sbatch: ended with status %d; see %s/slurm-*.log, and add --resume", code, folder);
  return code ? HP_EXIT_FAILED : HP_EXIT_FINE;
}

static int run_dask(const hp_crawl *c, const char *self, const char *folder) {
  char units[32], workers[32];
  snprintf(units, sizeof units, "%zu", c->unit_count);
  snprintf(workers, sizeof workers, "%u", c->threads);
  /* Workers of a LocalCluster import the main module, so it is a file. Its name must not be that of
   * a module that it imports. */
  hp_new_file out;
  char script[4200];
  snprintf(script, sizeof script, "%s/run_dask.py", folder);
  if (!hp_new_file_open(&out, folder, "run_dask.py") || fputs(dask_script, out.file) < 0 || !hp_new_file_finish(&out)) {
    hp_complain("%s: cannot be written: %s", script, strerror(errno));
    return HP_EXIT_FAILED;
  }
  const char *scheduler = c->scheduler ? c->scheduler : "";
  char *arguments[] = {(char *)python, script, (char *)self, (char *)folder, units, workers, (char *)scheduler, NULL};
  int code = run_watched(c, arguments);
  if (code) hp_complain("dask: ended with status %d; add --resume to run the missing units", code);
  return code ? HP_EXIT_FAILED : HP_EXIT_FINE;
}

int hp_crawl_run_engine(const hp_crawl *c) {
  char self[4096], *folder = realpath(c->folder, NULL);
  if (!folder || !find_self(self, sizeof self)) {
    free(folder);
    return hp_complain_status(c->folder, HPAR_ERROR_IO);
  }
  int code = c->engine == HP_ENGINE_PARALLEL ? print_parallel(c, self, folder)
             : c->engine == HP_ENGINE_SLURM  ? run_slurm(c, self, folder)
                                             : run_dask(c, self, folder);
  free(folder);
  return code;
}
