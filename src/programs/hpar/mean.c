#include "programs/hpar/mean.h"

static const double ln2 = 0.69314718055994530942;

static double logarithm(double x) {
  double result = 0;
  while (x > 1.5) {
    x /= 2;
    result += ln2;
  }
  while (x < 0.75) {
    x *= 2;
    result -= ln2;
  }
  double y = (x - 1) / (x + 1), power = y; /* ln x = 2 artanh y, |y| <= 1/5 */
  for (int k = 1; k < 30; k += 2, power *= y * y) result += 2 * power / k;
  return result;
}

static double exponential(double x) {
  int doublings = 0;
  while (x > ln2) {
    x -= ln2;
    doublings++;
  }
  while (x < 0) {
    x += ln2;
    doublings--;
  }
  double term = 1, result = 1;
  for (int k = 1; k < 20; k++) result += term *= x / k;
  for (; doublings > 0; doublings--) result *= 2;
  for (; doublings < 0; doublings++) result /= 2;
  return result;
}

void hp_mean_add(hp_mean *mean, double value) {
  mean->logarithms += logarithm(value);
  mean->count++;
}

double hp_mean_of(const hp_mean *mean) { return mean->count ? exponential(mean->logarithms / (double)mean->count) : 0; }
