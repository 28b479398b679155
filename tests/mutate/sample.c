/* A place for each operator of scripts/mutate. Each mutant changes what main.c prints. */

#include "sample.h"

#define MOST(a, b) ((a) > (b) ? (a) : (b))

static _Atomic int shared;
static const int start = 7;

bool below(int a, int b) { return a < b; }

int add(int a, int b) { return MOST(a + b, start); }

int next(int x) {
  x++;
  return x;
}

int either(bool a, bool b) {
  if (a && !b) return 1;
  return 4;
}

enum color warm(void) { return RED; }

int number(enum color color) {
  switch (color) {
    case GREEN: return 3;
    default: return 5;
  }
}

struct pair two(void) {
  return (struct pair){8, 9};
}

void put(int x) { atomic_store_explicit(&shared, x, memory_order_release); }

int get(void) { return atomic_load_explicit(&shared, memory_order_acquire); }
