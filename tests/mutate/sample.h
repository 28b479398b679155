#ifndef TESTS_MUTATE_SAMPLE_H
#define TESTS_MUTATE_SAMPLE_H

#include <stdatomic.h>
#include <stdbool.h>

enum color { RED = 1, GREEN, BLUE };
struct pair {
  int a, b;
};

bool below(int a, int b);
int add(int a, int b);
int next(int x);
int either(bool a, bool b);
enum color warm(void);
int number(enum color color);
struct pair two(void);
void put(int x);
int get(void);

#endif
