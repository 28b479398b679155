#include "base/fail.h"

void hp_fail_now(hp_fail *fail, hpar_status status) {
  fail->status = status;
  longjmp(fail->frame, 1);
}
