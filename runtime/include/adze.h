/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * The C API of the Adze run time: opens modules made by atranslate and runs
 * them. Plain C11; nothing here aborts and no exception crosses it.
 *
 * Every call that can fail returns an adze_status. NULL is success; the caller
 * owns any other status and releases it with adze_status_free. Results are
 * out-parameters, which are written on success only. Handles are opaque and
 * reference-counted; a handle may be released while objects that depend on it
 * are in use.
 *
 *   adze_module *module;
 *   adze_context *context;
 *   adze_status status = adze_module_open("model.so", NULL, &module);
 *   if (!status)
 *     status = adze_context_create(module, (DLDevice){kDLCPU, 0}, &context);
 *   if (!status)
 *     status = adze_run(context, inputs, 1, outputs, 1);
 */
#ifndef ADZE_H
#define ADZE_H

#include <dlpack/dlpack.h>
#include <stddef.h>
#include <stdint.h>

#ifndef ADZE_API
#define ADZE_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status ------------------------------------------------------------ */

typedef enum {
  ADZE_OK = 0,
  ADZE_INVALID_ARGUMENT = 1, /* the call is wrong: shape, dtype, device ... */
  ADZE_INVALID_MODULE = 2,   /* not a module, damaged, or too new */
  ADZE_UNSUPPORTED = 3,      /* not supported by this machine or module */
  ADZE_IO_ERROR = 4,         /* a file could not be read or written */
  ADZE_OUT_OF_MEMORY = 5,
  ADZE_DEVICE_ERROR = 6, /* a driver call failed */
  ADZE_RUN_ERROR = 7,    /* a data-dependent error; names the node */
  ADZE_INTERNAL_ERROR = 8
} adze_code;

typedef struct adze_status_object *adze_status;

/* Returns the code of a status; ADZE_OK for NULL. */
ADZE_API adze_code adze_status_code(adze_status status);
/* Returns the error message, which names the input or ONNX node; valid as long
 * as `status`; "" for NULL. */
ADZE_API const char *adze_status_message(adze_status status);
ADZE_API void adze_status_free(adze_status status);
/* Creates a status with a copy of the message, for callbacks and for libraries
 * that return statuses. */
ADZE_API adze_status adze_status_create(adze_code code, const char *message);
/* Returns the newest module ABI that this run time reads. */
ADZE_API uint32_t adze_abi_version(void);

/* ---- Options ----------------------------------------------------------- */

/* Options of modules. adze_module_open copies them. */
typedef struct adze_options adze_options;

ADZE_API adze_status adze_options_create(adze_options **options);
ADZE_API void adze_options_release(adze_options *options);

/* Keys:
 *   "threads"      the number of threads of a run, including the caller's; "0"
 *                  (default): one for each CPU that the process may use
 *   "spin_us"      how long an idle thread spins before it sleeps ("100")
 *   "variant"      name of the CPU variant to use ("": the best supported one)
 *   "verify"       "all" (default): check the code's checksum when the module
 *                  is opened, and the weights' before the first run; "code":
 *                  only the first; "off": neither; "on": the same as "all"
 *   "cuda_graphs"  "on" (default) or "off"
 *   "weights"      path of the weights of a module made with --weights=file
 *                  ("": the file of that name in the module's folder)
 * Only "variant" affects results; all others leave every bit the same. */
ADZE_API adze_status adze_options_set(adze_options *options, const char *key,
                                      const char *value);

/* Sets the functions that allocate arenas, scratch memory and the outputs of
 * adze_run_alloc. `alignment` is a power of two. Several threads may call both
 * functions concurrently. */
typedef void *(*adze_allocate_fn)(void *user, size_t bytes, size_t alignment);
typedef void (*adze_deallocate_fn)(void *user, void *memory, size_t bytes);
ADZE_API adze_status adze_options_set_allocator(adze_options *options,
                                                adze_allocate_fn allocate,
                                                adze_deallocate_fn deallocate,
                                                void *user);

/* Sets a function that replaces the run time's own threads. It calls
 * task(data, begin, end) for disjoint ranges that cover [0, count), on any
 * threads, and returns when all calls have returned. `count` is at most the
 * option "threads". */
