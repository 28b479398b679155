#include "programs/hpar/crawl_progress.h"

#include <time.h>
#include <unistd.h>

enum { SECOND = 1000000000 };

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
}

uint64_t hp_crawl_bytes_of(const hp_unit *unit) {
  uint64_t end = unit->last && (unit->last < unit->size || !unit->size) ? unit->last : unit->size;
  return end - unit->first;
}

void hp_crawl_progress_open(hp_crawl_state *s, const hp_crawl *crawl, size_t units) {
  *s = (hp_crawl_state){.kind = crawl->progress, .units = units, .begin = now()};
}

bool hp_crawl_progress_due(const hp_crawl_state *s) {
  bool shown = s->kind == HP_PROGRESS_JSON || (s->kind == HP_PROGRESS_AUTO && isatty(STDERR_FILENO));
  return shown && now() - s->shown >= SECOND;
}

void hp_crawl_progress_show(hp_crawl_state *s, uint64_t records, uint64_t in, uint64_t out) {
  if (s->kind == HP_PROGRESS_NONE) return;
  s->shown = now();
  records += s->records;
  in += s->bytes_in;
  out += s->bytes_out;
  double seconds = (double)(s->shown - s->begin + 1) / SECOND, left = 0;
  if (in && s->bytes_known > in) left = seconds * (double)(s->bytes_known - in) / (double)in;
  if (s->kind == HP_PROGRESS_JSON) {
    fprintf(stderr,
            "{\"units\":%zu,\"done\":%zu,\"reused\":%zu,\"failed\":%zu,\"records\":%llu,\"records_per_s\":%.0f,"
            "\"mb_in_per_s\":%.1f,\"mb_out_per_s\":%.1f,\"seconds\":%.1f,\"seconds_left\":%.0f}\n",
            s->units, s->done, s->reused, s->failed, (unsigned long long)records, (double)records / seconds,
            (double)in / seconds / 1e6, (double)out / seconds / 1e6, seconds, left);
    fflush(stderr);
    return;
  }
  hp_show_progress("crawl: %zu of %zu units, %.0f records/s, %.1f MB/s in, %.1f MB/s out, %.0f s left, %zu failed",
                   s->done + s->reused, s->units, (double)records / seconds, (double)in / seconds / 1e6,
                   (double)out / seconds / 1e6, left, s->failed);
}
