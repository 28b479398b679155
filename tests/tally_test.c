/* The counts of a crawl: sums, the error bound of open sets of keys, histograms, files of units,
 * and the hash that names them. */

#include "check.h"

#include "base/memory.h"
#include "programs/crawl/sha256.h"
#include "programs/crawl/unit.h"
#include "support/random.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void check_digest(const char *text, size_t repeat, const char *expected) {
  hp_sha256 sha;
  char digits[65];
  hp_sha256_open(&sha);
  for (size_t i = 0; i < repeat; i++) hp_sha256_add(&sha, text, strlen(text));
  hp_sha256_finish(&sha, digits);
  CHECK(!strcmp(digits, expected));
}

/* The examples of FIPS 180-4. */
static void test_sha256(void) {
  check_digest("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  check_digest("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  check_digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
               "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  check_digest("a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void test_buckets(void) {
  uint64_t last = 0;
  for (uint64_t value = 0; value < 100000; value++) {
    uint64_t bucket = hp_histogram_bucket(value);
    CHECK(bucket <= value && bucket >= last && value - bucket <= value / 16);
    CHECK(hp_histogram_bucket(bucket) == bucket);
    last = bucket;
  }
  CHECK(hp_histogram_bucket(UINT64_MAX) == UINT64_C(0xF8) << 56);
}

static bool equal(const hp_tally *a, const hp_tally *b) {
  bool same = true;
  for (int f = 0; same && f < HP_FAMILIES; f++) {
    const hp_tally_entry **x = hp_tally_sorted(a, (hp_family)f, true), **y = hp_tally_sorted(b, (hp_family)f, true);
    same = a->tables[f].count == b->tables[f].count && a->tables[f].error == b->tables[f].error;
    for (uint32_t i = 0; same && i < a->tables[f].count; i++)
      same = x[i]->count == y[i]->count && !strcmp(x[i]->key, y[i]->key);
    hp_free(x);
    hp_free(y);
  }
  return same;
}

enum { KEYS = 30000, PARTS = 8 };

/* The counts of many keys, in parts, are within the error; their sum has no order. */
static void test_bounds(void) {
  hp_tally parts[PARTS] = {0}, up = {0}, down = {0};
  uint64_t *truth = calloc(KEYS, sizeof *truth);
  random_state random = {5};
  for (int part = 0; part < PARTS; part++) {
    for (int i = 0; i < 40000; i++) {
      size_t below = random_chance(&random, 60) ? 200 : KEYS, key = random_below(&random, below);
      char name[32];
      snprintf(name, sizeof name, "key %zu", key);
      truth[key]++;
      CHECK(hp_tally_add_text(&parts[part], HP_LINK_HOSTS, name, 1));
      CHECK(hp_tally_add_value(&parts[part], HP_SIZE_BYTES, key));
    }
  }
  for (int i = 0; i < PARTS; i++) {
    CHECK(hp_tally_merge(&up, &parts[i]) && hp_tally_merge(&down, &parts[PARTS - 1 - i]));
  }
  CHECK(hp_tally_limit(&up) && hp_tally_limit(&down));
  CHECK(equal(&up, &down));
  CHECK(up.tables[HP_LINK_HOSTS].count <= HP_TALLY_KEYS);
  uint64_t error = up.tables[HP_LINK_HOSTS].error, most = 0;
  CHECK(error > 0 && error < 200);
  for (size_t key = 0; key < KEYS; key++) {
    char name[32];
    snprintf(name, sizeof name, "key %zu", key);
    uint64_t count = hp_tally_count(&up, HP_LINK_HOSTS, name);
    CHECK(count <= truth[key] && truth[key] <= count + error);
    if (key < 200 && count > most) most = count;
  }
  const hp_tally_entry **sorted = hp_tally_sorted(&up, HP_LINK_HOSTS, true);
  CHECK(sorted[0]->count == most);
  hp_free(sorted);
  free(truth);
  for (int i = 0; i < PARTS; i++) hp_tally_free(&parts[i]);
  hp_tally_free(&up);
  hp_tally_free(&down);
}

static void write_text(const char *path, const char *text) {
  FILE *file = fopen(path, "wb");
  CHECK(file && fputs(text, file) >= 0 && !fclose(file));
}

/* The file of a unit has the counts and the refused records. Any change of a byte is found. */
static void test_files(void) {
  char folder[] = "/tmp/hpar-tally-XXXXXX", path[300], input[200];
  CHECK(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/units", folder);
  mkdir(path, 0777);
  snprintf(input, sizeof input, "%s/a\tb\\c\nd.warc", folder);
  write_text(input, "WARC/1.0\r\nWARC-Type: resource\r\nContent-Type: text/html\r\nContent-Length: "
                    "20\r\n\r\n<p id=a><b>text</b>\n\r\n\r\ngarbage");
  hp_unit unit = {.path = input, .size = 1};
  hp_unit_name(&unit, "options");
  const char *selectors[] = {"b", "p\t"};
  hp_map_options options = {
      .profiles = HP_PROFILE_ALL, .memory = 1 << 20, .sample_of = 1, .selectors = selectors, .selector_count = 2};
  hp_unit_job job = {.unit = &unit, .options = &options, .folder = folder, .to = UINT64_MAX};
  CHECK(!hp_unit_is_done(&unit, folder));
  CHECK(hp_unit_run(&job) == HP_UNIT_DONE);
  CHECK(hp_unit_is_done(&unit, folder));
  hp_unit_results results = {0};
  CHECK(hp_unit_read(&unit, folder, &results) == HPAR_OK);
  CHECK(hp_tally_count(&results.tally, HP_COUNTERS, "pages") == 1);
  CHECK(hp_tally_count(&results.tally, HP_COUNTERS, "records") == 2);
  CHECK(hp_tally_count(&results.tally, HP_ELEMENTS, "b") == 1);
  CHECK(hp_tally_count(&results.tally, HP_SELECTORS, "p\t") == 1);
  CHECK(results.refusal_count == 1 && !strcmp(results.refusals[0].reason, "garbage"));
  hp_unit_results_free(&results);
  snprintf(path, sizeof path, "%s/units/%s.tsv", folder, unit.id);
  FILE *file = fopen(path, "r+b");
  fseek(file, 300, SEEK_SET);
  fputc('#', file);
  fclose(file);
  CHECK(!hp_unit_is_done(&unit, folder));
  CHECK(hp_unit_read(&unit, folder, &results) == HPAR_ERROR_IO);
  hp_unit_results_free(&results);
  unlink(path);
  unlink(input);
  CHECK(hp_unit_run(&job) == HP_UNIT_INPUT);
  snprintf(path, sizeof path, "%s/units", folder);
  rmdir(path);
  CHECK(!rmdir(folder));
}

static void test_faults(void) {
  for (uint64_t n = 0; n < 40; n++) {
    hp_tally tally = {0};
    bool fine = true;
    hp_memory_fail_once(n);
    for (int i = 0; i < 100 && fine; i++) fine = hp_tally_add_value(&tally, HP_SIZE_NODES, (uint64_t)i * 1000);
    hp_memory_fail_after(UINT64_MAX);
    CHECK(!fine);
    hp_tally_free(&tally);
  }
}

int main(void) {
  test_sha256();
  test_buckets();
  test_bounds();
  test_files();
  test_faults();
  return check_report();
}
