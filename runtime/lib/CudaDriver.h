/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Functions of the CUDA driver, loaded by dlopen and declared here, so that the
 * build needs no toolkit. The run time's data of a device and of a context on
 * it.
 * */
#ifndef ADZE_CUDA_DRIVER_H
#define ADZE_CUDA_DRIVER_H

#include "Runtime.h"

typedef int cu_result; /* 0: success */
typedef int cu_device;
typedef uint64_t cu_address;
typedef struct cu_context_object *cu_context;
typedef struct cu_module_object *cu_module;
typedef struct cu_function_object *cu_function;
typedef struct cu_stream_object *cu_stream;
typedef struct cu_event_object *cu_event;
typedef struct cu_graph_object *cu_graph;
typedef struct cu_graph_exec_object *cu_graph_exec;
typedef struct cu_graph_node_object *cu_graph_node;

#define CU_ATTRIBUTE_MULTIPROCESSORS 16
#define CU_ATTRIBUTE_MAJOR 75
#define CU_ATTRIBUTE_MINOR 76
#define CU_FUNCTION_MAX_DYNAMIC_SHARED 8
#define CU_STREAM_NON_BLOCKING 1u
#define CU_CAPTURE_THREAD_LOCAL 1

/* name in the table, symbol in the driver, parameters */
#define CU_FUNCTIONS(X)                                                        \
  X(init, "cuInit", (unsigned flags))                                          \
  X(error_name, "cuGetErrorName", (cu_result, const char **))                  \
  X(error_string, "cuGetErrorString", (cu_result, const char **))              \
  X(device_count, "cuDeviceGetCount", (int *))                                 \
  X(device_get, "cuDeviceGet", (cu_device *, int ordinal))                     \
  X(device_attribute, "cuDeviceGetAttribute", (int *, int, cu_device))         \
  X(primary_retain, "cuDevicePrimaryCtxRetain", (cu_context *, cu_device))     \
  X(primary_release, "cuDevicePrimaryCtxRelease_v2", (cu_device))              \
  X(push, "cuCtxPushCurrent_v2", (cu_context))                                 \
  X(pop, "cuCtxPopCurrent_v2", (cu_context *))                                 \
  X(module_load, "cuModuleLoadData", (cu_module *, const void *))              \
  X(module_unload, "cuModuleUnload", (cu_module))                              \
  X(module_function, "cuModuleGetFunction",                                    \
    (cu_function *, cu_module, const char *))                                  \
  X(function_set, "cuFuncSetAttribute", (cu_function, int, int))               \
  X(launch, "cuLaunchKernel",                                                  \
    (cu_function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,  \
     unsigned, cu_stream, void **, void **))                                   \
  X(allocate, "cuMemAlloc_v2", (cu_address *, size_t))                         \
  X(deallocate, "cuMemFree_v2", (cu_address))                                  \
  X(allocate_host, "cuMemAllocHost_v2", (void **, size_t))                     \
  X(deallocate_host, "cuMemFreeHost", (void *))                                \
  X(copy, "cuMemcpyAsync", (cu_address, cu_address, size_t, cu_stream))        \
  X(set, "cuMemsetD8Async", (cu_address, unsigned char, size_t, cu_stream))    \
  X(stream_create, "cuStreamCreate", (cu_stream *, unsigned flags))            \
  X(stream_destroy, "cuStreamDestroy_v2", (cu_stream))                         \
  X(stream_wait, "cuStreamSynchronize", (cu_stream))                           \
  X(capture_begin, "cuStreamBeginCapture_v2", (cu_stream, int mode))           \
  X(capture_end, "cuStreamEndCapture", (cu_stream, cu_graph *))                \
  X(graph_instantiate, "cuGraphInstantiateWithFlags",                          \
    (cu_graph_exec *, cu_graph, unsigned long long flags))                     \
  X(graph_launch, "cuGraphLaunch", (cu_graph_exec, cu_stream))                 \
  X(graph_exec_destroy, "cuGraphExecDestroy", (cu_graph_exec))                 \
  X(graph_destroy, "cuGraphDestroy", (cu_graph))                               \
  X(event_create, "cuEventCreate", (cu_event *, unsigned flags))               \
  X(event_record, "cuEventRecord", (cu_event, cu_stream))                      \
  X(event_wait, "cuEventSynchronize", (cu_event))                              \
  X(event_elapsed, "cuEventElapsedTime", (float *ms, cu_event, cu_event))      \
  X(event_destroy, "cuEventDestroy_v2", (cu_event))

