/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Compiles a model from a file to a module in memory and runs it, in C11.
 *
 *   compiler-c-test affine.onnx
 */
#include "adze.h"
#include "adze_compiler.h"
#include <stdio.h>

static int count;

static void report(void *user, const adze_compile_diagnostic *diagnostic) {
  (void)user;
  fprintf(stderr, "%s\n", diagnostic->formatted);
}

static void progress(void *user, const char *stage, uint64_t done,
                     uint64_t all) {
  (void)stage;
  (void)done;
  (void)all;
  ++*(int *)user;
}

static int run(const void *data, size_t size) {
  adze_module *module = NULL;
  adze_context *context = NULL;
  float x[4] = {1, -1, 0.5f, -0.25f}, y[4] = {0, 0, 0, 0};
  const float expected[4] = {3, 0, 2, 0.5f};
  int64_t shape[2] = {2, 2};
  DLTensor in = {x, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, NULL, 0};
  DLTensor out = {y, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, NULL, 0};
  const DLTensor *ins[] = {&in};
  DLTensor *outs[] = {&out};
  DLDevice cpu = {kDLCPU, 0};
  adze_status status = adze_module_open_memory(data, size, NULL, &module);
  if (!status)
    status = adze_context_create(module, cpu, &context);
  if (!status)
    status = adze_run(context, ins, 1, outs, 1);
  if (status) {
    fprintf(stderr, "%s\n", adze_status_message(status));
    adze_status_free(status);
    return 1;
  }
  adze_context_release(context);
  adze_module_release(module);
  for (int i = 0; i < 4; ++i)
    if (y[i] != expected[i]) {
      fprintf(stderr, "expected %g, but got %g\n", (double)expected[i],
              (double)y[i]);
      return 1;
    }
  return 0;
}

int main(int argc, char **argv) {
  adze_compiler_options *options = NULL;
  adze_compiler_result *result = NULL;
  if (argc != 2 || adze_compiler_options_create(&options))
    return 2;
  adze_compiler_options_set_diagnostics(options, report, NULL);
  adze_compiler_options_set_progress(options, progress, &count);
  adze_compile_status status =
      adze_compiler_options_set(options, "dim", "N=1..8");
  if (!status)
    status = adze_compile(argv[1], NULL, options, &result);
  size_t size = 0;
  const void *data = adze_compiler_result_data(result, &size);
  int failed = status != ADZE_COMPILE_OK || !data || run(data, size);
  adze_compiler_result_release(result);
  adze_compiler_options_release(options);
  return failed || count == 0;
}
