/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 * The smallest program that runs a module: one input, one output. */
#include "adze.h"
#include <stdio.h>
#include <stdlib.h>

static void check(adze_status status) {
  if (!status)
    return;
  fprintf(stderr, "error: %s\n", adze_status_message(status));
  exit(1);
}

int main(void) {
  adze_module *module;
  adze_context *context;
  check(adze_module_open("digits.so", NULL, &module));
  check(adze_context_create(module, (DLDevice){kDLCPU, 0}, &context));
  float image[64] = {0}, logits[10];
  int64_t in_dims[] = {1, 1, 8, 8}, out_dims[] = {1, 10};
  DLDataType f32 = {kDLFloat, 32, 1};
  DLTensor in = {image, {kDLCPU, 0}, 4, f32, in_dims, NULL, 0};
  DLTensor out = {logits, {kDLCPU, 0}, 2, f32, out_dims, NULL, 0};
  const DLTensor *ins[] = {&in};
  check(adze_run(context, ins, 1, (DLTensor *const[]){&out}, 1));
  for (int i = 0; i < 10; ++i)
    printf("%d: %6.2f\n", i, logits[i]);
  adze_context_release(context);
  adze_module_release(module);
}
