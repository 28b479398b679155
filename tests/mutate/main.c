#include "sample.h"

#include <stdio.h>

int main(void) {
  put(6);
  printf("%d %d %d %d %d ", below(1, 2), below(2, 2), add(5, 4), add(2, 1), next(1));
  printf("%d %d %d %d ", either(true, false), either(true, true), either(false, false), either(false, true));
  printf("%d %d %d ", (int)warm(), number(GREEN), number(BLUE));
  struct pair pair = two();
  printf("%d %d %d\n", pair.a, pair.b, get());
  return 0;
}