typedef void (*adze_task_fn)(void *data, int64_t begin, int64_t end);
typedef void (*adze_parallel_for_fn)(void *user, int64_t count,
                                     adze_task_fn task, void *data);
ADZE_API adze_status adze_options_set_parallel_for(adze_options *options,
                                                   adze_parallel_for_fn run,
                                                   void *user);

typedef enum {
  ADZE_LOG_ERROR = 0,
  ADZE_LOG_WARNING = 1,
  ADZE_LOG_INFO = 2
} adze_log_level;
typedef void (*adze_log_fn)(void *user, adze_log_level level,
                            const char *message);
/* Sets the function that receives log messages. By default there are none. */
ADZE_API adze_status adze_options_set_log(adze_options *options,
                                          adze_log_fn log, void *user);

/* ---- Modules ----------------------------------------------------------- */

typedef struct adze_module adze_module;

/* Checks the file without executing any of it, then loads it. `options` may be
 * NULL. A module is trusted code: the checks find accidental damage, not
 * attacks. */
ADZE_API adze_status adze_module_open(const char *path,
                                      const adze_options *options,
                                      adze_module **module);
/* Opens a module in memory, which may be freed afterwards. */
ADZE_API adze_status adze_module_open_memory(const void *data, size_t size,
                                             const adze_options *options,
                                             adze_module **module);
/* Opens a module that is linked into the program: `query` is its
 * adze_module_query, cast to this type. */
typedef void (*adze_query_fn)(void);
ADZE_API adze_status adze_module_link(adze_query_fn query,
                                      const adze_options *options,
                                      adze_module **module);
ADZE_API void adze_module_retain(adze_module *module);
/* Releases a reference. The module is unloaded when its last reference and its
 * last context have been released. */
ADZE_API void adze_module_release(adze_module *module);

/* Returns a JSON object with names, types, symbols, variants, device images and
 * memory. It belongs to the module. */
ADZE_API adze_status adze_module_info(adze_module *module, const char **json);

typedef enum {
  ADZE_TENSOR = 0,
  ADZE_STRINGS = 1,
  ADZE_SEQUENCE = 2,
  ADZE_MAP = 3,
  ADZE_OPTIONAL = 4
} adze_kind;

/* The range of one dim: min <= dim <= max (max = -1: unbounded) and a multiple
 * of multiple_of. */
typedef struct {
  int64_t min, max, multiple_of;
} adze_range;

/* One input or output; belongs to the module. New fields are only appended. */
typedef struct {
  const char *name;
  adze_kind kind;
  DLDataType dtype; /* of a tensor */
  int32_t rank;
  const int64_t *dims;        /* -1: dynamic */
  const char *const *symbols; /* NULL for a static dim, "" where unnamed */
  const adze_range *ranges;
  const char *type; /* in ONNX's notation: "seq(tensor(string))"; NULL for
                       tensors whose type is dtype */
} adze_value_info;

ADZE_API int32_t adze_module_num_inputs(const adze_module *module);
ADZE_API int32_t adze_module_num_outputs(const adze_module *module);
ADZE_API adze_status adze_module_input(const adze_module *module, int32_t index,
                                       const adze_value_info **info);
ADZE_API adze_status adze_module_output(const adze_module *module,
                                        int32_t index,
                                        const adze_value_info **info);
/* Returns the number of overridable weights (atranslate --overridable). They
 * are inputs after those that adze_module_num_inputs counts, and default to the
 * model's values; a context (adze_context_override) or a run may replace them.
 * adze_module_input accepts their indices, which follow those of the inputs. */
ADZE_API int32_t adze_module_num_overridable(const adze_module *module);

/* An output that continues an input: a cache or another state, which a caller
 * keeps from run to run. One buffer may serve both.
 *   ROWS   the output is the input with rows along dim `axis` added or
 *          replaced, possibly without its first rows. Both may be views of a
 *          buffer with space for more rows: the strides of the dims before
 *          `axis` determine its capacity. If the output begins at the first
 *          input row that it keeps, with equal strides, only the new rows are
 *          stored; otherwise the old ones are copied.
 *   WHOLE  all elements are replaced; input and output may be the same memory.
 *   KEEP   the output is the input; both may be the same memory.
 * After a failed run the rows of the input are intact if the run only appends
 * rows. */
