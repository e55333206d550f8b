/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Counts what each launch of a module stores:   written-bytes MODULE.so [DIM]
 * The bytes in memory that a launch changes have to be as many as the module
 * says in its profile, and lie in the places of the launch's results; so no
 * kernel stores an intermediate tensor. What it keeps of its own lies in its
 * scratch memory, within the bytes that the module lists for it.
 *
 * The module's host program runs between two layers: this program's table of
 * functions takes each launch and lets the run time do it from the memory as it
 * is, and with the bits of the results' places turned around: a byte that is
 * stored changes at least once, whatever its value is. An operand in the memory
 * of a result is read from a copy, so that these bits have no effect on it.
 * DIM: every dynamic dim.
 */
#include "adze_module.h"
#include "seeded-inputs.h"

#include <dlfcn.h>
#include <string.h>

enum { MAX_REGIONS = 64, MAX_WINDOWS = 64 };

/* Memory that kernels may write, and its previous contents. */
typedef struct {
  unsigned char *data, *before, *given, *after, *changed;
  uint64_t bytes, capacity;
} region;

/* Bytes [begin, end) of it. */
typedef struct {
  unsigned char *begin, *end;
} window;

static const adze_module_desc *module_desc;
static adze_module_desc observed;
static const adze_host_table *host;
static const int64_t *symbols;
static region regions[MAX_REGIONS];
static int num_regions;
static int num_launches, num_wrong;
static uint64_t total_bytes, most_scratch;

static uint64_t value_of(adze_formula_fn formula) {
  int64_t value = formula ? formula(symbols) : 0;
  return value > 0 ? (uint64_t)value : 0;
}

static void set_region(int index, void *data, uint64_t size) {
  region *r = &regions[index];
  if (size > r->capacity) {
    unsigned char **copies[] = {&r->before, &r->given, &r->after, &r->changed};
    for (int i = 0; i < 4; ++i)
      if (!(*copies[i] = realloc(*copies[i], size)))
        exit(1);
    r->capacity = size;
  }
  r->data = data;
  r->bytes = size;
}

static void add_region(void *data, uint64_t size) {
  for (int i = 1; i < num_regions; ++i)
    if (regions[i].data == data) {
      set_region(i, data, size);
      return;
    }
  if (num_regions == MAX_REGIONS) {
    fprintf(stderr, "written-bytes: expected at most %d pieces of memory\n",
            MAX_REGIONS);
    exit(1);
  }
  set_region(num_regions++, data, size);
}

/* ---- One launch ---------------------------------------------------------- */

static uint64_t scratch_of(uint32_t kernel) {
  uint64_t most = 0;
  for (uint32_t v = 0; v < module_desc->num_variants; ++v) {
    uint64_t size =
        value_of(module_desc->variants[v].kernels[kernel].scratch_bytes);
    most = size > most ? size : most;
  }
  return most;
}

/* A result is between its pointer and the next one of the launch. */
static int find_windows(const adze_module_kernel *info, void *const *ptrs,
                        window *windows) {
  int found = 0;
  for (uint32_t i = info->num_ptrs - info->num_outputs; i < info->num_ptrs;
       ++i) {
    unsigned char *begin = ptrs[i], *end = NULL;
    for (int r = 0; r < num_regions; ++r)
      if (begin >= regions[r].data &&
          begin < regions[r].data + regions[r].bytes)
        end = regions[r].data + regions[r].bytes;
    for (int w = 0; w < found; ++w) /* an empty result before another one */
      if (windows[w].begin == begin)
        end = NULL;
    if (!end || found == MAX_WINDOWS)
      continue;
    for (uint32_t k = 0; k < info->num_ptrs; ++k) {
      unsigned char *other = ptrs[k];
      if (other > begin && other < end)
        end = other;
    }
    windows[found++] = (window){begin, end};
  }
  return found;
}

/* Loops over bytes that share no memory with one another or with a region's
 * description: the compiler vectorizes these. */
static void mark_changed(unsigned char *restrict changed,
                         const unsigned char *restrict data,
                         const unsigned char *restrict given, uint64_t bytes) {
  for (uint64_t b = 0; b < bytes; ++b)
    changed[b] |= data[b] != given[b];
}

static uint64_t count_changed(const unsigned char *restrict changed,
                              uint64_t bytes) {
  uint64_t count = 0;
  for (uint64_t b = 0; b < bytes; ++b)
    count += changed[b];
  return count;
}

/* How many bytes of a region changed in the windows. These are disjoint: each
 * ends where the next pointer is. */
