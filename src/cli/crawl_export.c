/* hpar crawl export: the results of a crawl as an SQLite database, by Python's sqlite3. */

#include "cli/crawl.h"
#include "cli/process.h"

#include <stdlib.h>
#include <unistd.h>

/* Parquet is for systems with pyarrow; Debian 12 has no package that writes it. */
static const char script[] =
    "import glob, json, os, sqlite3, sys\n"
    "folder, path = sys.argv[1:3]\n"
    "summary = json.load(open(os.path.join(folder, 'summary.json'), encoding='utf-8'))\n"
    "if os.path.exists(path):\n"
    "    sys.exit('hpar: ' + path + ': exists; name another file')\n"
    "database = sqlite3.connect(path + '.tmp')\n"
    "execute = database.execute\n"
    "execute('CREATE TABLE counts (family TEXT, key TEXT, count INTEGER)')\n"
    "execute('CREATE TABLE quarantine (file TEXT, offset INTEGER, inner INTEGER, record INTEGER, reason TEXT, url "
    "TEXT)')\n"
    "columns = 'file offset inner record url date status bytes encoding encoding_source quirks tokens nodes elements "
    "'\\\n"
    "          'attributes depth'.split()\n"
    "execute('CREATE TABLE records (%s)' % ', '.join(columns))\n"
    "def rows():\n"
    "    for family, value in summary.items():\n"
    "        if not isinstance(value, dict) or family == 'options':\n"
    "            continue\n"
    "        if 'buckets' in value:\n"
    "            pairs = value['buckets']\n"
    "        else:\n"
    "            pairs = value['top'] if 'top' in value else value.items()\n"
    "        for key, count in pairs:\n"
    "            yield family, str(key), count\n"
    "def lines(paths, names):\n"
    "    for name in paths:\n"
    "        with open(name, encoding='utf-8') as file:\n"
    "            for line in file:\n"
    "                record = json.loads(line)\n"
    "                yield tuple(record[column] for column in names)\n"
    "database.executemany('INSERT INTO counts VALUES (?, ?, ?)', rows())\n"
    "database.executemany('INSERT INTO quarantine VALUES (?, ?, ?, ?, ?, ?)',\n"
    "                     lines([os.path.join(folder, 'quarantine.jsonl')],\n"
    "                           ['file', 'offset', 'inner', 'record', 'reason', 'url']))\n"
    "units = [line.split('\\t')[1] for line in open(os.path.join(folder, 'plan.tsv'), encoding='utf-8',\n"
    "                                               errors='surrogateescape') if line.startswith('unit\\t')]\n"
    "paths = [os.path.join(folder, 'records', unit + '.jsonl') for unit in units]\n"
    "database.executemany('INSERT INTO records VALUES (%s)' % ', '.join('?' * len(columns)),\n"
    "                     lines(filter(os.path.exists, paths), columns))\n"
    "database.commit()\n"
    "database.close()\n"
    "os.rename(path + '.tmp', path)\n";

int hp_crawl_export(const char *folder, const char *database) {
  char path[4096], program[4096];
  snprintf(path, sizeof path, "%s/summary.json", folder);
  if (access(path, R_OK)) {
    hp_complain("%s: has no summary.json; run hpar crawl or hpar crawl reduce before", folder);
    return HP_EXIT_FAILED;
  }
  if (!hp_find_program("python3", program, sizeof program)) {
    hp_complain("crawl export: needs Python: apt install python3");
    return HP_EXIT_USAGE;
  }
  char *arguments[] = {program, "-c", (char *)script, (char *)folder, (char *)database, NULL};
  return hp_run_program(arguments, NULL, 0) ? HP_EXIT_FAILED : HP_EXIT_FINE;
}
