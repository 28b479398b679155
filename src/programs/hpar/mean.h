#ifndef HP_PROGRAMS_HPAR_MEAN_H
#define HP_PROGRAMS_HPAR_MEAN_H

/* Geometric means without libm, which no other part of the program needs. */

#include <stddef.h>

typedef struct hp_mean {
  double logarithms;
  size_t count;
} hp_mean;

void hp_mean_add(hp_mean *mean, double value); /* value > 0 */
double hp_mean_of(const hp_mean *mean);        /* 0 of nothing */

#endif
