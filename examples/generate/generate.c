/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Continues a prompt of token ids: generate MODULE.so TOKENS SEED ID...
 */
#include "adze_generate.h"

#include <stdio.h>
#include <stdlib.h>

static void check(adze_status status) {
  if (!status)
    return;
  fprintf(stderr, "error: %s\n", adze_status_message(status));
  exit(1);
}

static int print(void *user, adze_sequence *sequence, adze_event event,
                 int64_t token, float logprob) {
  (void)user, (void)sequence;
  if (event == ADZE_TOKEN)
    printf("%lld (%.2f)\n", (long long)token, logprob);
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 5) {
    fprintf(stderr, "usage: generate MODULE.so TOKENS SEED ID...\n");
    return 2;
  }
  size_t count = (size_t)argc - 4;
  int64_t *prompt = malloc(count * sizeof(*prompt));
  if (!prompt)
    return 1;
  for (size_t i = 0; i < count; ++i)
    prompt[i] = atoll(argv[4 + i]);

  adze_module *module;
  adze_generator *generator;
  adze_sequence *sequence;
  adze_generator_options options = {.size = sizeof(options), .rows = 256};
  adze_sampling sampling = {.size = sizeof(sampling),
                            .max_tokens = atoll(argv[2]),
                            .seed = strtoull(argv[3], NULL, 10)};
  if (sampling.seed) /* otherwise the most likely tokens */
    sampling.temperature = 0.8f;
  check(adze_module_open(argv[1], NULL, &module));
  check(adze_generator_create(module, &options, &generator));
  check(adze_sequence_create(generator, &sampling, prompt, count, NULL, NULL, 0,
                             print, NULL, &sequence));
  check(adze_generator_run(generator));

  adze_generator_release(generator);
  adze_module_release(module);
  free(prompt);
  return 0;
}
