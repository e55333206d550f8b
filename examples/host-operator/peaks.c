/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Runs a model with two operators that are functions of this program.
 */
#include <adze.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static float get_float(const adze_call *call, const char *name, float other) {
  const adze_attribute *attribute = adze_call_attribute(call, name);
  return attribute && attribute->kind == ADZE_ATTRIBUTE_FLOAT
             ? *attribute->floats
             : other;
}

/* y = x - mean, or (x - mean) / (scale + epsilon). By the declaration, y has the
 * shape of x. */
static adze_status standardize(void *user, adze_call *call) {
  (void)user;
  const DLTensor *x = adze_call_input(call, 0);
  const float *from = x->data, *mean = adze_call_input(call, 1)->data;
  const DLTensor *scale = adze_call_input(call, 2); /* NULL: absent */
  const adze_attribute *mode = adze_call_attribute(call, "mode");
  float epsilon = get_float(call, "epsilon", 0);
  int divides = mode && mode->kind == ADZE_ATTRIBUTE_STRING &&
                !strcmp(mode->strings->text, "divide");
  if (divides && !scale)
    return adze_status_create(ADZE_RUN_ERROR,
                              "expected a scale with mode 'divide'");
  DLTensor *y;
  adze_status status = adze_call_output(call, 0, NULL, &y);
  if (status)
    return status;
  int64_t columns = x->shape[1], count = x->shape[0] * columns;
  for (int64_t i = 0; i < count; ++i) {
    float value = from[i] - mean[i % columns];
    if (divides)
      value /= ((const float *)scale->data)[i % columns] + epsilon;
    ((float *)y->data)[i] = value;
  }
  return NULL;
}

static int is_peak(const adze_attribute *columns, int64_t column, float value,
                   float threshold) {
  for (size_t i = 0; columns && i < columns->count; ++i)
    if (columns->ints[i] == column)
      return fabsf(value) > threshold;
  return 0;
}

/* Positions and values of large elements: a data-dependent number of them. */
static adze_status find_peaks(void *user, adze_call *call) {
  (void)user;
  const DLTensor *x = adze_call_input(call, 0);
  const float *from = x->data;
  const adze_attribute *columns = adze_call_attribute(call, "columns");
  float threshold = get_float(call, "threshold", 0);
  int64_t width = x->shape[1], size = x->shape[0] * width, count = 0;
  for (int64_t i = 0; i < size; ++i)
    count += is_peak(columns, i % width, from[i], threshold);
  const int64_t positions_shape[] = {count, 2}, values_shape[] = {count};
  DLTensor *positions, *values;
  adze_status status = adze_call_output(call, 0, positions_shape, &positions);
  if (!status)
    status = adze_call_output(call, 1, values_shape, &values);
  if (status)
    return status;
  int64_t *position = positions->data;
  float *value = values->data;
  for (int64_t i = 0; i < size; ++i) {
    if (!is_peak(columns, i % width, from[i], threshold))
      continue;
    *position++ = i / width;
    *position++ = i % width;
    *value++ = from[i];
  }
  return NULL;
}

/* Outputs outlive the context and the module. */
static adze_status run(const char *path, int registers,
                       DLManagedTensorVersioned *outputs[3]) {
  static float data[] = {0.5f, 0.25f, 0, 4, 3, 9, -1, -0.5f};
  int64_t shape[] = {2, 4};
  DLTensor x = {data, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, NULL, 0};
  const DLTensor *inputs[] = {&x};
  adze_module *module = NULL;
  adze_context *context = NULL;
  adze_status status = adze_module_open(path, NULL, &module);
  if (!status && registers)
    status = adze_module_register_operator(module, "com.example.Standardize",
                                           standardize, NULL, NULL);
  if (!status && registers)
    status = adze_module_register_operator(module, "com.example.Peaks",
                                           find_peaks, NULL, NULL);
  if (!status)
    status = adze_context_create(module, (DLDevice){kDLCPU, 0}, &context);
  if (!status)
    status = adze_run_alloc(context, inputs, 1, outputs, 3);
  adze_context_release(context);
  adze_module_release(module);
  return status;
}

int main(int argc, char **argv) {
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: peaks MODULE.so [unregistered]\n");
    return 2;
  }
  DLManagedTensorVersioned *outputs[3];
  adze_status status = run(argv[1], argc == 2, outputs);
  if (status) {
    fprintf(stderr, "error: %s\n", adze_status_message(status));
    adze_status_free(status);
    return 1;
  }
  const float *centred = outputs[0]->dl_tensor.data;
  const int64_t *positions = outputs[1]->dl_tensor.data;
  const float *values = outputs[2]->dl_tensor.data;
  printf("centred: %g %g %g %g\n", centred[4], centred[5], centred[6],
         centred[7]);
  for (int64_t i = 0; i < outputs[1]->dl_tensor.shape[0]; ++i)
    printf("peak at %d, %d: %g\n", (int)positions[2 * i],
           (int)positions[2 * i + 1], values[i]);
  for (int i = 0; i < 3; ++i)
    outputs[i]->deleter(outputs[i]);
  return 0;
}
