/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Graphs that replay runs. A graph of runs with equal shapes and addresses is
 * replayed as it is. If these change, as in each step of a decoder, the host
 * program runs without launching anything, and the nodes whose arguments
 * changed are updated.
 */
#include "CudaDriver.h"

#include <stdlib.h>
#include <string.h>

/* Runs with other shapes before such a run is captured: at first, and after
 * graphs whose kernels differed. */
#define LEAST_PATIENCE 2u
#define MOST_PATIENCE 64u

/* A node: a launch, or a copy if there is no function. */
typedef struct {
  cu_function function;
  unsigned grid[2], cluster;
  uint32_t count;
  /* Those that tell nodes apart: a kernel may ignore the last arguments, which
   * its node then lacks. */
  uint32_t checked;
  size_t values; /* the place of its arguments */
  cu_graph_node node;
} recorded_launch;

/* The runs of which a graph is: it is valid while these are unchanged. */
typedef struct {
  bool valid;
  void *workspace;
  const void *weights;
  uint64_t *pitches; /* of the inputs of states */
  int64_t *symbols;
  void **inputs, **outputs;
} graph_key;

struct rt_graph {
  graph_key key;
  cu_graph source;
  cu_graph_exec code; /* null: there is none */
  enum { LAUNCHES, RECORDS, COMPARES } mode;
  bool updates; /* its nodes are those that were recorded */
  bool differs; /* the run has other operations */
  bool gives_up;
  unsigned misses, patience;
  size_t count, capacity, next;
  recorded_launch *launches;
  size_t bytes, reserved;
  char *values;
};

/* ---- Life ------------------------------------------------------------------
 */

adze_status rt_graph_create(adze_context *context) {
  const adze_module_desc *desc = context->module->desc;
  size_t symbols = rt_num_symbols(context->module) + 1;
  rt_graph *graph = calloc(1, sizeof(*graph));
  if (!graph)
    return rt_out_of_memory(sizeof(*graph));
  context->on_device->graph = graph;
  graph->patience = LEAST_PATIENCE;
  graph->key.symbols = calloc(symbols, sizeof(int64_t));
  graph->key.pitches = calloc(desc->num_states + 1, sizeof(uint64_t));
  graph->key.inputs = calloc(desc->num_inputs + 1u, sizeof(void *));
  graph->key.outputs = calloc(desc->num_outputs + 1u, sizeof(void *));
  return graph->key.symbols && graph->key.pitches && graph->key.inputs &&
                 graph->key.outputs
             ? NULL
             : rt_out_of_memory(symbols * sizeof(int64_t));
}

static void drop(const cu_driver *cu, rt_graph *graph) {
  if (graph->code)
    cu->graph_exec_destroy(graph->code);
  if (graph->source)
    cu->graph_destroy(graph->source);
  graph->code = NULL;
  graph->source = NULL;
  graph->updates = false;
}

void rt_graph_free(rt_device_context *state) {
  rt_graph *graph = state->graph;
  if (!graph)
    return;
  drop(state->device->cu, graph);
  free(graph->key.symbols);
  free(graph->key.pitches);
  free(graph->key.inputs);
  free(graph->key.outputs);
  free(graph->launches);
  free(graph->values);
  free(graph);
  state->graph = NULL;
}

/* ---- Keys ------------------------------------------------------------------
 */

static bool same_key(const adze_context *context, const graph_key *key) {
  const adze_module_desc *desc = context->module->desc;
  for (uint64_t i = 0; key->valid && i < desc->num_states; ++i)
    if (key->pitches[i] != context->states[i].past_pitch)
      return false;
  return key->valid && key->workspace == context->workspace &&
         key->weights == rt_cuda_weights(context) &&
         !memcmp(key->symbols, context->symbols,
                 rt_num_symbols(context->module) * sizeof(int64_t)) &&
         !memcmp(key->inputs, context->input_data,
                 desc->num_inputs * sizeof(void *)) &&
         !memcmp(key->outputs, context->output_data,
                 desc->num_outputs * sizeof(void *));
}

static void keep_key(const adze_context *context, graph_key *key) {
  const adze_module_desc *desc = context->module->desc;
  key->valid = true;
  key->workspace = context->workspace;
  key->weights = rt_cuda_weights(context);
  memcpy(key->symbols, context->symbols,
         rt_num_symbols(context->module) * sizeof(int64_t));
  for (uint64_t i = 0; i < desc->num_states; ++i)
    key->pitches[i] = context->states[i].past_pitch;
  memcpy(key->inputs, context->input_data, desc->num_inputs * sizeof(void *));
  memcpy(key->outputs, context->output_data,
         desc->num_outputs * sizeof(void *));
}