static uint64_t count_inside(const region *r, const window *windows, int n) {
  uint64_t count = 0;
  for (int w = 0; w < n; ++w) {
    const unsigned char *begin = windows[w].begin, *end = r->data + r->bytes;
    if (begin < r->data || begin >= end)
      continue;
    if (windows[w].end < end)
      end = windows[w].end;
    count +=
        count_changed(r->changed + (begin - r->data), (uint64_t)(end - begin));
  }
  return count;
}

/* Returns the pointers of a launch, with copies of the operands that are at the
 * address of a result. */
static void **copy_operands(const adze_module_kernel *info, void *const *ptrs,
                            const window *windows, int n) {
  uint32_t inputs = info->num_ptrs - info->num_outputs;
  void **own = malloc(info->num_ptrs * sizeof(void *));
  if (!own)
    exit(1);
  memcpy(own, ptrs, info->num_ptrs * sizeof(void *));
  for (int w = 0; w < n; ++w)
    for (uint32_t k = 0; k < inputs; ++k) {
      size_t size = (size_t)(windows[w].end - windows[w].begin);
      if (ptrs[k] != windows[w].begin || own[k] != ptrs[k])
        continue;
      own[k] = aligned_alloc(64, (size + 63) / 64 * 64 + 64);
      if (!own[k])
        exit(1);
      memcpy(own[k], ptrs[k], size);
    }
  return own;
}

static void free_operands(const adze_module_kernel *info, void *const *ptrs,
                          void **own) {
  for (uint32_t k = 0; k < info->num_ptrs; ++k)
    if (own[k] != ptrs[k])
      free(own[k]);
  free(own);
}

/* Lets the run time do the launch with the windows' bits turned, and marks what
 * changes. */
static int32_t try_launch(adze_exec *exec, uint32_t kernel, void *const *ptrs,
                          const window *windows, int n, int round) {
  for (int i = 0; i < num_regions; ++i)
    memcpy(regions[i].data, regions[i].before, regions[i].bytes);
  for (int w = 0; w < n; ++w)
    for (unsigned char *byte = windows[w].begin, *end = windows[w].end;
         byte < end; ++byte)
      *byte ^= round ? 0xff : 0;
  for (int i = 0; i < num_regions; ++i)
    memcpy(regions[i].given, regions[i].data, regions[i].bytes);
  int32_t code = host->launch(exec, kernel, ptrs);
  for (int i = 0; i < num_regions; ++i) {
    region *r = &regions[i];
    mark_changed(r->changed, r->data, r->given, r->bytes);
    if (round == 0)
      memcpy(r->after, r->data, r->bytes);
  }
  return code;
}

static void complain(const adze_module_kernel *info, const char *what,
                     uint64_t expected, uint64_t got) {
  ++num_wrong;
  fprintf(stderr, "kernel %s: expected %llu bytes %s, but got %llu\n",
          info->name, (unsigned long long)expected, what,
          (unsigned long long)got);
}

static int32_t launch(adze_exec *exec, uint32_t kernel, void *const *ptrs) {
  const adze_module_kernel *info = &module_desc->kernels[kernel];
  window windows[MAX_WINDOWS];
  /* The first region is scratch memory, of which this kernel has a part. */
  region *scratch = &regions[0];
  uint64_t own = scratch_of(kernel);
  most_scratch = own > most_scratch ? own : most_scratch;
  int n = find_windows(info, ptrs, windows);
  for (int i = 0; i < num_regions; ++i) {
    memcpy(regions[i].before, regions[i].data, regions[i].bytes);
    memset(regions[i].changed, 0, regions[i].bytes);
  }
  void **own_ptrs = copy_operands(info, ptrs, windows, n);
  int32_t code = try_launch(exec, kernel, own_ptrs, windows, n, /*round=*/0);
  if (!code)
    code = try_launch(exec, kernel, own_ptrs, windows, n, /*round=*/1);
  free_operands(info, ptrs, own_ptrs);
  if (code)
    return code;
  uint64_t stored = 0, outside = 0, kept = 0;
  for (int i = 0; i < num_regions; ++i) {
    region *r = &regions[i];
    memcpy(r->data, r->after, r->bytes);
    if (r == scratch) {
      if (r->bytes > own)
        kept += count_changed(r->changed + own, r->bytes - own);
      continue;
    }
    uint64_t inside = count_inside(r, windows, n);
    stored += inside;
    outside += count_changed(r->changed, r->bytes) - inside;
  }
  uint64_t expected = value_of(info->bytes_written);
  if (stored != expected)
    complain(info, "of results", expected, stored);
  if (outside)
    complain(info, "outside of results", 0, outside);
  if (kept)
    complain(info, "behind its scratch memory", 0, kept);
  ++num_launches;
  total_bytes += stored;
  return 0;
}

