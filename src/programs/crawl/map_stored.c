/* Revisits and duplicates. A revisit names a record with the same payload: by its id, by its URL
 * and date, or by the digest of the payload. That record may be in another unit, so the tally keeps
 * hashes of the names of all responses and of what the revisits name, and the sum of all units
 * tells which belong together. */

#include "programs/crawl/map_internal.h"

#include <string.h>

enum { NAMES = 3, NAME_BYTES = 18 };
static const char letters[NAMES] = {'i', 'u', 'd'}; /* id, URL and date, digest */

static uint64_t hash_of(hpar_string first, hpar_string second) {
  uint64_t hash = hp_map_hash(UINT64_C(0xcbf29ce484222325), first);
  return hp_map_hash(hp_map_hash(hash, (hpar_string){" ", 1}), second);
}

/* Writes the hash of a name, or of none. */
static void write_hash(char *to, size_t size, hpar_string first, hpar_string second) {
  snprintf(to, size, first.length ? "%016llx" : "-", (unsigned long long)hash_of(first, second));
}

bool hp_map_stored(hp_map *m, const hp_warc_record *record, bool is_page) {
  const hpar_string none = {"", 0}, names[NAMES][2] = {{hp_warc_field(record->head, "WARC-Record-ID"), none},
                                                       {record->uri, record->date},
                                                       {hp_warc_field(record->head, "WARC-Payload-Digest"), none}};
  bool fine = true;
  for (int i = 0; fine && i < NAMES; i++) {
    char key[NAME_BYTES + 1], hash[17];
    if (!names[i][0].length) continue;
    write_hash(hash, sizeof hash, names[i][0], names[i][1]);
    snprintf(key, sizeof key, "%c%c%s", is_page ? 'p' : 'r', letters[i], hash);
    fine = hp_tally_add_text(m->tally, HP_STORED, key, 1);
  }
  return fine;
}

bool hp_map_revisit(hp_map *m, const hp_warc_record *record) {
  const hpar_string none = {"", 0};
  char key[NAMES * NAME_BYTES] = "", hash[17];
  const hpar_string names[NAMES][2] = {
      {hp_warc_field(record->head, "WARC-Refers-To"), none},
      {hp_warc_field(record->head, "WARC-Refers-To-Target-URI"), hp_warc_field(record->head, "WARC-Refers-To-Date")},
      {hp_warc_field(record->head, "WARC-Payload-Digest"), none}};
  for (int i = 0; i < NAMES; i++) {
    write_hash(hash, sizeof hash, names[i][0], names[i][1]);
    strcat(key, hash);
    strcat(key, i + 1 < NAMES ? " " : "");
  }
  return hp_tally_add_text(m->tally, HP_REVISITS, key, 1);
}

/* Returns what the revisit names: 'p' a page, 'r' another response, 0 none. */
static char letter_of(const hp_tally *tally, const char *names) {
  const hp_tally_table *stored = &tally->tables[HP_STORED];
  for (int i = 0; i < NAMES; i++) {
    size_t length = strcspn(names, " ");
    char key[NAME_BYTES + 1];
    for (const char *letter = "pr"; *letter && length > 1; letter++) {
      snprintf(key, sizeof key, "%c%c%.*s", *letter, letters[i], (int)length, names);
      if (hp_tally_table_count(stored, key, strlen(key))) return *letter;
    }
    names += length + (names[length] == ' ');
  }
  return 0;
}

bool hp_map_resolve_revisits(hp_tally *tally) {
  hp_tally_table *stored = &tally->tables[HP_STORED], *revisits = &tally->tables[HP_REVISITS];
  bool fine = true;
  uint64_t duplicates = 0;
  for (uint32_t i = 0; fine && i < revisits->capacity; i++) {
    const hp_tally_entry *e = &revisits->entries[i];
    char letter = e->key ? letter_of(tally, e->key) : 0;
    const char *name = letter == 'p' ? "revisits_of_pages"
                       : letter      ? "revisits_of_other_responses"
                                     : "revisits_of_nothing";
    fine = !e->key || hp_tally_add_text(tally, HP_COUNTERS, name, e->count);
  }
  for (uint32_t i = 0; i < stored->capacity; i++)
    if (stored->entries[i].key && !memcmp(stored->entries[i].key, "pd", 2)) duplicates += stored->entries[i].count - 1;
  if (fine && stored->count) fine = hp_tally_add_text(tally, HP_COUNTERS, "pages_with_an_earlier_digest", duplicates);
  hp_tally_table_free(stored);
  hp_tally_table_free(revisits);
  return fine;
}
