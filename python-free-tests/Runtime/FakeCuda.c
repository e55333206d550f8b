/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * A CUDA driver for machines without one: device memory is simulated, and the
 * kernels of hand-written modules run on the CPU. Launches and copies check
 * that they access device memory only. Addresses of the device are inaccessible
 * pages, so reading device memory without a copy crashes, as on a GPU. Built as
 * libcuda.so.1.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define API __attribute__((visibility("default")))
enum { OK = 0, INVALID = 1, NO_MEMORY = 2, BAD_ADDRESS = 700, CAPTURING = 900 };

typedef struct block {
  struct block *next;
  uintptr_t begin; /* on the device: reserved, not accessible */
  size_t bytes;
  char *storage; /* the contents */
} block;

#define MOST_CLEARED 64
#define MOST_NODES 64
typedef struct {
  char kernel; /* first letter of the name; 'c': a copy */
  unsigned grid;
  uint64_t arguments[8];
  /* of 'z': rows of an address, a step, bytes and a count */
  uint64_t table[MOST_CLEARED][4];
  unsigned rows;
  size_t number;     /* in its graph */
  const char *name;  /* of a kernel */
  void *pointers[8]; /* to the arguments */
} node;

typedef struct {
  size_t count;
  node nodes[MOST_NODES];
} graph;

typedef struct {
  graph *capturing;
} stream;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static block *blocks, *reserved; /* the latter without storage */
static int64_t num_graph_launches, num_launches, num_overlaps, num_maps,
    num_clusters, num_clears, num_updates, held_bytes;
static int64_t copied_bytes[2]; /* from the host, to the host */

/* Queries of the tests. */
API int64_t fake_cuda_graph_launches(void);
API int64_t fake_cuda_launches(void);
API int64_t fake_cuda_clears(void);
API int64_t fake_cuda_updates(void);
API int64_t fake_cuda_overlaps(void);
API int64_t fake_cuda_clusters(void);
API int64_t fake_cuda_maps(void);
API int64_t fake_cuda_held_bytes(void);
API int64_t fake_cuda_bytes_in(void);
API int64_t fake_cuda_bytes_out(void);
API const void *fake_cuda_storage(const void *address);
int64_t fake_cuda_graph_launches(void) { return num_graph_launches; }
int64_t fake_cuda_launches(void) { return num_launches; }
int64_t fake_cuda_clears(void) { return num_clears; }
int64_t fake_cuda_updates(void) { return num_updates; }
int64_t fake_cuda_overlaps(void) { return num_overlaps; }
int64_t fake_cuda_clusters(void) { return num_clusters; }
int64_t fake_cuda_maps(void) { return num_maps; }
int64_t fake_cuda_held_bytes(void) { return held_bytes; }
int64_t fake_cuda_bytes_in(void) { return copied_bytes[0]; }
int64_t fake_cuda_bytes_out(void) { return copied_bytes[1]; }

/* Returns the host address of the bytes at a device address; null for other
 * addresses. */
static void *storage_of(uintptr_t address, size_t bytes) {
  char *found = NULL;
  pthread_mutex_lock(&mutex);
  for (block *b = blocks; b && !found; b = b->next)
    if (address >= b->begin && address + bytes <= b->begin + b->bytes)
      found = b->storage + (address - b->begin);
  pthread_mutex_unlock(&mutex);
  return found;
}

const void *fake_cuda_storage(const void *address) {
  return storage_of((uintptr_t)address, 1);
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
  if (attribute == 16) { /* multiprocessors */
    *value = 2;
    return OK;
  }
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
                   strstr(image, ".entry mapped") ||
                   strstr(image, ".entry adze_check_range(") ||
                   strstr(image, ".entry adze_clear("))
             ? OK
             : INVALID;
}
FN(cuModuleUnload, void *module) { return module ? OK : INVALID; }
FN(cuModuleGetFunction, const char **function, void *module, const char *name) {
  *function = !strcmp(name, "adze_check_range") ? "guard"
              : !strcmp(name, "adze_clear")     ? "zero"
                                                : name;
  return module ? OK : INVALID;
}
FN(cuFuncSetAttribute, void *function, int attribute, int value) {
  (void)function;
  (void)attribute;
  return value < 0;
}

/* ---- Tensor maps ----------------------------------------------------------
 */

