/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * The API from a C program: opens the module given by its path, runs it once,
 * and checks the result.
 */
#include "adze.h"

#include <stdio.h>

static int check(adze_status status) {
  if (!status)
    return 0;
  fprintf(stderr, "%s\n", adze_status_message(status));
  adze_status_free(status);
  return 1;
}

static DLTensor tensor(float *data, int32_t rank, int64_t *shape) {
  DLTensor made = {data, {kDLCPU, 0}, rank, {kDLFloat, 32, 1}, shape, NULL, 0};
  return made;
}

int main(int argc, char **argv) {
  adze_module *module = NULL;
  adze_context *context = NULL;
  float x[4] = {1, 2, 3, 4}, y[4] = {5, 6, 7, 8}, sum[4], total[1], tiny[2];
  int64_t matrix[2] = {1, 4}, row[1] = {1}, pair[1] = {2};
  DLTensor ins[2] = {tensor(x, 2, matrix), tensor(y, 2, matrix)};
  DLTensor outs[3] = {tensor(sum, 2, matrix), tensor(total, 1, row),
                      tensor(tiny, 1, pair)};
  const DLTensor *inputs[2] = {&ins[0], &ins[1]};
  DLTensor *outputs[3] = {&outs[0], &outs[1], &outs[2]};
  DLDevice cpu = {kDLCPU, 0};
  int failed = argc != 2 || check(adze_module_open(argv[1], NULL, &module)) ||
               check(adze_context_create(module, cpu, &context)) ||
               check(adze_run(context, inputs, 2, outputs, 3));
  if (!failed && (sum[3] != 20 || total[0] != 62)) {
    fprintf(stderr, "expected 20 and 62, but got %g and %g\n", sum[3],
            total[0]);
    failed = 1;
  }
  adze_context_release(context);
  adze_module_release(module);
  return failed;
}