/* ---- Launches --------------------------------------------------------------
 */

static size_t size_of(const rt_launch *launch, uint32_t argument) {
  return argument < launch->first_wide ? sizeof(uint64_t) : launch->wide_bytes;
}

/* Returns true if the first arguments are the recorded ones. */
static bool has_values(const rt_graph *graph, const recorded_launch *own,
                       void *const *arguments) {
  const char *value = graph->values + own->values;
  for (uint32_t i = 0; i < own->checked; ++i)
    if (memcmp(arguments[i], value + i * sizeof(uint64_t), sizeof(uint64_t)) !=
        0)
      return false;
  return true;
}

/* Returns memory for the values of a new launch, or null. */
static recorded_launch *extend(rt_graph *graph, size_t bytes) {
  if (graph->count == graph->capacity) {
    size_t more = graph->capacity * 2 + 64;
    recorded_launch *launches =
        realloc(graph->launches, more * sizeof(*launches));
    if (!launches)
      return NULL;
    graph->launches = launches;
    graph->capacity = more;
  }
  if (graph->bytes + bytes > graph->reserved) {
    size_t more = (graph->bytes + bytes) * 2;
    char *values = realloc(graph->values, more);
    if (!values)
      return NULL;
    graph->values = values;
    graph->reserved = more;
  }
  recorded_launch *made = &graph->launches[graph->count++];
  made->values = graph->bytes;
  graph->bytes += bytes;
  return made;
}

static void record(rt_graph *graph, const rt_launch *launch) {
  size_t bytes = 0;
  for (uint32_t i = 0; i < launch->count; ++i)
    bytes += size_of(launch, i);
  recorded_launch *made = extend(graph, bytes);
  if (!made) {
    graph->differs = true; /* it is replayed, but not updated */
    return;
  }
  made->function = launch->function;
  memcpy(made->grid, launch->grid, sizeof(made->grid));
  made->cluster = launch->cluster;
  made->count = launch->count;
  made->checked = launch->first_symbol ? launch->first_symbol : 1;
  char *value = graph->values + made->values;
  for (uint32_t i = 0; i < launch->count; value += size_of(launch, i++))
    memcpy(value, launch->arguments[i], size_of(launch, i));
}

/* Returns false for the value of a symbol that the kernel does not read. */
static bool is_read(const rt_launch *launch, uint32_t argument) {
  const uint32_t last_bit = 63;
  if (argument < launch->first_symbol ||
      argument >= launch->first_symbol + launch->num_symbols ||
      !launch->symbols_read)
    return true;
  uint32_t symbol = argument - launch->first_symbol;
  return launch->symbols_read >> (symbol < last_bit ? symbol : last_bit) & 1;
}

static bool set_node(const rt_device_context *state, cu_graph_node node,
                     const rt_launch *launch) {
  cu_kernel_node_params params = {.function = launch->function,
                                  .grid = {launch->grid[0], launch->grid[1], 1},
                                  .block = {launch->block_threads, 1, 1},
                                  .shared_bytes = launch->shared_bytes,
                                  .arguments = launch->arguments};
  return !state->device->cu->graph_set_node(state->graph->code, node, &params);
}

/* Updates the node of the launch if it has other arguments. */
static void compare(const rt_device_context *state, const rt_launch *launch) {
  rt_graph *graph = state->graph;
  recorded_launch *own = &graph->launches[graph->next];
  if (graph->differs || graph->next++ >= graph->count ||
      own->function != launch->function || own->cluster != launch->cluster ||
      own->count != launch->count) {
    graph->differs = true;
    return;
  }
  bool changes = memcmp(own->grid, launch->grid, sizeof(own->grid)) != 0;
  char *value = graph->values + own->values;
  for (uint32_t i = 0; i < launch->count; value += size_of(launch, i++)) {
    if (!is_read(launch, i) ||
        !memcmp(value, launch->arguments[i], size_of(launch, i)))
      continue;
    memcpy(value, launch->arguments[i], size_of(launch, i));
    changes = true;
  }
  memcpy(own->grid, launch->grid, sizeof(own->grid));
  /* Copies are not updated. */
  if (changes && (!launch->function || !set_node(state, own->node, launch)))
    graph->differs = true;
}

bool rt_graph_takes(const rt_device_context *state, const rt_launch *launch) {
  rt_graph *graph = state->graph;
  if (graph->mode == RECORDS)
    record(graph, launch);
  else if (graph->mode == COMPARES)
    compare(state, launch);
  return graph->mode == COMPARES;
}