typedef struct {
  uint64_t address, sizes[2], stride;
  uint32_t box[2];
} tensor_map;

FN(cuTensorMapEncodeTiled, tensor_map *map, int type, uint32_t rank,
   void *address, const uint64_t *sizes, const uint64_t *strides,
   const uint32_t *box, const uint32_t *steps, int interleave, int swizzle,
   int promotion, int fill) {
  if ((uintptr_t)map % 64 || (uintptr_t)address % 16 || strides[0] % 16 ||
      type != 6 || rank != 2 || steps[0] != 1 || interleave || swizzle != 3 ||
      promotion < 0 || fill)
    return INVALID;
  __atomic_fetch_add(&num_maps, 1, __ATOMIC_RELAXED);
  *map = (tensor_map){
      (uintptr_t)address, {sizes[0], sizes[1]}, strides[0], {box[0], box[1]}};
  return OK;
}

/* One block per multiprocessor, of which there are two: they share one program.
 * Its map is that of its first tensor: rows of 8 numbers of 16 bits, in boxes
 * of every second of 4 rows. */
static int check_mapped(unsigned grid, void **arguments) {
  const tensor_map *map = arguments[5];
  uint64_t rows = *(const uint64_t *)arguments[2],
           programs = *(const uint64_t *)arguments[3];
  return map->address == *(const uint64_t *)arguments[0] &&
                 map->sizes[0] == 8 && map->sizes[1] == rows &&
                 map->stride == 16 && map->box[0] == 8 && map->box[1] == 7 &&
                 programs == rows && grid == 2
             ? OK
             : INVALID;
}

/* The last arguments: symbols, programs, faults; not for the check of
 * ranges. */
static int count_arguments(char kernel) {
  return kernel == 'a'                                     ? 8
         : kernel == 'r' || kernel == 'g' || kernel == 'm' ? 6
                                                           : 5;
}

static int64_t load_integer(const void *place, uint64_t bytes) {
  return bytes == 4 ? *(const int32_t *)place : *(const int64_t *)place;
}

/* The function of the PTX of runtime/lib/CudaKernels.c. */
static int run_check(const node *n) {
  uint64_t bytes = n->arguments[3];
  int64_t *record = (int64_t *)(uintptr_t)n->arguments[0]; /* pinned memory */
  const void *at_least = storage_of(n->arguments[1], bytes),
             *at_greatest = storage_of(n->arguments[2], bytes);
  if (!record || storage_of(n->arguments[0], 1) || !at_least || !at_greatest)
    return BAD_ADDRESS;
  int64_t least = load_integer(at_least, bytes),
          greatest = load_integer(at_greatest, bytes),
          low = (int64_t)n->arguments[4], high = (int64_t)n->arguments[5];
  if (least >= low && greatest < high)
    return OK;
  record[1] = least < low ? least : greatest;
  record[2] = low;
  record[3] = high;
  record[0] = 1;
  return OK;
}

static void run_add(float *const *places, int64_t b, int64_t len) {
  for (int64_t i = b * len; i < (b + 1) * len; ++i)
    places[3][i] = places[0][i] + places[1][i] * places[2][0];
}

static void run_rows(const node *n, float *const *places, int64_t *fault,
                     int64_t b, int64_t len) {
  float value = 0;
  for (int64_t i = b * len; i < (b + 1) * len; ++i)
    value += places[0][i];
  places[1][b] = value;
  if (value > 1e30f) {
    fault[1] = b;
    fault[2] = n->grid;
    fault[0] = 1;
  }
}

static int run_kernel(const node *n) {
  int count = count_arguments(n->kernel);
  int64_t *faults = (int64_t *)(uintptr_t)n->arguments[count - 1];
  if (!faults || storage_of(n->arguments[count - 1], 1))
    return BAD_ADDRESS;
  float *places[4];
  for (int i = 0; i < count - 4; ++i)
    if (!(places[i] = storage_of(n->arguments[i], sizeof(float))))
      return BAD_ADDRESS;
  if (n->arguments[count - 2] != n->grid)
    return INVALID;
  int64_t len = (int64_t)n->arguments[count - 3];
  for (int64_t b = 0; b < n->grid; ++b)
    if (n->kernel == 'a')
      run_add(places, b, len);
    else if (n->kernel == 'r')
      run_rows(n, places, faults, b, len);
    else
      places[0][b] = b ? 1.5e-38f * 0.5f : 1e-40f + 1e-40f;
  return OK;
}

