/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Prints values of kernels (tile.print).
 * */
#include "Runtime.h"

#include <stdio.h>

static void add_element(rt_text *text, int64_t code, const void *values,
                        int64_t index) {
  if (code == kDLFloat)
    rt_text_add(text, " %g", ((const double *)values)[index]);
  else
    rt_text_add(text, " %lld", (long long)((const int64_t *)values)[index]);
}

/* Elements of rank 0 or 1 are printed on the line of the label; rows of higher
 * ranks have one line each. */
static void add_elements(rt_text *text, int64_t code, int64_t rank,
                         const int64_t *dims, const void *values) {
  int64_t count = 1, row = rank > 0 ? dims[rank - 1] : 1;
  for (int64_t i = 0; i < rank; ++i)
    count *= dims[i];
  for (int64_t i = 0; i < count; ++i) {
    if (rank > 1 && i % row == 0)
      rt_text_add(text, "\n ");
    add_element(text, code, values, i);
  }
}

void rt_print(const char *kernel, const char *label, const int64_t *numbers,
              const void *values) {
  int64_t code = numbers[0], rank = numbers[1];
  const int64_t *dims = numbers + 2, *programs = dims + rank + 1;
  rt_text text = {0};
  rt_text_add(&text, "%s", kernel);
  for (int64_t i = 0; i < dims[rank]; ++i)
    rt_text_add(&text, "%s%lld", i ? ", " : "[", (long long)programs[i]);
  rt_text_add(&text, "%s %s:", dims[rank] ? "]" : "", label);
  add_elements(&text, code, rank, dims, values);
  rt_text_add(&text, "\n");
  /* A single write, so that lines of threads are not interleaved. */
  if (text.failed)
    fprintf(stderr, "%s %s: out of memory\n", kernel, label);
  else
    fwrite(text.data, 1, text.size, stdout);
  fflush(stdout); /* the output must not be lost if a kernel crashes next */
  rt_text_free(&text);
}