/* ---- The host program ---------------------------------------------------- */

static void *alloc(adze_exec *exec, uint64_t size) {
  void *data = host->alloc(exec, size);
  if (data)
    add_region(data, size);
  return data;
}

static void *reserve(adze_exec *exec, uint32_t box, uint64_t size,
                     uint64_t keep) {
  static void *boxes[MAX_REGIONS];
  void *data = host->reserve(exec, box, size, keep);
  if (!data || box >= MAX_REGIONS)
    return data;
  for (int i = 0; i < num_regions; ++i)
    if (boxes[box] && regions[i].data == boxes[box])
      set_region(i, data, size);
  boxes[box] = data;
  add_region(data, size);
  return data;
}

static uint64_t output_bytes(uint32_t index, const int64_t *dims) {
  const adze_module_value *value = &module_desc->outputs[index];
  uint64_t size = 1;
  for (uint32_t d = 0; d < value->rank; ++d) {
    if (dims[d] < 0)
      return 0; /* data-dependent */
    size *= (uint64_t)dims[d];
  }
  return (size * value->dtype_bits + 7) / 8;
}

static void *output(adze_exec *exec, uint32_t index, const int64_t *dims) {
  void *data = host->output(exec, index, dims);
  if (data)
    add_region(data, output_bytes(index, dims));
  return data;
}

static int32_t observed_run(const adze_host_table *table, adze_exec *exec,
                            void *const *in, void *const *out, void *arena,
                            const void *weights, const int64_t *syms) {
  host = table;
  symbols = syms;
  uint64_t arena_bytes = value_of(module_desc->arena_bytes), scratch = 0;
  for (uint32_t k = 0; k < module_desc->num_kernels; ++k)
    scratch = scratch_of(k) > scratch ? scratch_of(k) : scratch;
  set_region(0, (char *)arena + (arena_bytes + 63) / 64 * 64, scratch);
  num_regions = 1;
  if (arena_bytes)
    add_region(arena, arena_bytes);
  int64_t dims[MAX_VALUES * 16];
  module_desc->infer(syms, dims);
  const int64_t *next = dims;
  for (uint32_t i = 0; i < module_desc->num_outputs; ++i) {
    if (out[i])
      add_region(out[i], output_bytes(i, next));
    next += module_desc->outputs[i].rank;
  }
  adze_host_table own = *table;
  own.launch = launch;
  own.alloc = alloc;
  own.reserve = reserve;
  own.output = output;
  return module_desc->run(&own, exec, in, out, arena, weights, syms);
}

static const adze_module_desc *query(uint32_t abi) {
  return abi == ADZE_MODULE_ABI ? &observed : NULL;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: written-bytes MODULE.so [DIM]\n");
    return 2;
  }
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  adze_module_query_fn original = NULL;
  if (library)
    *(void **)&original = dlsym(library, ADZE_MODULE_QUERY);
  module_desc = original ? original(ADZE_MODULE_ABI) : NULL;
  if (!module_desc || module_desc->size != sizeof observed) {
    fprintf(stderr,
            "written-bytes: expected a module of this version, but got "
            "'%s'\n",
            argv[1]);
    return 1;
  }
  observed = *module_desc;
  observed.run = observed_run;

  adze_options *options;
  adze_module *module;
  adze_context *context;
  check(adze_options_create(&options));
  check(adze_options_set(options, "threads", "1"));
  check(adze_module_link((adze_query_fn)query, options, &module));
  check(adze_context_create(module, (DLDevice){kDLCPU, 0}, &context));
  make_inputs(module, argc > 2 ? strtoll(argv[2], NULL, 10) : 3);
  DLManagedTensorVersioned *results[MAX_VALUES];
  run(context, results);
  printf("%d launches store %llu bytes of results, and keep at most %llu bytes "
         "of their own\n",
         num_launches, (unsigned long long)total_bytes,
         (unsigned long long)most_scratch);

  for (int32_t i = 0; i < num_outputs; ++i)
    results[i]->deleter(results[i]);
  adze_context_release(context);
  adze_module_release(module);
  adze_options_release(options);
  free_inputs();
  return num_wrong != 0;
}