/* One of the two is on the device; the other one may be, too. */
static int run_copy(const node *n) {
  void *to = storage_of(n->arguments[0], n->arguments[2]),
       *from = storage_of(n->arguments[1], n->arguments[2]);
  if (!to && !from)
    return INVALID;
  memmove(to ? to : (void *)(uintptr_t)n->arguments[0],
          from ? from : (void *)(uintptr_t)n->arguments[1], n->arguments[2]);
  return OK;
}

/* Adds 1 to each number. */
static int run_mapped(const node *n) {
  uint64_t count = n->arguments[2] * 8;
  const uint16_t *x = storage_of(n->arguments[0], count * 2);
  uint16_t *y = storage_of(n->arguments[1], count * 2);
  if (!x || !y)
    return BAD_ADDRESS;
  for (uint64_t i = 0; i < count; ++i)
    y[i] = (uint16_t)(x[i] + 1);
  return OK;
}

/* The function of the PTX of runtime/lib/CudaKernels.c. */
static int run_clear(const node *n) {
  for (unsigned row = 0; row < n->rows; ++row)
    for (uint64_t i = 0; i < n->table[row][3]; ++i) {
      void *storage =
          storage_of(n->table[row][0] + i * n->table[row][1], n->table[row][2]);
      if (!storage)
        return BAD_ADDRESS;
      memset(storage, 0, n->table[row][2]);
    }
  return OK;
}

static int run(const node *n) {
  return n->kernel == 'c'   ? run_copy(n)
         : n->kernel == 'z' ? run_clear(n)
         : n->kernel == 'm' ? run_mapped(n)
         : n->kernel == 'g' ? run_check(n)
                            : run_kernel(n);
}

static int submit(stream *s, const node *n) {
  if (!s || !s->capturing)
    return run(n);
  if (s->capturing->count == MOST_NODES)
    return INVALID;
  node *made = &s->capturing->nodes[s->capturing->count];
  *made = *n;
  made->number = s->capturing->count++;
  return OK;
}

/* Sets the arguments of a kernel node. */
static int set_arguments(node *n, const char *name, unsigned grid,
                         unsigned rows, void **arguments) {
  n->name = name;
  n->kernel = name[0];
  n->grid = grid;
  n->rows = rows;
  if (n->kernel == 'z') {
    memcpy(n->table, arguments[0], rows * sizeof(n->table[0]));
    return OK;
  }
  if (n->kernel == 'm' && check_mapped(grid, arguments))
    return INVALID;
  for (int i = 0; i < count_arguments(n->kernel); ++i)
    n->arguments[i] = *(const uint64_t *)arguments[i];
  return OK;
}

FN(cuLaunchKernel, const char *name, unsigned x, unsigned y, unsigned z,
   unsigned bx, unsigned by, unsigned bz, unsigned shared, stream *s,
   void **arguments, void **extra) {
  bool clears = name[0] == 'z';
  if (!depth || (y != 1 && !clears) || y > MOST_CLEARED || z != 1 || !bx ||
      by != 1 || bz != 1 || shared || extra)
    return INVALID;
  node n = {0};
  int result = set_arguments(&n, name, x, y, arguments);
  if (result)
    return result;
  __atomic_fetch_add(clears ? &num_clears : &num_launches, 1, __ATOMIC_RELAXED);
  return submit(s, &n);
}

/* The launch's layout is that of the driver. */
typedef struct {
  int id, pad;
  unsigned values[16];
} launch_attribute;
typedef struct {
  unsigned grid[3], block[3], shared;
  stream *s;
  const launch_attribute *attributes;
  unsigned num_attributes;
} launch_config;

FN(cuDriverGetVersion, int *version) {
  *version = 12030;
  return OK;
}

FN(cuLaunchKernelEx, const launch_config *config, const char *name,
   void **arguments, void **extra) {
  if (!config->num_attributes)
    return INVALID;
  for (unsigned i = 0; i < config->num_attributes; ++i) {
    const launch_attribute *attribute = &config->attributes[i];
    const unsigned *values = attribute->values;
    if (attribute->id == 6 && values[0])
      __atomic_fetch_add(&num_overlaps, 1, __ATOMIC_RELAXED);
    else if (attribute->id == 4 && values[0] > 1 && values[0] <= 8 &&
             config->grid[0] % values[0] == 0 && values[1] == 1 &&
             values[2] == 1)
      __atomic_fetch_add(&num_clusters, config->grid[0] / values[0],
                         __ATOMIC_RELAXED);
    else
      return INVALID;
  }
  return cuLaunchKernel(name, config->grid[0], config->grid[1], config->grid[2],
                        config->block[0], config->block[1], config->block[2],
                        config->shared, config->s, arguments, extra);
}