/* Attributes of a launch, of the driver's layout. */
#define CU_LAUNCH_CLUSTER 4  /* blocks of a cluster, along each dim */
#define CU_LAUNCH_OVERLAPS 6 /* programmatic stream serialization */
typedef struct {
  int id;
  int pad;
  union {
    int allowed;
    unsigned cluster[3];
    unsigned char bytes[64];
  } value;
} cu_launch_attribute;
typedef struct {
  unsigned grid[3], block[3], shared_bytes;
  cu_stream stream;
  cu_launch_attribute *attributes;
  unsigned num_attributes;
} cu_launch_config;

/* A kernel node of a graph, of the driver's layout. */
typedef struct {
  cu_function function;
  unsigned grid[3], block[3], shared_bytes;
  void **arguments, **extra;
  void *kernel;
  cu_context context;
} cu_kernel_node_params;

/* The first version of the driver whose graphs support overlapping launches. */
#define CU_VERSION_OVERLAPS 12030

/* Functions of newer drivers; null in older ones. */
#define CU_NEWER_FUNCTIONS(X)                                                  \
  X(driver_version, "cuDriverGetVersion", (int *))                             \
  X(launch_extended, "cuLaunchKernelEx",                                       \
    (const cu_launch_config *, cu_function, void **, void **))                 \
  X(graph_nodes, "cuGraphGetNodes", (cu_graph, cu_graph_node *, size_t *))     \
  X(graph_get_node, "cuGraphKernelNodeGetParams_v2",                           \
    (cu_graph_node, cu_kernel_node_params *))                                  \
  X(graph_set_node, "cuGraphExecKernelNodeSetParams_v2",                       \
    (cu_graph_exec, cu_graph_node, const cu_kernel_node_params *))             \
  X(encode_tensor_map, "cuTensorMapEncodeTiled",                               \
    (void *map, int type, uint32_t rank, void *address, const uint64_t *sizes, \
     const uint64_t *strides, const uint32_t *box, const uint32_t *steps,      \
     int interleave, int swizzle, int promotion, int fill))

typedef struct {
#define X(name, symbol, parameters) cu_result(*name) parameters;
  CU_FUNCTIONS(X)
  CU_NEWER_FUNCTIONS(X)
#undef X
  bool overlaps; /* graphs support overlapping launches */
} cu_driver;

/* The size of a tensor map on the device, and the largest number per kernel. */
#define RT_TENSOR_MAP_BYTES 128u
#define RT_MOST_MAPS 8u
typedef struct {
  _Alignas(64) unsigned char bytes[RT_TENSOR_MAP_BYTES];
} rt_tensor_map;

/* Loads the driver once; returns null and sets *reason if there is none. */
const cu_driver *rt_cuda_driver(const char **reason);

/* A module on a device, shared by its contexts there. */
/* A version of the weights in device memory, counted (CudaWeights.c). */
typedef struct rt_device_weights rt_device_weights;

struct rt_device {
  struct rt_device *next;
  const cu_driver *cu;
  int32_t ordinal;
  cu_device device;
  cu_context primary;
  const adze_device_image *image;
  cu_module code;
  /* The weights of the next runs, guarded by the module's mutex, and those that
   * a swap has copied to the device. */
  rt_device_weights *weights, *new_weights;
  cu_module checks, clearing; /* null: the module has no faults, no states */
  cu_function check_range, clear;
  bool falls_back; /* the image lacks kernels, which run on the CPU instead */
  /* kernels take tensor maps, so addresses are multiples of 16 */
  bool has_maps;
  uint32_t multiprocessors;
  cu_function functions[]; /* null where the image lacks the kernel */
};

