/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Declarations that the files of the run time share. Names start with rt_;
 * adze_ is for the public API and the module ABI.
 * */
#ifndef ADZE_RUNTIME_H
#define ADZE_RUNTIME_H

#include "adze.h"
#include "adze_module.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define RT_ALIGNMENT 64u

/* The address of tensors without elements: kernels may load the first element
 * and ignore it. */
extern const char rt_nothing[];

/* ---- Status (Status.c) ------------------------------------------------- */

/* printf-like; returns a static status if the allocation fails. */
adze_status rt_error(adze_code code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
adze_status rt_out_of_memory(uint64_t bytes);
/* Returns the code of a system error: ADZE_OUT_OF_MEMORY or ADZE_IO_ERROR. */
adze_code rt_errno_code(int error);

#define RT_TRY(expression)                                                     \
  do {                                                                         \
    adze_status rt_try_status = (expression);                                  \
    if (rt_try_status)                                                         \
      return rt_try_status;                                                    \
  } while (0)

/* ---- Growing text (Text.c) --------------------------------------------- */

/* A failed allocation sets `failed` permanently; `data` is null-terminated. */
typedef struct {
  char *data;
  size_t size, capacity;
  bool failed;
} rt_text;

void rt_text_add(rt_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A JSON string with its quotes. */
void rt_text_add_json(rt_text *text, const char *string);
void rt_text_free(rt_text *text);

/* ---- Options (Options.c) ----------------------------------------------- */

/* The parts that are verified by checksums: nothing, code and tables, or also
   weights. */
typedef enum { RT_VERIFY_OFF, RT_VERIFY_CODE, RT_VERIFY_ALL } rt_verify;

struct adze_options {
  int32_t threads;
  int32_t spin_us;
  rt_verify verify;
  bool cuda_graphs;
  char variant[64];
  char weights[1024];
  adze_allocate_fn allocate;
  adze_deallocate_fn deallocate;
  void *allocator_user;
  adze_parallel_for_fn parallel_for;
  void *parallel_user;
  adze_log_fn log;
  void *log_user;
};

void rt_options_init(adze_options *options);
void rt_log(const adze_options *options, adze_log_level level,
            const char *format, ...) __attribute__((format(printf, 3, 4)));

/* ---- Memory (Memory.c) ------------------------------------------------- */

/* How many blocks of memory a module keeps, and their bytes in all. */
#define RT_MOST_KEPT 4
#define RT_MOST_KEPT_BYTES ((uint64_t)512 << 20)

typedef struct {
  void *data; /* null: none */
  uint64_t bytes;
} rt_kept;

/* Counts the memory of the allocator hook. Outputs may outlive the module, so
 * the counters have their own lifetime. */
typedef struct {
  atomic_int references;
  adze_allocate_fn allocate;
  adze_deallocate_fn deallocate;
  void *user;
  atomic_uint_fast64_t current, peak, allocations;
  atomic_flag busy;           /* guards the kept blocks */
  rt_kept kept[RT_MOST_KEPT]; /* the latest first */
} rt_memory;

rt_memory *rt_memory_create(const adze_options *options);
void rt_memory_retain(rt_memory *memory);
void rt_memory_release(rt_memory *memory);
/* Returns memory aligned to 64; null on failure. */
void *rt_memory_take(rt_memory *memory, uint64_t bytes);
void rt_memory_give(rt_memory *memory, void *data, uint64_t bytes);
/* Take and give the memory of an output. Large blocks are kept for outputs of
 * the same size, since the system clears the pages of new ones, unless they are
 * those of an allocator hook. */
void *rt_memory_take_output(rt_memory *memory, uint64_t bytes);
void rt_memory_give_output(rt_memory *memory, void *data, uint64_t bytes);
/* Counts memory that is allocated elsewhere (on a device). */
void rt_memory_count(rt_memory *memory, int64_t bytes);

/* ---- Threads (ThreadPool.c) -------------------------------------------- */

typedef struct rt_pool rt_pool;

/* Runs one lane of a job. Lanes run concurrently and divide the work
 * dynamically. A lane may not run at all. */
typedef void (*rt_lane_fn)(void *data, int32_t lane);

/* `threads` counts the caller. Null on failure. */
rt_pool *rt_pool_create(int32_t threads, int32_t spin_us);
void rt_pool_destroy(rt_pool *pool);
/* Runs up to `lanes` lanes, lane 0 on the calling thread, and returns when all
 * that started have finished. While another thread uses the pool, lane 0 runs
 * alone: every lane must be able to do all of the work. */
void rt_pool_run(rt_pool *pool, int32_t lanes, rt_lane_fn run, void *data);
int32_t rt_usable_cpus(void);

/* ---- The file before dlopen (ModuleFile.c, CpuFeatures.c) --------------- */

/* Checks the headers and notes of the file; `note` is written on success. */
adze_status rt_check_module_file(int fd, const char *name, bool verify,
                                 adze_module_note *note);
/* Sets *found to false if the module contains its weights. */
adze_status rt_read_weights_note(int fd, const char *name,
                                 adze_module_weights_note *note, bool *found);
uint32_t rt_crc32(uint32_t crc, const void *data, size_t size);

uint64_t rt_cpu_features(void);
/* Requests the AMX registers from the system; false if it denies them. */
bool rt_cpu_request_amx(void);
/* Appends the names of the features, "avx2, fma". */
void rt_cpu_feature_names(uint64_t features, rt_text *text);

/* ---- The descriptor (Descriptor.c) --------------------------------------- */

/* A module's descriptor in the layout of this version of adze_module.h. */
typedef struct rt_descriptor rt_descriptor;

/* Checks a descriptor of any ABI that this run time supports. Fields that the
 * module does not have are zero in the result; arrays are shared with the
 * module if their row size is the current one. */
adze_status rt_descriptor_create(const adze_module_desc *from,
                                 rt_descriptor **descriptor);
const adze_module_desc *rt_descriptor_get(const rt_descriptor *descriptor);
void rt_descriptor_free(rt_descriptor *descriptor);

/* ---- Modules (Module.c, ModuleInfo.c) ----------------------------------- */

typedef struct rt_operator rt_operator;
typedef struct rt_device rt_device;
typedef struct rt_prefault rt_prefault;

struct adze_module {
  atomic_int references;
  /* Null, or the module whose program for devices this is: it owns this module,
   * counts the references and checks the weights. */
  adze_module *owner;
  adze_module *for_devices; /* null: this module is the program for devices */
  /* Null, or the module whose weights runs use (WeightsSwap.c). It changes with
   * `mutex` held. */
  _Atomic(adze_module *) newer;
  const adze_module_desc *desc;    /* in the current layout */
  rt_descriptor *descriptor;       /* owns it */
  char *path;                      /* for messages: as the caller gave it */
  const adze_cpu_variant *variant; /* null: no CPU variant runs here */
  adze_options options;
  const void *weights; /* the descriptor's, or those of a separate file */
  void *mapping;       /* of that file, or null */
  char *weights_path;  /* of that file, or null */
  size_t mapping_bytes;
  rt_prefault *prefault; /* null: not needed, or not supported */
  rt_memory *memory;
  bool only_tensors; /* the signature has only tensors */
  void *library;     /* of dlopen; null for a linked module */
  int fd;            /* -1, or the file of a module from memory */
  adze_value_info *inputs, *outputs;
  /* The state of each input and each output, or null. */
  const adze_state **input_states, **output_states;
  void *info_storage;
  pthread_mutex_t weights_mutex; /* held while the weights are checked */
  atomic_bool weights_checked;   /* or verification is disabled */
  /* Null, or the computed weights. They are set with `weights_mutex` held. */
  _Atomic(void *) computed;
  pthread_mutex_t mutex;  /* guards what follows */
  rt_operator *operators; /* list, the last one registered first */
  rt_pool *pool;
  rt_device *devices; /* list */
  char *json;
};

/* Takes ownership of `library` and `fd`, also on failure. `path` (may be NULL)
 * is the absolute path of the module, `name` its name in messages. */
adze_status rt_module_adopt(const adze_module_desc *desc, void *library, int fd,
                            const char *path, const char *name,
                            const adze_options *options, adze_module **module);
/* Returns the program that runs on such devices: the module itself or its
   program for devices. */
adze_module *rt_module_for(adze_module *module, DLDevice device);
/* Checks the weights unless they have been checked or the options disable it
 * (WeightsCheck.c). */
adze_status rt_check_weights(adze_module *module);
/* Returns the module whose weights a run on the CPU uses: the module itself, or
 * that of the last adze_swap_weights. It is kept until it is released. */
adze_module *rt_weights_acquire(adze_module *module);
void rt_weights_release(adze_module *module, adze_module *source);
bool rt_has_swapped_weights(const adze_module *module);
/* Computes the weights that the module does not have, once
 * (ComputedWeights.c). */
adze_status rt_compute_weights(adze_module *module);
void rt_free_computed_weights(adze_module *module);
/* The most elements of a window of a transform. */
#define RT_MOST_WINDOW 64
/* XXH3 (64 bits, seed 0). */
uint64_t rt_checksum(const void *data, size_t bytes);
/* Maps weights of a separate file (WeightsFile.c). */
adze_status rt_map_weights(adze_module *module, int fd,
                           const char *module_path);
void rt_unmap_weights(adze_module *module);
/* Returns the path of the file with the weights, for messages. */
const char *rt_weights_name(const adze_module *module);
/* Maps the pages of a range on a separate thread (Prefault.c); returns null if
 * they are few or on failure. Null may be passed to rt_prefault_end. */
rt_prefault *rt_prefault_start(const void *data, uint64_t bytes);
/* Waits for the thread; unless `finish`, it skips the remaining pages. */
void rt_prefault_end(rt_prefault *prefault, bool finish);
adze_status rt_module_pool(adze_module *module, rt_pool **pool);
int32_t rt_module_threads(const adze_module *module);
adze_status rt_make_value_infos(adze_module *module);
const char *rt_dtype_name(DLDataType dtype, char *buffer, size_t size);

/* ---- Calls (Check.c) --------------------------------------------------- */

/* Checks the inputs and computes the values of symbols. */
adze_status rt_bind_inputs(const adze_module *module,
                           const DLTensor *const inputs[], int32_t count,
                           DLDevice device, int64_t *symbols);
/* Sets the number of rows of outputs with fewer than all rows. */
void rt_bind_last_rows(const adze_module *module, DLTensor *const outputs[],
                       int32_t count, int64_t *symbols);
/* Checks one input by itself; `symbols` is overwritten. */
adze_status rt_check_input(const adze_module *module, uint32_t index,
                           const DLTensor *tensor, DLDevice device,
                           int64_t *symbols);
adze_status rt_bind_shapes(const adze_module *module, const adze_shape *inputs,
                           int32_t count, int64_t *symbols);
/* Returns the error for input sizes that arena_bytes rejects with this code. */
adze_status rt_misfit(const adze_module_desc *desc, int64_t code,
                      const int64_t *symbols);
/* `dims` are the dims of all outputs by desc.infer: -1 is not checked. Outputs
 * may be NULL if the run allocates them. */
adze_status rt_check_outputs(const adze_module *module,
                             DLTensor *const outputs[], int32_t count,
                             DLDevice device, const int64_t *dims,
                             bool run_makes);
adze_status rt_check_output_dims(const adze_module *module, uint32_t index,
                                 const DLTensor *tensor, const int64_t *dims);
/* Rejects a module whose signature has types other than tensors. */
adze_status rt_check_only_tensors(const adze_module *module);
/* Returns the bytes from the first to the last element, including those of
 * other tensors between rows. */
uint64_t rt_tensor_span(const DLTensor *tensor);
/* Returns true if two checked tensors share memory, including that between
 * their rows; either may be null. */
bool rt_tensors_overlap(const DLTensor *a, const DLTensor *b);
/* Checks that outputs overlap neither each other nor inputs that they do not
 * continue. */
adze_status rt_check_overlap(const adze_module *module,
                             const DLTensor *const inputs[],
                             DLTensor *const outputs[]);
/* Returns false if the size does not fit in 63 bits. */
bool rt_tensor_bytes(DLDataType dtype, int32_t rank, const int64_t *dims,
                     uint64_t *bytes);
/* Returns the bytes of a checked tensor. */
static inline uint64_t rt_tensor_size(const DLTensor *tensor) {
  uint64_t bytes = 0;
  rt_tensor_bytes(tensor->dtype, tensor->ndim, tensor->shape, &bytes);
  return bytes;
}
static inline void *rt_tensor_data(const DLTensor *tensor) {
  return (char *)tensor->data + tensor->byte_offset;
}
static inline DLDataType rt_value_dtype(const adze_module_value *value) {
  DLDataType dtype = {value->dtype_code, value->dtype_bits, 1};
  return dtype;
}
static inline uint64_t rt_align_up(uint64_t bytes) {
  return (bytes + RT_ALIGNMENT - 1) / RT_ALIGNMENT * RT_ALIGNMENT;
}
/* Returns the number of symbols that kernels get: those of inputs, then
   data-dependent ones. */
static inline size_t rt_num_symbols(const adze_module *module) {
  return (size_t)module->desc->num_symbols + module->desc->num_data_symbols;
}
int32_t rt_total_output_rank(const adze_module_desc *desc);
/* Sets symbols to the smallest values of their ranges. */
void rt_smallest_symbols(const adze_module_desc *desc, int64_t *symbols);

/* ---- Contexts (Context.c) ---------------------------------------------- */

typedef struct {
  double begin_us, duration_us;
  uint32_t kernel; /* RT_WHOLE_RUN: a whole run; RT_COPY: rows of a state */
  uint32_t state;  /* of a copy */
  int32_t lanes;
  int64_t programs, flops, bytes_read, bytes_written;
} rt_event;
#define RT_WHOLE_RUN UINT32_MAX
#define RT_COPY (UINT32_MAX - 1)

typedef struct {
  bool on, failed;
  rt_event *events;
  size_t count, capacity;
  char *json;
} rt_profile;

/* The memory that a run needs, in bytes. */
typedef struct {
  uint64_t arena, arena_lower_bound;
  uint64_t scratch; /* of one lane */
  uint64_t total;
} rt_needs;

typedef struct rt_device_context rt_device_context;
typedef struct rt_string_table rt_string_table;
typedef struct rt_result rt_result;
typedef struct rt_overrides rt_overrides;

/* Memory that grows on demand, and is kept for later runs. */
typedef struct {
  void *data;
  uint64_t bytes;
} rt_box;

/* The buffer in which the program accesses a state in this run. */
typedef struct {
  enum {
    RT_STATE_IN_PLACE, /* in the input's buffer, which is also the output's */
    /* in the output's buffer, to which the old rows are copied */
    RT_STATE_COPY,
    RT_STATE_BOX /* in `box`, which is copied to the output afterwards */
  } mode;
  uint64_t pitch;      /* rows; 0: any */
  uint64_t past_pitch; /* of the input */
  rt_box box;
} rt_state;

struct adze_context {
  adze_module *module;
  DLDevice device;
  rt_pool *pool; /* null: the caller's, or one thread */
  int32_t lanes; /* of kernels on the CPU; 0: there are none */
  /* The shapes of the last run and values that depend on them. */
  bool bound;
  int64_t *symbols, *new_symbols;
  int64_t *output_dims;
  rt_needs needs;
  void **input_data, **output_data;
  adze_fault *faults; /* null: no kernel can raise one */
  /* Of the current run: the tensors of the caller, and where to store allocated
   * outputs (NULL: nowhere). */
  const DLTensor *const *inputs;
  DLTensor *const *outputs;
  DLManagedTensorVersioned **made;
  rt_box *boxes;    /* the module's, then one for scratch memory */
  rt_state *states; /* one for each of the module's */
  void *workspace;  /* arena, then scratch memory of each lane */
  uint64_t workspace_bytes;
  bool workspace_bound;         /* it belongs to the caller */
  rt_device_context *on_device; /* null on the CPU */
  rt_profile profile;
  /* Strings and values of this run by index, and the results of its last call
   * (Calls.h). */
  rt_string_table *strings;
  adze_value **values;
  size_t num_values, values_capacity;
  rt_result *results;
  uint32_t num_results;
  /* The operators of the module by row (Operators.c). */
  const rt_operator **operators;
  rt_overrides *overrides; /* null: there are no overridable weights */
  atomic_flag running;
};

/* Computes what a run in this context needs of the device's memory. */
adze_status rt_context_needs(const adze_context *context,
                             const int64_t *symbols, rt_needs *needs);
/* `lanes`: 0 if there is no scratch memory after the arena. */
adze_status rt_needs_of(const adze_module *module, int32_t lanes,
                        const int64_t *symbols, rt_needs *needs);
/* Prepares kernels on the CPU: threads and the number of lanes. */
adze_status rt_context_use_cpu(adze_context *context);
/* Allocates the memory that a run of the context needs. */
adze_status rt_context_reserve(adze_context *context);
/* Returns memory on the context's device, from the hook or the driver. */
adze_status rt_context_take(adze_context *context, uint64_t bytes, void **data);
void rt_context_give(adze_context *context, void *data, uint64_t bytes);
adze_status rt_context_enter(adze_context *context);
void rt_context_leave(adze_context *context);

/* ---- States (States.c) --------------------------------------------------- */

/* Chooses the buffer of each state; fails if an output overlaps its input
 * without continuing it. */
adze_status rt_states_choose(adze_context *context);
/* Copy states before a run to where the program works, and after it to where
 * the caller expects them. */
void rt_states_open(adze_context *context);
/* On a device: clears new rows of the states that the program requires to be 0,
 * except for those whose buffer is allocated later. */
adze_status rt_states_clear(adze_context *context);
adze_status rt_states_close(adze_context *context);
void rt_states_free(adze_context *context);
/* adze_host_table.state */
void *rt_host_state(adze_exec *exec, uint32_t state);

/* ---- Faults (Faults.c) --------------------------------------------------- */

adze_status rt_faults_create(adze_context *context);
/* Returns the error of the first raised record, and clears all records. */
adze_status rt_faults_take(adze_context *context);
/* Does the same if the launch raised one. */
adze_status rt_faults_take_of(adze_context *context,
                              const adze_module_kernel *kernel);
/* adze_host_table.print */
void rt_print(const char *kernel, const char *label, const int64_t *numbers,
              const void *values);
/* adze_host_table.check_range */
int32_t rt_check_range(adze_exec *exec, uint32_t fault, const void *least,
                       const void *greatest, uint32_t bytes, int64_t low,
                       int64_t high);

/* ---- Launches (Launch.c) ----------------------------------------------- */

/* Memory that the host program allocated. */
typedef struct rt_block {
  struct rt_block *next;
  void *data;
  uint64_t bytes;
} rt_block;

/* The state of one run. */
struct adze_exec {
  adze_context *context;
  rt_block *blocks;
  adze_status status;   /* of the first failure */
  const void *computed; /* weights */
};

/* Runs the host program on the context's checked and bound arguments. */
adze_status rt_execute(adze_context *context, const void *weights,
                       const void *computed);
/* Scratch memory for each lane of the context. */
typedef struct {
  void *data;
  uint64_t bytes; /* of one lane */
} rt_scratch;

/* Runs the programs in `steps` equal parts in sequence; each consists of
 * `groups` equal parts that depend only on their own previous steps. `scratch`
 * null: the memory after the arena. */
adze_status rt_launch_on_cpu(adze_context *context, uint32_t kernel,
                             void *const *ptrs, int64_t steps, int64_t groups,
                             const rt_scratch *scratch);
/* Records the first failure of a run; returns the code for the host program. */
int32_t rt_exec_fail(adze_exec *exec, adze_status status);

/* ---- Launches in steps (Steps.c) ---------------------------------------- */

/* The most groups, and the most shares of all groups. */
#define RT_MOST_SHARES 64

typedef struct {
  /* Runs programs [begin, end) on a lane. Their stores are visible to threads
   * that synchronize with later stores of the lane. */
  void (*run)(void *data, int32_t lane, int64_t begin, int64_t end);
  void *data;
  /* Set by rt_steps_init. Programs of a step, and the groups that they form. */
  int64_t programs, steps, parts;
  /* Groups, shares of each group, pieces of a share, as lanes take them. */
  int64_t groups, shares, pieces, lanes;
  bool divides; /* lanes share groups */
  struct {
    _Alignas(64) _Atomic int64_t done; /* finished pieces, of all steps */
    _Atomic int64_t inside;            /* lanes that are active */
  } group[RT_MOST_SHARES];
  struct {
    /* pieces that lanes have taken, of all steps */
    _Alignas(64) _Atomic int64_t taken;
  } share[RT_MOST_SHARES];
} rt_steps;

void rt_steps_init(rt_steps *steps, int64_t programs, int64_t count,
                   int64_t groups, int64_t lanes, bool divides);
/* Runs the work of a lane. Does not depend on other lanes taking part. */
void rt_steps_run(rt_steps *steps, int32_t lane);

/* ---- Data-dependent values (Data.c) -------------------------------- */

int32_t rt_data_read(adze_exec *exec, void *host, const void *place,
                     uint64_t bytes);
int32_t rt_data_write(adze_exec *exec, void *place, const void *host,
                      uint64_t bytes);
int32_t rt_data_bind(adze_exec *exec, const char *node, const int64_t *values,
                     const int64_t *symbols, uint32_t count);
void *rt_data_reserve(adze_exec *exec, uint32_t box, uint64_t bytes,
                      uint64_t keep);
void *rt_data_output(adze_exec *exec, uint32_t index, const int64_t *dims);
adze_status rt_box_grow(adze_context *context, rt_box *box, uint64_t bytes,
                        uint64_t keep);
void rt_boxes_free(adze_context *context);
/* Makes a tensor that owns its memory, on the context's device. */
adze_status rt_make_tensor(adze_context *context,
                           const adze_module_value *value, const int64_t *dims,
                           DLManagedTensorVersioned **tensor);

/* ---- Registered operators (Operators.c) -----------------------------------
 * */

/* Finds the functions of all operators; fails if one is not registered. */
adze_status rt_operators_find(adze_context *context);
void rt_operators_free(adze_module *module);

/* ---- Overridable weights (Overrides.c) ------------------------------------
 */

/* Returns the number of inputs without a default. */
static inline uint32_t rt_num_required(const adze_module *module) {
  return module->desc->num_inputs - (uint32_t)module->desc->num_defaults;
}
adze_status rt_overrides_create(adze_context *context);
void rt_overrides_free(adze_context *context);
/* Adds the context's values of inputs that the caller omits. */
adze_status rt_complete_inputs(adze_context *context,
                               const DLTensor *const **inputs,
                               int32_t *num_inputs);
/* Sets the address of each default in the weights of this run. */
void rt_place_defaults(adze_context *context, const DLTensor *const inputs[],
                       const void *weights);

/* ---- Strings and values by index (Strings.c, Calls.c) -------------------- */

void rt_strings_clear(adze_context *context);
void rt_strings_free(adze_context *context);

/* ---- Runs (Run.c) -------------------------------------------------------- */

/* Implements adze_run_alloc in a context that has been entered; values other
 * than tensors are represented by their indices. */
adze_status rt_run_alloc(adze_context *context, const DLTensor *const inputs[],
                         int32_t num_inputs,
                         DLManagedTensorVersioned *outputs[],
                         int32_t num_outputs);

/* ---- Floating-point state (FloatState.c) -------------------------------- */

/* sets the default, returns the old state */
uint64_t rt_float_state_enter(void);
void rt_float_state_leave(uint64_t state);

/* ---- Profile (Profile.c) ----------------------------------------------- */

double rt_now_us(void);
/* Waits briefly in a spin loop. */
void rt_relax(void);
/* Records one launch (or RT_WHOLE_RUN) that began at `begin`. */
void rt_profile_add(adze_context *context, uint32_t kernel, double begin,
                    double duration, int64_t programs, int32_t lanes);
/* Records a copy of `bytes` bytes of a state. */
void rt_profile_add_copy(adze_context *context, uint32_t state, double begin,
                         double duration, int64_t bytes, int32_t lanes);
void rt_profile_free(rt_profile *profile);

/* ---- CUDA (Cuda.c) ------------------------------------------------------ */

adze_status rt_cuda_attach(adze_context *context);
void rt_cuda_detach(adze_context *context);
void rt_cuda_release_devices(adze_module *module);
/* Runs on `stream`, or on the context's own stream if it is null. */
adze_status rt_cuda_run(adze_context *context, const DLTensor *const inputs[],
                        DLTensor *const outputs[], void *stream, bool wait);
int32_t rt_cuda_launch(adze_exec *exec, uint32_t kernel, void *const *ptrs,
                       int64_t steps, int64_t groups);
int32_t rt_cuda_check_range(adze_exec *exec, uint32_t fault, const void *least,
                            const void *greatest, uint32_t bytes, int64_t low,
                            int64_t high);
int32_t rt_cuda_copy(adze_exec *exec, void *to, const void *from,
                     uint64_t bytes);
/* Returns true if a run uses the memory of the tensor, not a copy. */
bool rt_cuda_in_place(const adze_context *context, const DLTensor *tensor);
/* Equal pieces of memory, `step` bytes apart. */
typedef struct {
  char *data;
  uint64_t step;
} rt_pieces;
/* Copies `count` pieces of `bytes` bytes of state `state` on the device. */
adze_status rt_cuda_copy_rows(adze_context *context, uint32_t state,
                              rt_pieces to, rt_pieces from, uint64_t bytes,
                              uint64_t count);
/* `count` pieces of `bytes` bytes from the device address `data` on, `step`
 * bytes apart, as the kernel adze_clear reads them. */
typedef struct {
  uint64_t data, step, bytes, count;
} rt_equal_pieces;
#define RT_MOST_CLEARED 64u
/* Sets the bytes of at most RT_MOST_CLEARED entries to 0, by one launch. */
adze_status rt_cuda_clear(adze_context *context, const rt_equal_pieces *pieces,
                          uint32_t count);
/* Copies `count` pieces of `bytes` bytes between the device and the host, or in
 * one of them, and waits for the copies. A piece may overlap its copy. The run
 * must have ended. */
adze_status rt_cuda_transfer(adze_context *context, rt_pieces to,
                             rt_pieces from, uint64_t bytes, uint64_t count);
/* Sets memory of the device to 0, and waits for it. */
adze_status rt_cuda_set_zero(adze_context *context, void *data, uint64_t bytes);
/* The next run uses the device's current weights (CudaWeights.c). */
void rt_cuda_take_weights(adze_context *context);
/* The weights in use: on the context's device, and in host memory. */
const void *rt_cuda_weights(const adze_context *context);
const void *rt_cuda_weights_on_host(const adze_context *context);
/* Copies the weights of a module with the same code to all devices of this one,
 * whose mutex is held; the second function then replaces the old ones, or
 * releases the new ones. */
adze_status rt_cuda_prepare_swap(adze_module *module, adze_module *newer);
void rt_cuda_finish_swap(adze_module *module, bool commits);
/* Waits for the launches of this run, before its memory is released. */
void rt_cuda_wait(adze_context *context);
/* Allocates memory on the context's device; `give` needs only the device. */
adze_status rt_cuda_take(adze_context *context, uint64_t bytes, void **data);
void rt_cuda_give(adze_module *module, int32_t device, void *data,
                  uint64_t bytes);

#endif /* ADZE_RUNTIME_H */