typedef enum {
  ADZE_STATE_ROWS = 0,
  ADZE_STATE_WHOLE = 1,
  ADZE_STATE_KEEP = 2
} adze_state_kind;

/* New fields are only appended. */
typedef struct {
  adze_state_kind kind;
  int32_t input, output; /* indices of the module's values */
  int32_t axis;          /* of the rows; -1 for other kinds */
} adze_state_info;

ADZE_API int32_t adze_module_num_states(const adze_module *module);
/* Writes `size` bytes: the caller's sizeof(adze_state_info). */
ADZE_API adze_status adze_module_state(const adze_module *module, int32_t index,
                                       adze_state_info *info, size_t size);

/* Returns the dim of an output for which a run may request fewer rows than the
 * model has: only the last ones are then computed. -1: none. */
ADZE_API int32_t adze_module_last_rows(const adze_module *module,
                                       int32_t output);

/* Replaces the weights by those of the module at `path`, which must have the
 * same code: a model of the same graph, compiled by the same compiler with the
 * same options. Runs that begin later use the new weights; active runs complete
 * with the old ones, which are unmapped when the last of these runs has
 * ended. The module's own weights stay mapped. Devices with contexts get a copy
 * of the new weights, and each frees the old copy when its contexts have begun
 * a run with the new one. The file's checksums are verified according to the
 * option "verify" before anything changes. May be called from any thread.
 * ADZE_INVALID_MODULE: the code differs, for example because values of weights
 * are compiled into it; ADZE_UNSUPPORTED: the module was compiled by an older
 * compiler. */
ADZE_API adze_status adze_swap_weights(adze_module *module, const char *path);

typedef struct {
  int32_t rank;
  int64_t *dims;
} adze_shape;

/* Computes the outputs' shapes for these inputs' shapes. outputs[i].dims must
 * have outputs[i].rank elements, where the rank is that of the output; a
 * dynamic dim becomes -1. `workspace_bytes` (may be NULL) receives the size
 * that adze_context_bind_workspace needs for such a run. */
ADZE_API adze_status adze_infer_shapes(const adze_module *module,
                                       const adze_shape *inputs,
                                       int32_t num_inputs, adze_shape *outputs,
                                       int32_t num_outputs,
                                       uint64_t *workspace_bytes);

/* Any value of a signature; immutable and reference-counted. */
typedef struct adze_value adze_value;

/* ---- Operators of the program ------------------------------------------- */

/* A node of a domain that ONNX does not define may be a function of the
 * program: the file of atranslate's option --kernels declares the operator, and
 * the program registers the function. */

typedef enum {
  ADZE_ATTRIBUTE_INT = 0,
  ADZE_ATTRIBUTE_FLOAT = 1,
  ADZE_ATTRIBUTE_STRING = 2,
  ADZE_ATTRIBUTE_INTS = 3,
  ADZE_ATTRIBUTE_FLOATS = 4,
  ADZE_ATTRIBUTE_STRINGS = 5
} adze_attribute_kind;

/* Bytes followed by a null byte, which `length` does not count. */
typedef struct {
  const char *text;
  size_t length;
} adze_string;

/* An attribute of a node; belongs to the module. */
typedef struct {
  const char *name;
  adze_attribute_kind kind;
  size_t count; /* of values; 1 for ADZE_ATTRIBUTE_INT, _FLOAT and _STRING */
  union {
    const int64_t *ints;        /* of ADZE_ATTRIBUTE_INT and _INTS */
    const float *floats;        /* of ADZE_ATTRIBUTE_FLOAT and _FLOATS */
    const adze_string *strings; /* of ADZE_ATTRIBUTE_STRING and _STRINGS */
  };
} adze_attribute;

/* One call for one node; valid until the function returns. */
typedef struct adze_call adze_call;

