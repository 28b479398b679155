#ifndef HP_PROGRAMS_HPAR_CRAWL_H
#define HP_PROGRAMS_HPAR_CRAWL_H

/* hpar crawl: the plan of a crawl, the processes that run its units, and the summary. */

#include "programs/crawl/unit.h"
#include "programs/hpar/cli.h"

typedef enum hp_crawl_engine { HP_ENGINE_THREADS, HP_ENGINE_DASK, HP_ENGINE_SLURM, HP_ENGINE_PARALLEL } hp_crawl_engine;
typedef enum hp_crawl_progress { HP_PROGRESS_AUTO, HP_PROGRESS_JSON, HP_PROGRESS_NONE } hp_crawl_progress;

typedef struct hp_crawl {
  const char *folder; /* of the results */
  hp_map_options map;
  char **selectors;                   /* the array of map.selectors */
  const char *base;                   /* before the relative paths of lists; NULL: none */
  const char *urls, *mime, *language; /* what lines of an index must have; NULL: anything */
  uint64_t unit_size;                 /* 0: a unit is a file */
  hp_unit *units;                     /* sorted by path and part */
  size_t unit_count, unit_capacity;
  hp_crawl_engine engine;
  hp_crawl_progress progress;
  unsigned threads;
  const char *scheduler; /* of Dask; NULL: this machine */
  bool resume;
  int lock; /* the file DIR/lock, or -1 */
} hp_crawl;

/* Adds the files of an operand. Returns an exit code after a message, or -1. */
int hp_crawl_add_input(hp_crawl *crawl, const char *operand);
/* Adds the inputs of a list. Returns the same. */
int hp_crawl_add_list(hp_crawl *crawl, const char *path);
/* Checks that the program is there which reads a file of another machine. Returns the same. */
int hp_crawl_check_remote(const char *path);
/* Returns the path of a line of a list, which the caller frees, or NULL. */
char *hp_crawl_join(const hp_crawl *crawl, const char *line);
/* Adds a part of a file: the members `format`, `first` and `last` of the unit. Returns the same as
 * hp_crawl_add_input. */
int hp_crawl_add_part(hp_crawl *crawl, const char *path, hp_unit *unit);
/* Adds the record of a line of an index, if it passes the filters. */
bool hp_crawl_is_index_line(const char *line);
int hp_crawl_add_index_line(hp_crawl *crawl, const char *line);
/* What a crawl does with its folder. */
typedef enum hp_crawl_lock {
  HP_LOCK_OWN,  /* writes the plan and removes temporary files: no other process may work there */
  HP_LOCK_SHARE /* runs units */
} hp_crawl_lock;
/* Locks the folder. The processes that this one forks keep the lock when this one is killed. Waits
 * for a short time, because the processes of a crawl that was killed need time to end. Returns an
 * exit code after a message, or -1. */
int hp_crawl_lock_folder(hp_crawl *crawl, hp_crawl_lock lock);
/* Sorts, joins and names the units, and removes those that occur twice. Returns false if no memory
 * is left. */
bool hp_crawl_name_units(hp_crawl *crawl);
/* Creates the folders and writes the plan. Returns an exit code after a message, or -1. */
int hp_crawl_write_plan(hp_crawl *crawl);
/* Reads the plan of a folder. Returns an exit code after a message, or -1. */
int hp_crawl_read_plan(hp_crawl *crawl, const char *folder);
void hp_crawl_free(hp_crawl *crawl);

/* Runs the units from `first` to before `last` that have no results, in child processes. Returns an
 * exit code. */
int hp_crawl_drive(const hp_crawl *crawl, size_t first, size_t last);

/* Returns what the user can do after a file of the results could not be written: part of a
 * sentence. */
const char *hp_crawl_remedy(int error);

/* Adds the results of all units and writes summary.json, summary.md and quarantine.jsonl. Returns
 * an exit code: HP_EXIT_FAILED if a unit has no results. */
int hp_crawl_reduce(const hp_crawl *crawl);

/* Returns an exit code after a message if the engine is missing or does not answer, or -1. */
int hp_crawl_check_engine(const hp_crawl *crawl);
/* Runs all units by the engine, and waits. Returns an exit code. */
int hp_crawl_run_engine(const hp_crawl *crawl);

/* Shows the progress of other processes until all units have results. Returns an exit code. */
int hp_crawl_watch(const hp_crawl *crawl);

/* Copies the results of a folder to a database ("sqlite") or to a folder of files ("parquet").
 * Returns an exit code. */
int hp_crawl_export(const char *folder, const char *format, const char *to);

#endif
