#include "study/state.h"

#include "base/memory.h"

static void destroy(void *study) {
  hp_study_state *state = study;
  hp_record_free(&state->record);
#if HPAR_PARALLEL
  hp_stages_close(&state->stages);
  hp_free(state->index);
#endif
  hp_free(state);
}

hp_study_state *hp_study_state_of(hp_session *session) {
  if (!session->study) session->study = hp_allocate_zeroed(sizeof(hp_study_state));
  session->destroy_study = destroy;
  return session->study;
}