/* A launch of a kernel. */
typedef struct {
  cu_function function;
  unsigned grid[2], block_threads, shared_bytes;
  unsigned cluster; /* blocks of a cluster; 1: the launch has none */
  bool overlaps;    /* it may begin before the launches before it end */
  void **arguments;
  /* Arguments before `first_wide` have 8 bytes, and others `wide_bytes`. */
  uint32_t count, first_wide, wide_bytes;
  /* The arguments that are values of symbols, and adze_device_kernel's field.
   */
  uint32_t first_symbol, num_symbols;
  uint64_t symbols_read;
} rt_launch;

typedef struct rt_graphs rt_graphs;
typedef struct rt_fallback rt_fallback;
typedef struct rt_map_cache rt_map_cache;

struct rt_device_context {
  rt_device *device;
  const DLTensor *const *inputs; /* of this run */
  rt_device_weights *weights;    /* of the last run */
  rt_fallback *fallback;         /* null: no kernel runs on the CPU */
  rt_map_cache *maps;            /* null: no kernel takes tensor maps */
  cu_stream own_stream;
  cu_stream stream; /* stream of the current launches */
  void **arguments; /* space for the arguments of any kernel */
  int64_t *symbols; /* space for the own symbols of any kernel */
  /* records in pinned memory; null: no kernel can raise one */
  adze_fault *faults;
  cu_address staging;
  uint64_t staging_bytes;
  cu_event begin, end; /* of profiled launches */
  bool captures;       /* runs may be captured */
  bool allocated;      /* the last run allocated memory */
  bool unfinished;     /* the last run has not been waited for */
  rt_graphs *graphs;
};

/* Launches a kernel on the stream of the current launches. */
adze_status rt_cuda_submit(const rt_device_context *state,
                           const rt_launch *launch);
/* Launches the kernels of a run one by one. */
adze_status rt_cuda_execute(adze_context *context, cu_stream stream);

/* Graphs that replay runs (CudaGraph.c). */
adze_status rt_graphs_create(adze_context *context);
void rt_graphs_free(rt_device_context *state);
/* Executes a run by a graph, or by rt_cuda_execute. */
adze_status rt_graphs_execute(adze_context *context, cu_stream stream);
/* Records a launch, or a copy if it has no function. Returns true if it must
 * not be enqueued, since the run is only recorded. */
bool rt_graphs_take(const rt_device_context *state, const rt_launch *launch);

/* Copies the weights to a new device. */
adze_status rt_cuda_send_weights(adze_module *module, rt_device *device);
void rt_cuda_drop_weights(rt_device_weights *weights);

/* Loads the kernel that checks ranges, if the module can raise a fault. */
adze_status rt_cuda_load_kernels(const adze_module *module, rt_device *device);

/* Tensor maps of launches, each encoded once per address (CudaMaps.c). */
adze_status rt_maps_check(const adze_module *module, const rt_device *device,
                          uint32_t kernel);
adze_status rt_maps_create(rt_device_context *state);
/* Fills the maps of a launch with these symbols. */
adze_status rt_maps_fill(adze_context *context, uint32_t kernel,
                         void *const *ptrs, const int64_t *symbols,
                         rt_tensor_map *maps);

/* Kernels of this device that run on the CPU (CudaFallback.c). */
adze_status rt_fallback_create(rt_device_context *state, uint32_t most_ptrs);
void rt_fallback_free(adze_context *context);
/* Runs the kernel on host copies of its buffers. */
adze_status rt_cuda_fall_back(adze_exec *exec, uint32_t kernel,
                              void *const *ptrs, int64_t steps, int64_t groups);

adze_status rt_cuda_error(const cu_driver *cu, cu_result result,
                          const char *what);
#define CU_TRY(cu, function, arguments)                                        \
  do {                                                                         \
    cu_result cu_try_result = (cu)->function arguments;                        \
    if (cu_try_result)                                                         \
      return rt_cuda_error(cu, cu_try_result, #function);                      \
  } while (0)

#endif /* ADZE_CUDA_DRIVER_H */
