#include "programs/hpar/machine.h"

#include <hpar/hpar.h>
#include <hpar/study.h>

#include <sched.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

typedef struct machine {
  char cpu[128];
  struct utsname system;
  int cores;
  uint64_t memory;
} machine;

/* "model name  : ..." on x86; other processors name themselves elsewhere or not at all. */
static void find_cpu(char *name, size_t size) {
  static const char *const files[] = {"/proc/cpuinfo", "/proc/device-tree/model"};
  snprintf(name, size, "unknown");
  char line[256];
  for (size_t i = 0; i < 2; i++) {
    FILE *file = fopen(files[i], "r");
    if (!file) continue;
    bool found = false;
    while (!found && fgets(line, sizeof line, file)) {
      const char *colon = strchr(line, ':');
      found = i == 1 || (colon && !strncmp(line, "model name", 10));
      const char *value = i == 1 ? line : colon ? colon + 1 : line;
      value += strspn(value, " \t");
      if (found) snprintf(name, size, "%.*s", (int)strcspn(value, "\n"), value);
    }
    fclose(file);
    if (found) return;
  }
}

unsigned hp_machine_cores(void) {
  cpu_set_t set;
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  int cores = sched_getaffinity(0, sizeof set, &set) ? (int)online : CPU_COUNT(&set);
  return cores > 0 ? (unsigned)cores : 1;
}

unsigned hp_default_threads(void) {
  hpar_parser *parser = NULL;
  hpar_document *document = NULL;
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .parallel.executor = HPAR_EXECUTOR_INLINE};
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  hpar_status status = hpar_parser_create(&parser);
  if (!status) status = hpar_document_create(&document);
  if (!status) status = hpar_study_parse(parser, &options, "", 0, document, &stats);
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  return status ? 1 : stats.threads;
}

static void look(machine *machine) {
  memset(machine, 0, sizeof *machine);
  find_cpu(machine->cpu, sizeof machine->cpu);
  uname(&machine->system);
  machine->cores = (int)hp_machine_cores();
  long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  if (pages > 0 && size > 0) machine->memory = (uint64_t)pages * (uint64_t)size;
}

void hp_machine_json(hp_json *json) {
  machine machine;
  look(&machine);
  hp_json_open(json, '{');
  hp_json_text_member(json, "cpu", machine.cpu);
  hp_json_key(json, "cores");
  hp_json_number(json, (uint64_t)machine.cores);
  hp_json_key(json, "memory_bytes");
  hp_json_number(json, machine.memory);
  hp_json_text_member(json, "architecture", machine.system.machine);
  hp_json_text_member(json, "system", machine.system.sysname);
  hp_json_text_member(json, "kernel", machine.system.release);
  hp_json_text_member(json, "compiler", __VERSION__);
  hp_json_close(json, '}');
}

void hp_machine_line(FILE *file) {
  machine machine;
  look(&machine);
  fprintf(file, "hpar %s, %s, %d %s, %s %s\n", hpar_version(), machine.cpu, machine.cores,
          machine.cores == 1 ? "core" : "cores", machine.system.sysname, machine.system.release);
}
