/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Loads a compiled model through the C API and reads handwritten digits:
 *
 *   digits MODULE.so DIR     DIR holds samples.npy, labels.npy, reference.npy
 *
 * Exit status 0 if every prediction equals the reference's.
 */
#include "adze.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PIXELS = 64, CLASSES = 10 };

static void check(adze_status status) {
  if (adze_status_code(status) == ADZE_OK)
    return;
  fprintf(stderr, "digits: %s\n", adze_status_message(status));
  adze_status_free(status);
  exit(1);
}

/* The contents of an .npy file, and its element count. */
static void *load(const char *dir, const char *name, size_t element_size,
                  size_t *count) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", dir, name);
  FILE *file = fopen(path, "rb");
  unsigned char head[10]; /* magic, version, length of the text header */
  if (!file || fread(head, 1, sizeof head, file) != sizeof head) {
    fprintf(stderr, "digits: cannot read %s\n", path);
    exit(1);
  }
  long begin = 10 + head[8] + 256 * head[9];
  fseek(file, 0, SEEK_END);
  size_t bytes = (size_t)(ftell(file) - begin);
  fseek(file, begin, SEEK_SET);
  void *data = malloc(bytes);
  if (!data || fread(data, 1, bytes, file) != bytes) {
    fprintf(stderr, "digits: cannot read %s\n", path);
    exit(1);
  }
  fclose(file);
  *count = bytes / element_size;
  return data;
}

static int best(const float *logits) {
  int k = 0;
  for (int i = 1; i < CLASSES; ++i)
    if (logits[i] > logits[k])
      k = i;
  return k;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Runs `batch` images; a DLTensor only refers to memory of the caller. */
static void predict(adze_context *context, float *images, float *logits,
                    int64_t batch) {
  int64_t in_dims[] = {batch, 1, 8, 8}, out_dims[] = {batch, CLASSES};
  DLDataType f32 = {kDLFloat, 32, 1};
  DLTensor in = {images, {kDLCPU, 0}, 4, f32, in_dims, NULL, 0};
  DLTensor out = {logits, {kDLCPU, 0}, 2, f32, out_dims, NULL, 0};
  check(adze_run(context, (const DLTensor *const[]){&in}, 1,
                 (DLTensor *const[]){&out}, 1));
}

/* One line for ten samples: a hit is its digit, a miss is [predicted/truth]. */
static void print_predictions(const float *logits, const int64_t *labels,
                              int64_t n) {
  printf("predictions (a miss is [predicted/truth]):");
  for (int64_t i = 0; i < n; ++i) {
    if (i % 50 == 0)
      printf("\n  ");
    else if (i % 10 == 0)
      printf(" ");
    int digit = best(logits + i * CLASSES);
    if (digit == labels[i])
      printf("%d", digit);
    else
      printf("[%d/%d]", digit, (int)labels[i]);
  }
  printf("\n");
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: digits MODULE.so DIR\n");
    return 2;
  }
  size_t pixels, num_labels, num_reference;
  float *images = load(argv[2], "samples.npy", sizeof(float), &pixels);
  int64_t *labels = load(argv[2], "labels.npy", sizeof(int64_t), &num_labels);
  float *reference =
      load(argv[2], "reference.npy", sizeof(float), &num_reference);
  int64_t n = (int64_t)num_labels;
  if (pixels != num_labels * PIXELS || num_reference != num_labels * CLASSES) {
    fprintf(stderr, "digits: the files of %s do not belong together\n",
            argv[2]);
    return 1;
  }

  adze_module *module;
  adze_context *context;
  double start = now();
  check(adze_module_open(argv[1], NULL, &module));
  check(adze_context_create(module, (DLDevice){kDLCPU, 0}, &context));
  double load_ms = now() - start;

  float *logits = malloc(num_reference * sizeof(float));
  float *batched = malloc(num_reference * sizeof(float));
  double *times = malloc(num_labels * sizeof(double));
  if (!logits || !batched || !times)
    return 1;
  predict(context, images, logits, 1); /* warm-up */
  for (int64_t i = 0; i < n; ++i) {
    start = now();
    predict(context, images + i * PIXELS, logits + i * CLASSES, 1);
    times[i] = now() - start;
  }
  start = now();
  predict(context, images, batched, n);
  double batch_ms = now() - start;

  int right = 0, same = 0, same_batched = 0;
  float error = 0;
  for (int64_t i = 0; i < n; ++i) {
    int expected = best(reference + i * CLASSES);
    right += best(logits + i * CLASSES) == labels[i];
    same += best(logits + i * CLASSES) == expected;
    same_batched += best(batched + i * CLASSES) == expected;
    for (int k = 0; k < CLASSES; ++k)
      error = fmaxf(
          error, fabsf(logits[i * CLASSES + k] - reference[i * CLASSES + k]));
  }
  qsort(times, num_labels, sizeof(double), by_value);

  print_predictions(logits, labels, n);
  printf("accuracy: %.2f %% (%d of %d held-out samples)\n",
         100.0 * right / (double)n, right, (int)n);
  printf("same prediction as ONNX Runtime: %d of %d one by one, %d of %d as "
         "one batch; largest logit difference %.2g\n",
         same, (int)n, same_batched, (int)n, error);
  printf("latency: %.4f ms median, one sample; %.3f ms for the batch of %d; "
         "load %.2f ms\n",
         times[n / 2], batch_ms, (int)n, load_ms);

  adze_context_release(context);
  adze_module_release(module);
  free(images), free(labels), free(reference);
  free(logits), free(batched), free(times);
  return same == n && same_batched == n ? 0 : 1;
}