/* ---- Memory ---------------------------------------------------------------
 */

/* Addresses stay reserved when memory is freed, and are reused for the same
 * size: the dynamic loader would map modules there, which ThreadSanitizer does
 * not detect. */
static block *take_reserved(size_t bytes) {
  pthread_mutex_lock(&mutex);
  block **at = &reserved;
  while (*at && (*at)->bytes != bytes)
    at = &(*at)->next;
  block *b = *at;
  if (b)
    *at = b->next;
  pthread_mutex_unlock(&mutex);
  if (b)
    return b;
  b = malloc(sizeof(*b));
  void *begin = b ? mmap(NULL, bytes, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                  : MAP_FAILED;
  if (begin == MAP_FAILED) {
    free(b);
    return NULL;
  }
  *b = (block){NULL, (uintptr_t)begin, bytes, NULL};
  return b;
}

FN(cuMemAlloc_v2, uint64_t *address, size_t bytes) {
  if (!depth || !bytes || bytes > (size_t)1 << 40)
    return NO_MEMORY;
  char *storage = malloc(bytes);
  block *b = storage ? take_reserved(bytes) : NULL;
  if (!b) {
    free(storage);
    return NO_MEMORY;
  }
  memset(storage, 0xff, bytes);
  pthread_mutex_lock(&mutex);
  b->storage = storage;
  b->next = blocks;
  blocks = b;
  held_bytes += (int64_t)bytes;
  pthread_mutex_unlock(&mutex);
  *address = b->begin;
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
  char *storage = b ? b->storage : NULL;
  if (b) {
    b->storage = NULL;
    b->next = reserved;
    reserved = b;
  }
  pthread_mutex_unlock(&mutex);
  free(storage);
  return b ? OK : INVALID;
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
  node n = {.kernel = 'c', .arguments = {to, from, bytes}};
  int in = storage_of(to, bytes) != NULL, out = storage_of(from, bytes) != NULL;
  if (!depth || (!in && !out))
    return INVALID;
  if (in != out)
    __atomic_fetch_add(&copied_bytes[out], (int64_t)bytes, __ATOMIC_RELAXED);
  return submit(s, &n);
}

FN(cuMemsetD8Async, uint64_t to, unsigned char value, size_t bytes, stream *s) {
  void *storage = storage_of(to, bytes);
  if (!depth || !storage || (s && s->capturing))
    return INVALID;
  memset(storage, value, bytes);
  return OK;
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
FN(cuGraphGetNodes, graph *g, node **nodes, size_t *count) {
  for (size_t i = 0; nodes && i < g->count && i < *count; ++i)
    nodes[i] = &g->nodes[i];
  *count = g->count;
  return OK;
}
/* The parameters' layout is that of the driver. */
typedef struct {
  const char *name;
  unsigned grid[3], block[3], shared;
  void **arguments, **extra;
  void *kernel, *context;
} kernel_node;
FN(cuGraphKernelNodeGetParams_v2, node *n, kernel_node *parameters) {
  if (n->kernel == 'c')
    return INVALID;
  for (int i = 0; i < 8; ++i)
    n->pointers[i] = &n->arguments[i];
  if (n->kernel == 'z')
    n->pointers[0] = n->table;
  *parameters = (kernel_node){
      .name = n->name, .grid = {n->grid, n->rows, 1}, .arguments = n->pointers};
  return OK;
}
FN(cuGraphExecKernelNodeSetParams_v2, graph *executable, const node *n,
   const kernel_node *parameters) {
  __atomic_fetch_add(&num_updates, 1, __ATOMIC_RELAXED);
  node *own = &executable->nodes[n->number];
  if (own->name != parameters->name || !parameters->block[0] ||
      parameters->extra || parameters->shared)
    return INVALID;
  return set_arguments(own, parameters->name, parameters->grid[0],
                       parameters->grid[1], parameters->arguments);
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
