/* hpar crawl export: Python copies the results of a crawl to SQLite or to Parquet files. */

#include "programs/hpar/crawl.h"
#include "programs/hpar/process.h"

#include <stdlib.h>
#include <unistd.h>

/* Debian 12 has no package that writes Parquet, so pyarrow is the user's. */
static const char script[] =
    "import csv, json, os, re, sys\n"
    "folder, format, path = sys.argv[1:4]\n"
    "if os.path.exists(path):\n"
    "    sys.exit('hpar: ' + path + ': exists; name another')\n"
    "record_columns = 'file offset inner record url date status bytes encoding encoding_source quirks tokens nodes "
    "'\\\n"
    "                 'elements attributes depth'.split()\n"
    "numbers = 'count offset inner record status bytes tokens nodes elements attributes depth rows pages'.split()\n"
    "with open(os.path.join(folder, 'summary.json'), encoding='utf-8') as file:\n"
    "    summary = json.load(file)\n"
    "fields = summary['options']['fields']\n"
    "csv.field_size_limit(sys.maxsize)\n"
    "def counts():\n"
    "    for family, value in summary.items():\n"
    "        if not isinstance(value, dict) or family == 'options':\n"
    "            continue\n"
    "        if 'buckets' in value:\n"
    "            pairs = value['buckets']\n"
    "        else:\n"
    "            pairs = value['top'] if 'top' in value else value.items()\n"
    "        for key, count in pairs:\n"
    "            yield family, str(key), count\n"
    "def objects(name):\n"
    "    with open(name, encoding='utf-8') as file:\n"
    "        for line in file:\n"
    "            record = json.loads(line)\n"
    "            yield record if isinstance(record, dict) else {'row': record}\n"
    "def scalar(column, value):\n"
    "    if value is None or isinstance(value, str) or column in numbers and isinstance(value, int):\n"
    "        return value\n"
    "    return json.dumps(value)\n"
    "def lines(paths, columns):\n"
    "    for name in paths:\n"
    "        for record in objects(name):\n"
    "            yield tuple(scalar(column, record.get(column)) for column in columns)\n"
    "def values(name):\n"
    "    escapes = {'\\\\t': '\\t', '\\\\n': '\\n', '\\\\\\\\': '\\\\'}\n"
    "    with open(os.path.join(folder, name), encoding='utf-8', newline='\\n') as file:\n"
    "        if name.endswith('csv'):\n"
    "            rows = csv.reader(file)\n"
    "        else:\n"
    "            rows = ([re.sub(r'\\\\.', lambda found: escapes[found.group()], cell) for cell in "
    "line[:-1].split('\\t')]\n"
    "                    for line in file)\n"
    "        columns = next(rows)\n"
    "        yield columns\n"
    "        for row in rows:\n"
    "            yield tuple((int(cell) if cell else None) if column in numbers else cell\n"
    "                        for column, cell in zip(columns, row or ['']))\n"
    "def tables():\n"
    "    with open(os.path.join(folder, 'plan.tsv'), encoding='utf-8', errors='surrogateescape') as plan:\n"
    "        units = [line.split('\\t')[1] for line in plan if line.startswith('unit\\t')]\n"
    "    records = [os.path.join(folder, 'records', unit + '.jsonl') for unit in units]\n"
    "    refused = 'file offset inner record reason url'.split()\n"
    "    yield 'counts', ['family', 'key', 'count'], counts()\n"
    "    yield 'quarantine', refused, lines([os.path.join(folder, 'quarantine.jsonl')], refused)\n"
    "    yield 'records', record_columns, lines(filter(os.path.exists, records), record_columns)\n"
    "    for name in ['rows.jsonl', 'rows.csv', 'rows.tsv', 'groups.csv']:\n"
    "        path = os.path.join(folder, name)\n"
    "        if name.endswith('l') and os.path.exists(path):\n"
    "            names = fields.split(',') if fields else (name for row in objects(path) for name in row)\n"
    "            columns = list(dict.fromkeys(names))\n"
    "            if columns:\n"
    "                yield 'rows', columns, lines([path], columns)\n"
    "        elif os.path.exists(path):\n"
    "            rows = values(name)\n"
    "            yield name.split('.')[0], next(rows), rows\n"
    "def write_sqlite(path):\n"
    "    import sqlite3\n"
    "    database = sqlite3.connect(path)\n"
    "    for name, columns, rows in tables():\n"
    "        kinds = ', '.join('\"%s\" %s' % (column.replace('\"', '\"\"'),\n"
    "                                         'INTEGER' if column in numbers else 'TEXT') for column in columns)\n"
    "        database.execute('CREATE TABLE %s (%s)' % (name, kinds))\n"
    "        values = ', '.join('?' * len(columns))\n"
    "        database.executemany('INSERT INTO %s VALUES (%s)' % (name, values), rows)\n"
    "    database.commit()\n"
    "    database.close()\n"
    "def write_parquet(path):\n"
    "    import itertools, pyarrow, pyarrow.parquet\n"
    "    os.mkdir(path)\n"
    "    for name, columns, rows in tables():\n"
    "        kinds = [(column, pyarrow.int64() if column in numbers else pyarrow.string()) for column in columns]\n"
    "        schema = pyarrow.schema(kinds)\n"
    "        with pyarrow.parquet.ParquetWriter(os.path.join(path, name + '.parquet'), schema) as writer:\n"
    "            while True:\n"
    "                part = list(itertools.islice(rows, 100000))\n"
    "                if not part:\n"
    "                    break\n"
    "                values = dict(zip(columns, map(list, zip(*part))))\n"
    "                writer.write_table(pyarrow.Table.from_pydict(values, schema=schema))\n"
    "try:\n"
    "    {'sqlite': write_sqlite, 'parquet': write_parquet}[format](path + '.tmp')\n"
    "    os.rename(path + '.tmp', path)\n"
    "except Exception as error:\n"
    "    sys.exit('hpar: %s: cannot be written: %s; remove %s.tmp and try again' % (path, error, path))\n";

int hp_crawl_export(const char *folder, const char *format, const char *to) {
  char path[4096], program[4096], output[16];
  snprintf(path, sizeof path, "%s/summary.json", folder);
  if (access(path, R_OK)) {
    hp_complain("%s: has no summary.json; run hpar crawl or hpar crawl reduce before", folder);
    return HP_EXIT_FAILED;
  }
  if (!hp_find_program("python3", program, sizeof program)) {
    hp_complain("crawl export: needs Python: apt install python3");
    return HP_EXIT_USAGE;
  }
  char *import[] = {program, "-c", "import pyarrow.parquet", NULL};
  if (*format == 'p' && hp_run_program(import, output, sizeof output)) {
    hp_complain("crawl export: --parquet needs pyarrow for %s: pip install pyarrow, or name --sqlite FILE", program);
    return HP_EXIT_USAGE;
  }
  char *arguments[] = {program, "-c", (char *)script, (char *)folder, (char *)format, (char *)to, NULL};
  return hp_run_program(arguments, NULL, 0) ? HP_EXIT_FAILED : HP_EXIT_FINE;
}