/* Computes the call's outputs, on the thread that called adze_run; calls for
 * several contexts may be concurrent. A status other than NULL ends the run
 * with ADZE_RUN_ERROR, its message and the node; the run time releases it. The
 * function may run other contexts, but must not use the context that calls
 * it. */
typedef adze_status (*adze_operator_fn)(void *user, adze_call *call);

/* Registers a function for the nodes of the operator `name`, as in
 * "com.example.Clip". Contexts that are created later call it. `release` (may
 * be NULL) is called with `user` when the module and its contexts have been
 * released. A name that no node has is permitted; a later function for a name
 * replaces an earlier one. A context
 * whose module needs an operator that is not registered cannot be created:
 * ADZE_UNSUPPORTED, with the operator and the node. */
ADZE_API adze_status adze_module_register_operator(adze_module *module,
                                                   const char *name,
                                                   adze_operator_fn run,
                                                   void *user,
                                                   void (*release)(void *user));

/* Return the node's operator, "com.example.Clip", and its name. */
ADZE_API const char *adze_call_operator(const adze_call *call);
ADZE_API const char *adze_call_node(const adze_call *call);

/* Returns the attribute of this name; NULL if the node has none. */
ADZE_API const adze_attribute *adze_call_attribute(const adze_call *call,
                                                   const char *name);
/* Returns the array of all attributes of the node, with `*count` elements. */
ADZE_API const adze_attribute *adze_call_attributes(const adze_call *call,
                                                    size_t *count);

/* Return the number of inputs and of outputs in the operator's declaration. */
ADZE_API int32_t adze_call_num_inputs(const adze_call *call);
ADZE_API int32_t adze_call_num_outputs(const adze_call *call);
/* Returns a dense tensor in host memory, which must not be written; NULL if the
 * node omits the input, or if it is a string tensor. */
ADZE_API const DLTensor *adze_call_input(const adze_call *call, int32_t index);
/* Returns an input of any kind, as a reference that the caller releases; *value
 * is NULL if the node omits the input. Tensors are copied. */
ADZE_API adze_status adze_call_input_value(adze_call *call, int32_t index,
                                           adze_value **value);
/* Returns the element type and the shape of an output, without data; a
 * data-dependent dim is -1. NULL for an index that is out of range. */
ADZE_API const DLTensor *adze_call_output_type(const adze_call *call,
                                               int32_t index);
/* Allocates memory for an output, aligned to 64 and filled with zeros, which
 * the function writes. `dims` is its shape; it may be NULL if
 * adze_call_output_type has it. A shape that contradicts the declaration is an
 * error. May be called once for each output. */
ADZE_API adze_status adze_call_output(adze_call *call, int32_t index,
                                      const int64_t *dims, DLTensor **tensor);
/* Sets an output to an existing value: a tensor in host memory, or strings.
 * Retains the value. */
ADZE_API adze_status adze_call_set_output(adze_call *call, int32_t index,
                                          adze_value *value);

/* ---- Contexts ---------------------------------------------------------- */

/* The resources of one run: working memory and, on a device, a stream. One
 * context serves one run at a time; any number of contexts of one module may
 * run concurrently, from any threads. Weights are shared by all of them. */
typedef struct adze_context adze_context;

/* Creates a context for kDLCPU, or for kDLCUDA with the device's number. */
ADZE_API adze_status adze_context_create(adze_module *module, DLDevice device,
                                         adze_context **context);
/* Creates a context of the same module and device. */
ADZE_API adze_status adze_context_clone(const adze_context *context,
                                        adze_context **clone);
ADZE_API void adze_context_release(adze_context *context);

/* Returns the bytes of working memory for the largest shapes that the module
 * allows; ADZE_UNSUPPORTED if there is no bound (use adze_infer_shapes
 * then). */
ADZE_API adze_status adze_context_workspace_size(const adze_context *context,
                                                 uint64_t *bytes);
/* Binds working memory, aligned to 64, on the context's device: runs use it
 * instead of allocating memory, and fail if they need more. NULL restores the
 * default. */
