/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * A CUDA driver for machines without one: device memory is memory of its own,
 * and the hand-written module's three kernels run on the CPU. Launches and
 * copies check that they touch device memory only. Built as libcuda.so.1.
 */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))
enum { OK = 0, INVALID = 1, NO_MEMORY = 2, BAD_ADDRESS = 700, CAPTURING = 900 };

typedef struct block {
  struct block *next;
  uintptr_t begin;
  size_t bytes;
} block;

typedef struct {
  char kernel; /* first letter of the name; 'c': a copy */
  unsigned grid;
  uint64_t arguments[8];
} node;

typedef struct {
  size_t count;
  node nodes[64];
} graph;

typedef struct {
  graph *capturing;
} stream;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static block *blocks;
static int64_t num_graph_launches, num_launches, held_bytes;

/* What the tests ask. */
API int64_t fake_cuda_graph_launches(void);
API int64_t fake_cuda_launches(void);
API int64_t fake_cuda_held_bytes(void);
int64_t fake_cuda_graph_launches(void) { return num_graph_launches; }
int64_t fake_cuda_launches(void) { return num_launches; }
int64_t fake_cuda_held_bytes(void) { return held_bytes; }

static int is_device(uintptr_t address, size_t bytes) {
  int found = 0;
  pthread_mutex_lock(&mutex);
  for (block *b = blocks; b && !found; b = b->next)
    found = address >= b->begin && address + bytes <= b->begin + b->bytes;
  pthread_mutex_unlock(&mutex);
  return found;
}

#define FN(name, ...)                                                          \
  API int name(__VA_ARGS__);                                                   \
  int name(__VA_ARGS__)

/* ---- Devices --------------------------------------------------------------
 */

static int dummy;

FN(cuInit, unsigned flags) { return flags ? INVALID : OK; }
FN(cuGetErrorName, int result, const char **text) {
  *text = result == BAD_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR";
  return OK;
}
FN(cuGetErrorString, int result, const char **text) {
  (void)result;
  *text = "the fake driver says no";
  return OK;
}
FN(cuDeviceGetCount, int *count) {
  *count = 4;
  return OK;
}
FN(cuDeviceGet, int *device, int ordinal) {
  *device = ordinal;
  return OK;
}
/* Device 0 is sm_90, device 1 sm_35, device 2 sm_72, device 3 sm_30. */
FN(cuDeviceGetAttribute, int *value, int attribute, int device) {
  static const int sm[] = {90, 35, 72, 30};
  *value = attribute == 75 ? sm[device] / 10 : sm[device] % 10;
  return OK;
}
FN(cuDevicePrimaryCtxRetain, void **context, int device) {
  (void)device;
  *context = &dummy;
  return OK;
}
FN(cuDevicePrimaryCtxRelease_v2, int device) { return device < 0; }
static _Thread_local int depth;
FN(cuCtxPushCurrent_v2, void *context) {
  ++depth;
  return context ? OK : INVALID;
}
FN(cuCtxPopCurrent_v2, void **context) {
  *context = &dummy;
  return depth-- > 0 ? OK : INVALID;
}

/* ---- Code -----------------------------------------------------------------
 */

FN(cuModuleLoadData, void **module, const void *image) {
  *module = &dummy;
  return depth && (strstr(image, ".entry add") ||
                   strstr(image, ".entry adze_check_range("))
             ? OK
             : INVALID;
}
FN(cuModuleUnload, void *module) { return module ? OK : INVALID; }
FN(cuModuleGetFunction, const char **function, void *module, const char *name) {
  *function = strcmp(name, "adze_check_range") ? name : "guard";
  return module ? OK : INVALID;
}
FN(cuFuncSetAttribute, void *function, int attribute, int value) {
  (void)function;
  (void)attribute;
  return value < 0;
}

/* The last ones: symbols, programs, faults; but for the check of ranges. */
static int count_arguments(char kernel) {
  return kernel == 'a' ? 8 : kernel == 'r' || kernel == 'g' ? 6 : 5;
}

