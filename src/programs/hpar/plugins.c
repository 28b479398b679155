#include "programs/hpar/plugins.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

typedef struct plugin_file {
  const char *path;
  const hpar_plugin *plugin;
} plugin_file;

static plugin_file files[MOST];
static size_t file_count;

static const char *const kinds[HP_PLUGIN_KINDS] = {"strategy", "predictor", "mode predictor", "cut policy", "driver"};
static const char *(*const library_names[HP_PLUGIN_KINDS])(size_t) = {
    hpar_strategy_name, hpar_predictor_name, hpar_mode_predictor_name, hpar_cut_policy_name, hpar_driver_name};

static hp_plugin_part predictor_at(const plugin_file *file, const hpar_predictor *const *list, size_t index) {
  const hpar_predictor *p = list ? list[index] : NULL;
  if (!p) return (hp_plugin_part){0};
  bool has_summary = p->size >= offsetof(hpar_predictor, summary) + sizeof p->summary;
  return (hp_plugin_part){p->name, has_summary ? p->summary : NULL, file->path, p};
}

/* Returns a part of one file; past the last, one without `part`. */
static hp_plugin_part part_of(const plugin_file *file, hp_plugin_kind kind, size_t index) {
  const hpar_plugin *p = file->plugin;
  const hpar_strategy *strategy = p->strategies ? p->strategies[kind == HP_PLUGIN_STRATEGY ? index : 0] : NULL;
  const hpar_cut_policy *policy = p->cut_policies ? p->cut_policies[kind == HP_PLUGIN_CUT_POLICY ? index : 0] : NULL;
  const hpar_driver *driver = p->drivers ? p->drivers[kind == HP_PLUGIN_DRIVER ? index : 0] : NULL;
  switch (kind) {
    case HP_PLUGIN_PREDICTOR: return predictor_at(file, p->predictors, index);
    case HP_PLUGIN_MODE_PREDICTOR: return predictor_at(file, p->mode_predictors, index);
    case HP_PLUGIN_STRATEGY:
      return strategy ? (hp_plugin_part){strategy->name, strategy->summary, file->path, strategy} : (hp_plugin_part){0};
    case HP_PLUGIN_DRIVER:
      return driver ? (hp_plugin_part){driver->name, driver->summary, file->path, driver} : (hp_plugin_part){0};
    default: return policy ? (hp_plugin_part){policy->name, policy->summary, file->path, policy} : (hp_plugin_part){0};
  }
}

hp_plugin_part hp_plugin_part_at(hp_plugin_kind kind, size_t index) {
  for (size_t i = 0; i < file_count; i++)
    for (size_t k = 0; part_of(&files[i], kind, k).part; k++)
      if (!index--) return part_of(&files[i], kind, k);
  return (hp_plugin_part){0};
}

static bool is_taken(hp_plugin_kind kind, const char *name) {
  static const char *const modes[] = {"auto", "sequential", "parallel"};
  const char *own;
  hp_plugin_part part;
  for (size_t i = 0; (own = library_names[kind](i)); i++)
    if (!strcmp(own, name)) return true;
  for (size_t i = 0; (part = hp_plugin_part_at(kind, i)).part; i++)
    if (!strcmp(part.name, name)) return true;
  for (size_t i = 0; kind == HP_PLUGIN_DRIVER && i < sizeof modes / sizeof *modes; i++)
    if (!strcmp(modes[i], name)) return true;
  return !strcmp(name, "help");
}

/* Returns whether an earlier part of the file has the name of part `index`. */
static bool is_repeated(const plugin_file *file, hp_plugin_kind kind, size_t index) {
  const char *name = part_of(file, kind, index).name;
  while (index--)
    if (!strcmp(part_of(file, kind, index).name, name)) return true;
  return false;
}

/* Checks the names of all parts. Returns false after a message. */
static bool has_good_names(const plugin_file *file) {
  for (unsigned kind = 0; kind < HP_PLUGIN_KINDS; kind++) {
    hp_plugin_part part;
    for (size_t i = 0; (part = part_of(file, (hp_plugin_kind)kind, i)).part; i++) {
      bool has_name = part.name && *part.name;
      if (has_name && !is_taken((hp_plugin_kind)kind, part.name) && !is_repeated(file, (hp_plugin_kind)kind, i))
        continue;
      if (has_name)
        hp_complain("--plugin: %s: there is another %s '%s'", file->path, kinds[kind], part.name);
      else
        hp_complain("--plugin: %s: its %s %zu has no name", file->path, kinds[kind], i);
      return false;
    }
  }
  return true;
}

/* Opens the file. A name without a slash is one in the current folder, and not of a library. */
static void *open_file(const char *path) {
  if (strchr(path, '/')) return dlopen(path, RTLD_NOW | RTLD_LOCAL);
  char *local = malloc(strlen(path) + sizeof "./");
  if (!local) return NULL;
  strcat(strcpy(local, "./"), path); // NOLINT: it has room for both
  void *handle = dlopen(local, RTLD_NOW | RTLD_LOCAL);
  free(local);
  return handle;
}

/* Returns false after a message. */
static bool load_plugin(const char *path) {
  for (size_t i = 0; i < file_count; i++)
    if (!strcmp(files[i].path, path)) return true;
  if (file_count == MOST) {
    hp_complain("--plugin: %s: at most %d files", path, MOST);
    return false;
  }
  void *handle = open_file(path);
  if (!handle) {
    const char *problem = dlerror();
    hp_complain("--plugin: %s", problem ? problem : "out of memory");
    return false;
  }
  hpar_plugin_callback open;
  void *symbol = dlsym(handle, HPAR_PLUGIN_FUNCTION);
  memcpy(&open, &symbol, sizeof open);
  plugin_file file = {.path = path, .plugin = symbol ? open() : NULL};
  if (!symbol)
    hp_complain("--plugin: %s: it has no function " HPAR_PLUGIN_FUNCTION " (see <hpar/study.h>)", path);
  else if (!file.plugin)
    hp_complain("--plugin: %s: its function " HPAR_PLUGIN_FUNCTION " returns NULL", path);
  else if (file.plugin->version != HPAR_PLUGIN_VERSION)
    hp_complain("--plugin: %s: it has version %u, and hpar takes version %d: compile it again", path,
                file.plugin->version, HPAR_PLUGIN_VERSION);
  if (!file.plugin || file.plugin->version != HPAR_PLUGIN_VERSION || !has_good_names(&file)) return false;
  files[file_count++] = file;
  return true;
}

int hp_load_plugins(const hp_arguments *arguments) {
  static const char option[] = "--plugin";
  bool is_loaded = true;
  for (int i = 0; i < arguments->count && is_loaded && strcmp(arguments->items[i], "--") != 0; i++) {
    const char *item = arguments->items[i];
    if (!strncmp(item, option, sizeof option - 1) && item[sizeof option - 1] == '=')
      is_loaded = load_plugin(item + sizeof option);
    else if (!strcmp(item, option) && i + 1 < arguments->count)
      is_loaded = load_plugin(arguments->items[++i]);
  }
  return is_loaded ? -1 : HP_EXIT_FAILED;
}
