/* hpar-seeds DIR [COUNT]: writes the first inputs of a fuzzer: the documents of documents.c and the
 * first COUNT generated ones (300). Eight bytes follow each document and choose how a fuzz target
 * uses it. */

#include "support/documents.h"
#include "support/generate.h"
#include "support/random.h"

#include <stdio.h>
#include <stdlib.h>

static void write_seed(const char *folder, const char *kind, size_t number, const char *bytes, size_t length) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s-%zu", folder, kind, number);
  FILE *file = fopen(path, "wb");
  random_state random = {number + (size_t)(unsigned char)*kind};
  if (!file) {
    perror(path);
    exit(1);
  }
  fwrite(bytes, 1, length, file);
  for (int i = 0; i < 8; i++) fputc((int)random_below(&random, 256), file);
  if (fclose(file)) {
    perror(path);
    exit(1);
  }
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: hpar-seeds DIR [COUNT]\n");
    return 2;
  }
  size_t count = argc > 2 ? strtoul(argv[2], NULL, 10) : 300;
  for (size_t i = 0; i < document_count; i++) write_seed(argv[1], "own", i, documents[i].bytes, documents[i].length);
  for (size_t seed = 1; seed <= count; seed++) {
    generated document = {0};
    generate(seed, &document);
    write_seed(argv[1], "generated", seed, document.text.bytes, document.text.length);
    generate_free(&document);
  }
  return 0;
}