ADZE_API adze_status adze_context_bind_workspace(adze_context *context,
                                                 void *workspace,
                                                 uint64_t bytes);

/* Sets the value of the overridable weight of this name for runs of this
 * context; NULL restores the model's own. The value is retained, and may be
 * shared by any number of contexts; all other weights are always shared. In a
 * CUDA context, a tensor in host memory is copied to the device here. A clone
 * has the model's own values. */
ADZE_API adze_status adze_context_override(adze_context *context,
                                           const char *name, adze_value *value);

/* ---- Memory of the device ---------------------------------------------- */

/* Allocates zeroed memory on the context's device, for tensors of its runs.
 * Host memory is aligned to pages, that of a CUDA device to 256 bytes. */
ADZE_API adze_status adze_memory_allocate(adze_context *context, uint64_t bytes,
                                          void **data);
/* Releases memory of adze_memory_allocate of this size. The context may be
 * another one of the same module and device. */
ADZE_API void adze_memory_release(adze_context *context, void *data,
                                  uint64_t bytes);
/* Sets bytes of such memory to 0. */
ADZE_API adze_status adze_memory_clear(adze_context *context, void *data,
                                       uint64_t bytes);
/* Copies `count` pieces of `bytes` bytes, which are `to_step` and `from_step`
 * bytes apart, and waits for the copies. `to` and `from` are in host memory or
 * on the context's device, independently of each other; a piece may overlap its
 * copy. No run of the context may be in progress. */
ADZE_API adze_status adze_memory_copy(adze_context *context, void *to,
                                      uint64_t to_step, const void *from,
                                      uint64_t from_step, uint64_t bytes,
                                      uint64_t count);

/* ---- Runs -------------------------------------------------------------- */

/* Runs the module. `inputs` may also contain the overridable weights after the
 * inputs, for this run only; NULL selects the context's value. Tensors must be
 * dense and row-major (strides may be NULL), except for the rows of states.
 * Outputs must not overlap each other, nor inputs that they do not continue. In
 * a CUDA context CPU tensors are copied, and tensors on the device are used in
 * place. Shapes, dtypes, strides and devices are checked: a wrong call returns
 * a status. The floating-point environment is set to the default for the run,
 * and restored. */
ADZE_API adze_status adze_run(adze_context *context,
                              const DLTensor *const inputs[],
                              int32_t num_inputs, DLTensor *const outputs[],
                              int32_t num_outputs);
/* Runs the module, and allocates the outputs on the context's device. The
 * caller releases each output by its deleter, also after context and module
 * have been released. The module keeps the memory of up to four released
 * outputs of 32 to 512 MiB for later ones of the same size, until it and all
 * its outputs are released, unless the options have an allocator. */
ADZE_API adze_status adze_run_alloc(adze_context *context,
                                    const DLTensor *const inputs[],
                                    int32_t num_inputs,
                                    DLManagedTensorVersioned *outputs[],
                                    int32_t num_outputs);
/* In a CUDA context: enqueues the run on `stream` (a CUstream) and returns; the
 * tensors must be valid until the run is complete. The context's next call
 * returns a data-dependent error of the run. In a CPU context: runs the module
 * like adze_run. */
ADZE_API adze_status adze_run_async(adze_context *context,
                                    const DLTensor *const inputs[],
                                    int32_t num_inputs,
                                    DLTensor *const outputs[],
                                    int32_t num_outputs, void *stream);

/* ---- Values ------------------------------------------------------------ */

ADZE_API adze_kind adze_value_kind(const adze_value *value);
ADZE_API void adze_value_retain(adze_value *value);
ADZE_API void adze_value_release(adze_value *value);

/* Creates a value from a tensor, and takes ownership of it, also on failure. */
ADZE_API adze_status adze_value_from_dlpack(DLManagedTensorVersioned *tensor,
                                            adze_value **value);
/* Returns a tensor that shares the value's memory and keeps the value alive. */
ADZE_API adze_status adze_value_as_dlpack(adze_value *value,
                                          DLManagedTensorVersioned **tensor);