static int64_t load_integer(uint64_t address, uint64_t bytes) {
  return bytes == 4 ? *(const int32_t *)(uintptr_t)address
                    : *(const int64_t *)(uintptr_t)address;
}

/* What the PTX of runtime/lib/CudaChecks.c does. */
static int run_check(const node *n) {
  uint64_t bytes = n->arguments[3];
  if (!is_device(n->arguments[0], 32) || !is_device(n->arguments[1], bytes) ||
      !is_device(n->arguments[2], bytes))
    return BAD_ADDRESS;
  int64_t *record = (int64_t *)(uintptr_t)n->arguments[0];
  int64_t least = load_integer(n->arguments[1], bytes),
          greatest = load_integer(n->arguments[2], bytes),
          low = (int64_t)n->arguments[4], high = (int64_t)n->arguments[5];
  if (least >= low && greatest < high)
    return OK;
  record[1] = least < low ? least : greatest;
  record[2] = low;
  record[3] = high;
  record[0] = 1;
  return OK;
}

static float element(const node *n, int argument, int64_t index) {
  return ((const float *)(uintptr_t)n->arguments[argument])[index];
}

static void run_add(const node *n, int64_t b, int64_t len) {
  float *sum = (float *)(uintptr_t)n->arguments[3];
  for (int64_t i = b * len; i < (b + 1) * len; ++i)
    sum[i] = element(n, 0, i) + element(n, 1, i) * element(n, 2, 0);
}

static void run_rows(const node *n, int64_t b, int64_t len) {
  float value = 0;
  for (int64_t i = b * len; i < (b + 1) * len; ++i)
    value += element(n, 0, i);
  ((float *)(uintptr_t)n->arguments[1])[b] = value;
  int64_t *fault = (int64_t *)(uintptr_t)n->arguments[5] + 4;
  if (value > 1e30f) {
    fault[1] = b;
    fault[2] = n->grid;
    fault[0] = 1;
  }
}

static int run(const node *n) {
  if (n->kernel == 'c') {
    memmove((void *)(uintptr_t)n->arguments[0],
            (const void *)(uintptr_t)n->arguments[1], n->arguments[2]);
    return OK;
  }
  if (n->kernel == 'g')
    return run_check(n);
  int count = count_arguments(n->kernel);
  if (!is_device(n->arguments[count - 1], 2 * 32))
    return BAD_ADDRESS;
  for (int i = 0; i < count - 4; ++i)
    if (!is_device(n->arguments[i], sizeof(float)))
      return BAD_ADDRESS;
  if (n->arguments[count - 2] != n->grid)
    return INVALID;
  int64_t len = (int64_t)n->arguments[count - 3];
  for (int64_t b = 0; b < n->grid; ++b)
    if (n->kernel == 'a')
      run_add(n, b, len);
    else if (n->kernel == 'r')
      run_rows(n, b, len);
    else
      ((float *)(uintptr_t)n->arguments[0])[b] = b ? 1.5e-38f * 0.5f : 1e-40f + 1e-40f;
  return OK;
}

static int submit(stream *s, const node *n) {
  if (!s || !s->capturing)
    return run(n);
  s->capturing->nodes[s->capturing->count++] = *n;
  return OK;
}

FN(cuLaunchKernel, const char *name, unsigned x, unsigned y, unsigned z,
   unsigned bx, unsigned by, unsigned bz, unsigned shared, stream *s,
   void **arguments, void **extra) {
  node n = {name[0], x, {0}};
  if (!depth || y != 1 || z != 1 || !bx || by != 1 || bz != 1 || shared ||
      extra)
    return INVALID;
  for (int i = 0; i < count_arguments(n.kernel); ++i)
    n.arguments[i] = *(const uint64_t *)arguments[i];
  __atomic_fetch_add(&num_launches, 1, __ATOMIC_RELAXED);
  return submit(s, &n);
}

/* ---- Memory ---------------------------------------------------------------
 */