/* ---- Capture ---------------------------------------------------------------
 */

/* Finds the nodes of the recorded launches. Returns false if the driver has
 * others. */
static bool find_nodes(const cu_driver *cu, rt_graph *graph) {
  size_t count = graph->count;
  cu_graph_node *nodes = calloc(count + 1, sizeof(cu_graph_node));
  bool good = nodes && !cu->graph_nodes(graph->source, NULL, &count) &&
              count == graph->count &&
              !cu->graph_nodes(graph->source, nodes, &count);
  for (size_t i = 0; good && i < count; ++i) {
    recorded_launch *own = &graph->launches[i];
    cu_kernel_node_params params;
    own->node = nodes[i];
    if (!own->function)
      continue;
    good = !cu->graph_get_node(nodes[i], &params) &&
           params.function == own->function && params.grid[0] == own->grid[0] &&
           params.grid[1] == own->grid[1] &&
           has_values(graph, own, params.arguments);
  }
  free(nodes);
  return good;
}

/* Captures the run instead of executing it. Returns false if the driver cannot
 * capture it; this is not an error. */
static bool capture(adze_context *context) {
  rt_device_context *state = context->on_device;
  const cu_driver *cu = state->device->cu;
  rt_graph *graph = state->graph;
  if (cu->capture_begin(state->own_stream, CU_CAPTURE_THREAD_LOCAL))
    return false;
  graph->mode = RECORDS;
  graph->differs = false;
  graph->count = graph->bytes = 0;
  adze_status status = rt_cuda_execute(context, state->own_stream);
  graph->mode = LAUNCHES;
  bool ended = !cu->capture_end(state->own_stream, &graph->source);
  bool good = !status && ended && graph->source && !state->allocated &&
              !cu->graph_instantiate(&graph->code, graph->source, 0);
  adze_status_free(status);
  if (!good) {
    graph->code = NULL;
    drop(cu, graph);
    return false;
  }
  graph->updates = !graph->differs && cu->graph_nodes && cu->graph_get_node &&
                   cu->graph_set_node && find_nodes(cu, graph);
  return true;
}

/* Makes the graph one of this run. Returns false if it cannot be. */
static bool update(adze_context *context) {
  rt_device_context *state = context->on_device;
  rt_graph *graph = state->graph;
  if (!graph->updates)
    return false;
  graph->mode = COMPARES;
  graph->differs = false;
  graph->next = 0;
  adze_status status = rt_cuda_execute(context, state->own_stream);
  graph->mode = LAUNCHES;
  bool good = !status && !state->allocated && !graph->differs &&
              graph->next == graph->count;
  adze_status_free(status);
  return good;
}

/* ---- Runs ------------------------------------------------------------------
 */

static adze_status start(const rt_device_context *state, cu_stream stream) {
  CU_TRY(state->device->cu, graph_launch, (state->graph->code, stream));
  return NULL;
}

/* Executes a run that is not one of the graph. */
static adze_status execute_another(adze_context *context, cu_stream stream) {
  rt_device_context *state = context->on_device;
  rt_graph *graph = state->graph;
  if (graph->code && update(context)) {
    graph->misses = 0;
    graph->patience = LEAST_PATIENCE;
    keep_key(context, &graph->key);
    return start(state, stream);
  }
  if (graph->updates && graph->patience < MOST_PATIENCE)
    graph->patience *= 2;
  drop(state->device->cu, graph);
  keep_key(context, &graph->key);
  if (++graph->misses > graph->patience && !graph->gives_up) {
    graph->misses = 0;
    graph->gives_up = !capture(context) || !graph->updates;
    if (graph->code)
      return start(state, stream);
  }
  adze_status status = rt_cuda_execute(context, stream);
  /* A run that reads values or allocates memory, which is released before a
   * graph could be replayed, cannot be captured. The next one may find its
   * memory allocated. A run that failed may not have reached an allocation. */
  if (state->allocated || status) {
    graph->key.valid = false;
    graph->misses = 0;
  }
  return status;
}

adze_status rt_graph_execute(adze_context *context, cu_stream stream) {
  rt_device_context *state = context->on_device;
  rt_graph *graph = state->graph;
  if (!same_key(context, &graph->key))
    return execute_another(context, stream);
  graph->misses = 0;
  /* All runs are launched kernel by kernel if the driver cannot capture this
   * one. */
  if (!graph->code)
    state->graphs = capture(context);
  return graph->code ? start(state, stream) : rt_cuda_execute(context, stream);
}