/* Creates a value from a copy of a dense tensor in host memory. */
ADZE_API adze_status adze_value_from_tensor(const DLTensor *tensor,
                                            adze_value **value);
/* Creates a string tensor from copies of `count` strings. `lengths` may be NULL
 * for null-terminated strings. */
ADZE_API adze_status adze_value_from_strings(const char *const *strings,
                                             const size_t *lengths,
                                             const int64_t *dims, int32_t rank,
                                             adze_value **value);
/* Returns the strings of a string tensor in row-major order and their lengths
 * (each is also null-terminated); they belong to the value. */
ADZE_API adze_status adze_value_strings(const adze_value *value,
                                        const char *const **strings,
                                        const size_t **lengths, size_t *count);
/* Returns the shape of a tensor or string tensor; `dims` belongs to the
 * value. */
ADZE_API adze_status adze_value_shape(const adze_value *value, int32_t *rank,
                                      const int64_t **dims);
/* Create a container, which retains its elements. The keys of a map are a 1-D
 * tensor of integers or strings, with one value for each. NULL creates an
 * optional without a value. */
ADZE_API adze_status adze_value_from_sequence(adze_value *const *elements,
                                              size_t count, adze_value **value);
ADZE_API adze_status adze_value_from_map(adze_value *keys,
                                         adze_value *const *values,
                                         size_t count, adze_value **value);
ADZE_API adze_status adze_value_from_optional(adze_value *element,
                                              adze_value **value);
ADZE_API adze_status adze_value_sequence_size(const adze_value *value,
                                              size_t *count);
/* The getters below return a reference that the caller releases. */
ADZE_API adze_status adze_value_sequence_get(const adze_value *value,
                                             size_t index,
                                             adze_value **element);
ADZE_API adze_status adze_value_map_get(const adze_value *value,
                                        adze_value **keys, adze_value **values);
/* Converts a sequence of maps to a table in one call, if the maps have equal
 * keys and scalars of one type as values, like those of ZipMap: returns the
 * keys, and a tensor with a row of values for each map. ADZE_UNSUPPORTED for
 * other values. */
ADZE_API adze_status adze_value_sequence_table(const adze_value *value,
                                               adze_value **keys,
                                               adze_value **table);
ADZE_API adze_status adze_value_optional_has(const adze_value *value,
                                             int32_t *has);
ADZE_API adze_status adze_value_optional_get(const adze_value *value,
                                             adze_value **element);

/* Runs a module of any signature; adze_run is the fast path for tensors. Kinds
 * and types are checked, also those of the elements of sequences, maps and
 * optionals, whose tensors must be in host memory. The caller releases the
 * outputs. */
ADZE_API adze_status adze_run_values(adze_context *context,
                                     const adze_value *const inputs[],
                                     int32_t num_inputs, adze_value *outputs[],
                                     int32_t num_outputs);

/* ---- Profiles and statistics ------------------------------------------- */

/* Begins to record every launch of this context's runs. */
ADZE_API adze_status adze_profile_begin(adze_context *context);
/* Stops recording, and returns a Chrome trace (JSON): one event for each launch
 * with its kernel, ONNX nodes, bytes, FLOPs and device. It belongs to the
 * context, and is valid until the next adze_profile_begin. */
ADZE_API adze_status adze_profile_end(adze_context *context, const char **json);

typedef struct {
  uint64_t current_bytes; /* of the module's contexts and outputs */
  uint64_t peak_bytes;    /* the maximum of current_bytes */
  uint64_t allocations;   /* the number of allocations */
  uint64_t weights_bytes; /* mapped from the file, shared by processes */
  /* The sizes of this context's last run; before the first run, those of the
   * smallest shapes, or 0 if these are invalid. */
  uint64_t arena_bytes;
  uint64_t arena_lower_bound_bytes;
} adze_memory_info;

/* Writes `size` bytes: the caller's sizeof(adze_memory_info). New fields are
 * only appended. */
ADZE_API adze_status adze_memory_stats(const adze_context *context,
                                       adze_memory_info *info, size_t size);

#ifdef __cplusplus
}
#endif
#endif /* ADZE_H */
