/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Holds a module to "the same bits, always":   same-bits MODULE.so [DIM]
 * It is run on seeded inputs as it comes; with the caller's flush-to-zero,
 * denormals-are-zero and rounding bits set, which must be there again after the
 * run; and in four contexts on four threads at once. DIM: every dynamic dim.
 */
#include "seeded-inputs.h"

#include <fenv.h>
#include <pthread.h>
#include <string.h>
#include <xmmintrin.h>

enum { THREADS = 4 };

static int same(DLManagedTensorVersioned **a, DLManagedTensorVersioned **b) {
  for (int32_t i = 0; i < num_outputs; ++i)
    if (bytes(&a[i]->dl_tensor) != bytes(&b[i]->dl_tensor) ||
        memcmp(a[i]->dl_tensor.data, b[i]->dl_tensor.data,
               bytes(&a[i]->dl_tensor)))
      return 0;
  return 1;
}

typedef struct {
  adze_context *context;
  DLManagedTensorVersioned *outputs[MAX_VALUES];
} worker;

static void *work(void *argument) {
  worker *self = argument;
  run(self->context, self->outputs);
  return NULL;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: same-bits MODULE.so [DIM]\n");
    return 2;
  }
  adze_module *module;
  adze_context *context;
  check(adze_module_open(argv[1], NULL, &module));
  check(adze_context_create(module, (DLDevice){kDLCPU, 0}, &context));
  make_inputs(module, argc > 2 ? strtoll(argv[2], NULL, 10) : 2);

  DLManagedTensorVersioned *plain[MAX_VALUES], *changed[MAX_VALUES];
  run(context, plain);

  unsigned before = _mm_getcsr();
  unsigned odd = (before | 0x8040u) & ~0x6000u; /* FTZ, DAZ */
  odd |= 0x4000u;                               /* round up */
  _mm_setcsr(odd);
  run(context, changed);
  unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  if ((after & 0xffc0u) != (odd & 0xffc0u)) {
    fprintf(stderr,
            "same-bits: expected the caller's MXCSR 0x%x, but got 0x%x\n", odd,
            after);
    return 1;
  }
  if (!same(plain, changed)) {
    fprintf(stderr, "same-bits: the caller's FTZ/DAZ bits change the result\n");
    return 1;
  }

  worker workers[THREADS];
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i)
    check(adze_context_clone(context, &workers[i].context));
  for (int i = 0; i < THREADS; ++i)
    if (pthread_create(&threads[i], NULL, work, &workers[i]))
      return 1;
  int equal = 1;
  for (int i = 0; i < THREADS; ++i) {
    pthread_join(threads[i], NULL);
    equal &= same(plain, workers[i].outputs);
  }
  if (!equal) {
    fprintf(stderr, "same-bits: contexts that run at once differ\n");
    return 1;
  }

  for (int32_t k = 0; k < num_outputs; ++k) {
    plain[k]->deleter(plain[k]);
    changed[k]->deleter(changed[k]);
    for (int i = 0; i < THREADS; ++i)
      workers[i].outputs[k]->deleter(workers[i].outputs[k]);
  }
  for (int i = 0; i < THREADS; ++i)
    adze_context_release(workers[i].context);
  adze_context_release(context);
  adze_module_release(module);
  free_inputs();
  printf("same bits: plain, with FTZ/DAZ and another rounding, %d contexts at "
         "once\n",
         THREADS);
  return 0;
}
