/* hpar crawl export: Python copies the results of a crawl to SQLite or to Parquet files. */

#include "programs/hpar/crawl.h"
#include "programs/hpar/process.h"

#include <stdlib.h>
#include <unistd.h>

/* Debian 12 has no package that writes Parquet, so pyarrow is the user's. */
static const char script[] =
    "import contextlib, csv, json, os, re, shutil, sys\n"
    "folder, format, path = sys.argv[1:4]\n"
    "temporary = path + '.tmp'\n"
    "for name in path, temporary:\n"
    "    if os.path.exists(name):\n"
    "        sys.exit('hpar: ' + name + ': exists; name another, or remove it')\n"
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
    "def whole(text):\n" /* U+FFFD in place of lone surrogates, which JSON may have */
    "    return text if text.isascii() else text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace')\n"
    "def scalar(column, value):\n"
    "    if isinstance(value, str):\n"
    "        return whole(value)\n"
    "    if value is None or column in numbers and isinstance(value, int) and abs(value) < 1 << 63:\n"
    "        return value\n"
    "    return json.dumps(value)\n"
    "def named(columns):\n" /* SQL does not tell names apart by their case */
    "    taken = set()\n"
    "    for column in columns:\n"
    "        plain = name = whole(column).replace('\\0', '\\ufffd')\n"
    "        while name.lower() in taken:\n"
    "            name = '%s_%d' % (plain, int(name[len(plain) + 1:] or 1) + 1)\n"
    "        taken.add(name.lower())\n"
    "        yield name, column in numbers\n"
    "def lines(paths, columns):\n"
    "    for name in paths:\n"
    "        for record in objects(name):\n"
    "            yield tuple(scalar(column, record.get(column)) for column in columns)\n"
    "def values(name):\n"
    "    escapes = {'\\\\t': '\\t', '\\\\n': '\\n', '\\\\r': '\\r', '\\\\\\\\': '\\\\'}\n"
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
    "    with contextlib.closing(sqlite3.connect(path)) as database:\n"
    "        for name, columns, rows in tables():\n"
    "            kinds = ', '.join('\"%s\" %s' % (column.replace('\"', '\"\"'), 'INTEGER' if number else 'TEXT')\n"
    "                              for column, number in named(columns))\n"
    "            database.execute('CREATE TABLE %s (%s)' % (name, kinds))\n"
    "            values = ', '.join('?' * len(columns))\n"
    "            database.executemany('INSERT INTO %s VALUES (%s)' % (name, values), rows)\n"
    "        database.commit()\n"
    "def write_parquet(path):\n"
    "    import itertools, pyarrow, pyarrow.parquet\n"
    "    os.mkdir(path)\n"
    "    for name, columns, rows in tables():\n"
    "        kinds = [(column, pyarrow.int64() if number else pyarrow.string()) for column, number in named(columns)]\n"
    "        schema = pyarrow.schema(kinds)\n"
    "        with pyarrow.parquet.ParquetWriter(os.path.join(path, name + '.parquet'), schema) as writer:\n"
    "            while True:\n"
    "                part = list(itertools.islice(rows, 100000))\n"
    "                if not part:\n"
    "                    break\n"
    "                values = dict(zip((column for column, _ in kinds), map(list, zip(*part))))\n"
    "                writer.write_table(pyarrow.Table.from_pydict(values, schema=schema))\n"
    "try:\n"
    "    {'sqlite': write_sqlite, 'parquet': write_parquet}[format](temporary)\n"
    "    os.rename(temporary, path)\n"
    "except Exception as error:\n"
    "    sys.exit('hpar: %s: cannot be written: %s' % (path, error))\n"
    "finally:\n"
    "    if os.path.isdir(temporary):\n"
    "        shutil.rmtree(temporary)\n"
    "    elif os.path.exists(temporary):\n"
    "        os.remove(temporary)\n";

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
