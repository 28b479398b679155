#include "support/stepper.h"

#include "support/random.h"

#include <stddef.h>

static void work(void *context, unsigned thread) {
  stepper *s = context;
  atomic_fetch_add(&s->worked, thread ? 1 : 1000);
}

static void check_progress(stepper *s, const hpar_driven_parse *parse, size_t *at) {
  s->wrong += parse->at < *at || parse->at > parse->length;
  *at = parse->at;
}

static void read_token(stepper *s, hpar_driven_parse *parse, random_state *random) {
  size_t at = parse->at;
  const hpar_token *token = parse->next(parse);
  if (!token) {
    s->wrong += !parse->has_ended;
    return;
  }
  s->tokens++;
  s->wrong += parse->has_ended || token->start != parse->at || parse->at < at || token->end < token->start;
  for (size_t i = 0; i < token->attribute_count; i++) s->wrong += !token->attributes[i].local_name.length;
  if (random_chance(random, 20)) s->wrong += parse->next(parse) != token;
  bool is_last = token->kind == HPAR_TOKEN_EOF;
  if (!is_last && random_chance(random, 20)) return; /* the library builds it */
  bool goes_on = parse->build(parse);
  s->wrong += goes_on == parse->has_ended || (is_last && goes_on);
}

static void use_threads(stepper *s, hpar_driven_parse *parse, random_state *random) {
  parse->start(parse, work, s);
  s->expected += parse->threads - 1;
  if (random_chance(random, 50)) return; /* the next start, or the library, joins */
  parse->join(parse);
  s->wrong += atomic_load(&s->worked) != s->expected;
}

void stepper_drive(hpar_driven_parse *parse, void *context) {
  stepper *s = context;
  random_state random = {s->seed + s->calls++};
  size_t at = 0;
  s->wrong += parse->at || parse->tokens || !parse->threads || parse->threads > 3;
  for (unsigned steps = 0; steps < 3000; steps++) {
    switch (random_below(&random, 8)) {
      case 0: use_threads(s, parse, &random); break;
      case 1: parse->build(parse); break; /* without a token */
      case 2: parse->advance(parse, random_below(&random, parse->at + 1)); break;
      case 3: parse->advance(parse, parse->at + random_below(&random, 50)); break;
      case 4: parse->start(parse, NULL, s); break;
      default: read_token(s, parse, &random); break;
    }
    check_progress(s, parse, &at);
    if (random_chance(&random, parse->has_ended ? 30 : 1)) break;
  }
}