FN(cuMemAlloc_v2, uint64_t *address, size_t bytes) {
  block *b = malloc(sizeof(*b));
  void *data = NULL;
  if (!depth || !b || bytes > (size_t)1 << 40 ||
      posix_memalign(&data, 256, bytes)) {
    free(b);
    return NO_MEMORY;
  }
  memset(data, 0xff, bytes);
  pthread_mutex_lock(&mutex);
  *b = (block){blocks, (uintptr_t)data, bytes};
  blocks = b;
  held_bytes += (int64_t)bytes;
  pthread_mutex_unlock(&mutex);
  *address = (uintptr_t)data;
  return OK;
}
FN(cuMemFree_v2, uint64_t address) {
  pthread_mutex_lock(&mutex);
  block **at = &blocks;
  while (*at && (*at)->begin != address)
    at = &(*at)->next;
  block *b = *at;
  if (b) {
    *at = b->next;
    held_bytes -= (int64_t)b->bytes;
  }
  pthread_mutex_unlock(&mutex);
  if (b)
    free((void *)b->begin);
  free(b);
  return b ? OK : INVALID;
}
FN(cuMemAllocManaged, uint64_t *address, size_t bytes, unsigned flags) {
  return flags == 1 ? cuMemAlloc_v2(address, bytes) : INVALID;
}
FN(cuMemAllocHost_v2, void **data, size_t bytes) {
  *data = depth ? malloc(bytes) : NULL;
  return *data ? OK : NO_MEMORY;
}
FN(cuMemFreeHost, void *data) {
  free(data);
  return data ? OK : INVALID;
}
FN(cuMemcpyAsync, uint64_t to, uint64_t from, size_t bytes, stream *s) {
  node n = {'c', 0, {to, from, bytes}};
  if (!depth || (!is_device(to, bytes) && !is_device(from, bytes)))
    return INVALID;
  return submit(s, &n);
}

/* ---- Streams, graphs, events -----------------------------------------------
 */

FN(cuStreamCreate, stream **s, unsigned flags) {
  *s = calloc(1, sizeof(**s));
  return *s && flags == 1 ? OK : INVALID;
}
FN(cuStreamDestroy_v2, stream *s) {
  free(s);
  return OK;
}
FN(cuStreamSynchronize, stream *s) {
  return s && s->capturing ? CAPTURING : OK;
}
FN(cuStreamBeginCapture_v2, stream *s, int mode) {
  s->capturing = calloc(1, sizeof(graph));
  return mode == 1 && s->capturing ? OK : INVALID;
}
FN(cuStreamEndCapture, stream *s, graph **g) {
  *g = s->capturing;
  s->capturing = NULL;
  return OK;
}
FN(cuGraphInstantiateWithFlags, graph **executable, const graph *g,
   unsigned long long flags) {
  *executable = malloc(sizeof(**executable));
  if (!*executable || flags)
    return INVALID;
  **executable = *g;
  return OK;
}
FN(cuGraphLaunch, const graph *g, stream *s) {
  __atomic_fetch_add(&num_graph_launches, 1, __ATOMIC_RELAXED);
  for (size_t i = 0; i < g->count; ++i) {
    int result = submit(s, &g->nodes[i]);
    if (result)
      return result;
  }
  return OK;
}
FN(cuGraphExecDestroy, graph *g) {
  free(g);
  return OK;
}
FN(cuGraphDestroy, graph *g) {
  free(g);
  return OK;
}
FN(cuEventCreate, void **event, unsigned flags) {
  *event = &dummy;
  return flags != 0;
}
FN(cuEventRecord, void *event, stream *s) {
  (void)s;
  return event ? OK : INVALID;
}
FN(cuEventSynchronize, void *event) { return event ? OK : INVALID; }
FN(cuEventElapsedTime, float *ms, void *begin, void *end) {
  *ms = 0.25f;
  return begin && end ? OK : INVALID;
}
FN(cuEventDestroy_v2, void *event) { return event ? OK : INVALID; }
