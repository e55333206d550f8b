/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Graphs that replay runs. A context keeps a few of them. A run with the shapes
 * and addresses of a graph replays it as it is. For another run, such as the
 * next step of a decoder, the host program only records its launches: if they
 * are those of a graph with other arguments, the nodes that changed are
 * updated.
 */
#include "CudaDriver.h"

#include <stdlib.h>
#include <string.h>

#define MOST_GRAPHS 4
/* Runs in a row that no graph has the form of, before one of them is captured:
 * at first, and at most. */
#define LEAST_PATIENCE 2u
#define MOST_PATIENCE 64u

/* ---- Data ------------------------------------------------------------------
 */

/* A launch, or a copy if there is no function. */
typedef struct {
  rt_launch launch; /* without `arguments` */
  size_t values;    /* the place of its arguments */
  cu_graph_node node;
} recorded_launch;

typedef struct {
  size_t count, capacity;
  recorded_launch *launches;
  size_t bytes, reserved;
  char *values;
} launch_list;

/* What a run depends on: a graph is valid while these are unchanged. */
typedef struct {
  bool valid;
  void *workspace;
  const void *weights;
  uint64_t *pitches; /* of the inputs of states */
  int64_t *symbols;
  void **inputs, **outputs;
} run_key;

typedef struct {
  run_key key;
  cu_graph source;
  cu_graph_exec code; /* null: the entry is free */
  bool updates;       /* its nodes are the recorded launches */
  uint64_t last_use;
  launch_list list;
} graph;

struct rt_graphs {
  graph entries[MOST_GRAPHS];
  run_key last; /* of the run before, if it was launched */
  enum { LAUNCHES, RECORDS, SKIPS } mode;
  bool failed;      /* a launch of this run could not be recorded */
  launch_list list; /* of this run */
  void **pointers;  /* space for the arguments of any recorded launch */
  uint32_t num_pointers;
  uint64_t uses;
  unsigned misses, patience;
  bool gives_up; /* runs cannot be captured and updated */
};

/* ---- Life ------------------------------------------------------------------
 */

static bool create_key(const adze_module *module, run_key *key) {
  const adze_module_desc *desc = module->desc;
  key->symbols = calloc(rt_num_symbols(module) + 1, sizeof(int64_t));
  key->pitches = calloc(desc->num_states + 1, sizeof(uint64_t));
  key->inputs = calloc(desc->num_inputs + 1u, sizeof(void *));
  key->outputs = calloc(desc->num_outputs + 1u, sizeof(void *));
  return key->symbols && key->pitches && key->inputs && key->outputs;
}

static void free_key(const run_key *key) {
  free(key->symbols);
  free(key->pitches);
  free(key->inputs);
  free(key->outputs);
}

static void free_list(const launch_list *list) {
  free(list->launches);
  free(list->values);
}

static void drop(const cu_driver *cu, graph *entry) {
  if (entry->code)
    cu->graph_exec_destroy(entry->code);
  if (entry->source)
    cu->graph_destroy(entry->source);
  entry->code = NULL;
  entry->source = NULL;
  entry->updates = false;
}

adze_status rt_graphs_create(adze_context *context) {
  rt_graphs *graphs = calloc(1, sizeof(*graphs));
  if (!graphs)
    return rt_out_of_memory(sizeof(*graphs));
  context->on_device->graphs = graphs;
  graphs->patience = LEAST_PATIENCE;
  bool good = create_key(context->module, &graphs->last);
  for (int i = 0; i < MOST_GRAPHS; ++i)
    good &= create_key(context->module, &graphs->entries[i].key);
  return good ? NULL
              : rt_out_of_memory(rt_num_symbols(context->module) *
                                 sizeof(int64_t));
}

void rt_graphs_free(rt_device_context *state) {
  rt_graphs *graphs = state->graphs;
  if (!graphs)
    return;
  for (int i = 0; i < MOST_GRAPHS; ++i) {
    drop(state->device->cu, &graphs->entries[i]);
    free_key(&graphs->entries[i].key);
    free_list(&graphs->entries[i].list);
  }
  free_key(&graphs->last);
  free_list(&graphs->list);
  free(graphs->pointers);
  free(graphs);
  state->graphs = NULL;
}

/* ---- Keys ------------------------------------------------------------------
 */

static bool same_key(const adze_context *context, const run_key *key) {
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

static void keep_key(const adze_context *context, run_key *key) {
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

/* ---- Recording -------------------------------------------------------------
 */

static size_t size_of(const rt_launch *launch, uint32_t argument) {
  return argument < launch->first_wide ? sizeof(uint64_t) : launch->wide_bytes;
}

/* Returns an array of at least `count` elements, or null: the old one is then
 * still valid. */
static void *grow(void *data, size_t *capacity, size_t count, size_t size) {
  if (count <= *capacity)
    return data;
  size_t more = count * 2 + 64;
  void *grown = realloc(data, more * size);
  if (grown)
    *capacity = more;
  return grown;
}

static bool record(rt_graphs *graphs, const rt_launch *launch) {
  launch_list *list = &graphs->list;
  size_t bytes = 0, pointers = graphs->num_pointers;
  for (uint32_t i = 0; i < launch->count; ++i)
    bytes += size_of(launch, i);
  void *launches = grow(list->launches, &list->capacity, list->count + 1,
                        sizeof(recorded_launch));
  void *values = grow(list->values, &list->reserved, list->bytes + bytes, 1);
  void *space =
      grow(graphs->pointers, &pointers, launch->count, sizeof(void *));
  list->launches = launches ? launches : list->launches;
  list->values = values ? values : list->values;
  graphs->pointers = space ? space : graphs->pointers;
  graphs->num_pointers = (uint32_t)pointers;
  if (!launches || !values || !space)
    return false;
  recorded_launch *made = &list->launches[list->count++];
  *made = (recorded_launch){.launch = *launch, .values = list->bytes};
  made->launch.arguments = NULL;
  char *value = list->values + list->bytes;
  for (uint32_t i = 0; i < launch->count; value += size_of(launch, i++))
    memcpy(value, launch->arguments[i], size_of(launch, i));
  list->bytes += bytes;
  return true;
}

bool rt_graphs_take(const rt_device_context *state, const rt_launch *launch) {
  rt_graphs *graphs = state->graphs;
  if (graphs->mode != LAUNCHES && !record(graphs, launch))
    graphs->failed = true;
  return graphs->mode == SKIPS;
}

static void swap(launch_list *a, launch_list *b) {
  launch_list kept = *a;
  *a = *b;
  *b = kept;
}

/* Runs the host program in a mode. Returns false if its launches are not all
 * that it does. */
static bool record_run(adze_context *context, int mode) {
  rt_device_context *state = context->on_device;
  rt_graphs *graphs = state->graphs;
  graphs->mode = mode;
  graphs->failed = false;
  graphs->list.count = graphs->list.bytes = 0;
  adze_status status = rt_cuda_execute(context, state->own_stream);
  graphs->mode = LAUNCHES;
  bool good = !status && !state->allocated;
  adze_status_free(status);
  return good;
}

/* ---- Updates ---------------------------------------------------------------
 */

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

/* Returns true if a node of launch `number` of one list does what that of the
 * other one does. */
static bool is_equal(const launch_list *a, const launch_list *b,
                     size_t number) {
  const recorded_launch *one = &a->launches[number],
                        *other = &b->launches[number];
  if (memcmp(one->launch.grid, other->launch.grid, sizeof(one->launch.grid)) !=
      0)
    return false;
  const char *left = a->values + one->values,
             *right = b->values + other->values;
  for (uint32_t i = 0; i < one->launch.count; ++i) {
    size_t bytes = size_of(&one->launch, i);
    if (is_read(&one->launch, i) && memcmp(left, right, bytes) != 0)
      return false;
    left += bytes;
    right += bytes;
  }
  return true;
}

/* Returns true if the launches differ in grids and arguments only. Copies are
 * not updated. */
static bool has_form(const launch_list *a, const launch_list *b) {
  bool good = a->count == b->count;
  for (size_t i = 0; good && i < a->count; ++i) {
    const rt_launch *one = &a->launches[i].launch,
                    *other = &b->launches[i].launch;
    good = one->function == other->function && one->cluster == other->cluster &&
           one->count == other->count && (one->function || is_equal(a, b, i));
  }
  return good;
}

static bool set_node(const rt_device_context *state, cu_graph_exec code,
                     const recorded_launch *recorded) {
  rt_graphs *graphs = state->graphs;
  const rt_launch *launch = &recorded->launch;
  char *value = graphs->list.values + recorded->values;
  for (uint32_t i = 0; i < launch->count; value += size_of(launch, i++))
    graphs->pointers[i] = value;
  cu_kernel_node_params params = {.function = launch->function,
                                  .grid = {launch->grid[0], launch->grid[1], 1},
                                  .block = {launch->block_threads, 1, 1},
                                  .shared_bytes = launch->shared_bytes,
                                  .arguments = graphs->pointers};
  return !state->device->cu->graph_set_node(code, recorded->node, &params);
}

/* Makes the graph one of the recorded run, whose form it has. */
static bool update(const rt_device_context *state, graph *entry) {
  launch_list *list = &state->graphs->list;
  for (size_t i = 0; i < list->count; ++i) {
    list->launches[i].node = entry->list.launches[i].node;
    if (!is_equal(&entry->list, list, i) &&
        !set_node(state, entry->code, &list->launches[i])) {
      drop(state->device->cu, entry);
      return false;
    }
  }
  swap(&entry->list, list);
  return true;
}

/* Returns a graph that has been updated to this run, or null. */
static graph *find_form(adze_context *context) {
  rt_device_context *state = context->on_device;
  rt_graphs *graphs = state->graphs;
  bool updates = false;
  for (int i = 0; i < MOST_GRAPHS; ++i)
    updates |= graphs->entries[i].updates;
  if (!updates || !record_run(context, SKIPS) || graphs->failed)
    return NULL;
  for (int i = 0; i < MOST_GRAPHS; ++i) {
    graph *entry = &graphs->entries[i];
    if (entry->updates && has_form(&entry->list, &graphs->list) &&
        update(state, entry))
      return entry;
  }
  return NULL;
}

/* ---- Capture ---------------------------------------------------------------
 */

/* Returns true if the node's first arguments are the recorded ones: all
 * addresses of a kernel. A kernel may ignore the last arguments, which its node
 * then lacks. */
static bool has_values(const launch_list *list, const recorded_launch *recorded,
                       void *const *arguments) {
  const rt_launch *launch = &recorded->launch;
  const char *value = list->values + recorded->values;
  uint32_t count = launch->first_symbol ? launch->first_symbol : 1;
  for (uint32_t i = 0; i < count; ++i, value += sizeof(uint64_t))
    if (memcmp(arguments[i], value, sizeof(uint64_t)) != 0)
      return false;
  return true;
}

/* Finds the nodes of the recorded launches. Returns false if the driver has
 * others. */
static bool find_nodes(const cu_driver *cu, cu_graph source,
                       launch_list *list) {
  size_t count = list->count;
  cu_graph_node *nodes = calloc(count + 1, sizeof(cu_graph_node));
  bool good = nodes && !cu->graph_nodes(source, NULL, &count) &&
              count == list->count && !cu->graph_nodes(source, nodes, &count);
  for (size_t i = 0; good && i < count; ++i) {
    recorded_launch *recorded = &list->launches[i];
    const rt_launch *launch = &recorded->launch;
    cu_kernel_node_params params;
    recorded->node = nodes[i];
    if (launch->function)
      good = !cu->graph_get_node(nodes[i], &params) &&
             params.function == launch->function &&
             params.grid[0] == launch->grid[0] &&
             params.grid[1] == launch->grid[1] &&
             has_values(list, recorded, params.arguments);
  }
  free(nodes);
  return good;
}

/* Returns a free entry, or that which was not used for the longest time. */
static graph *take_entry(const rt_device_context *state) {
  graph *oldest = state->graphs->entries;
  for (int i = 0; i < MOST_GRAPHS; ++i) {
    graph *entry = &state->graphs->entries[i];
    if (!entry->code)
      return entry;
    if (entry->last_use < oldest->last_use)
      oldest = entry;
  }
  drop(state->device->cu, oldest);
  return oldest;
}

/* Captures the run instead of executing it. Returns null if the driver cannot
 * capture it; this is not an error. */
static graph *capture(adze_context *context) {
  rt_device_context *state = context->on_device;
  const cu_driver *cu = state->device->cu;
  rt_graphs *graphs = state->graphs;
  if (cu->capture_begin(state->own_stream, CU_CAPTURE_THREAD_LOCAL))
    return NULL;
  bool good = record_run(context, RECORDS);
  cu_graph source = NULL;
  bool ended = !cu->capture_end(state->own_stream, &source);
  graph *entry = take_entry(state);
  entry->source = source;
  if (!good || !ended || !source ||
      cu->graph_instantiate(&entry->code, source, 0)) {
    entry->code = NULL;
    drop(cu, entry);
    return NULL;
  }
  entry->updates = !graphs->failed && cu->graph_nodes && cu->graph_get_node &&
                   cu->graph_set_node && find_nodes(cu, source, &graphs->list);
  swap(&entry->list, &graphs->list);
  return entry;
}

/* ---- Runs ------------------------------------------------------------------
 */

static adze_status start(adze_context *context, graph *entry,
                         cu_stream stream) {
  const rt_device_context *state = context->on_device;
  rt_graphs *graphs = state->graphs;
  keep_key(context, &entry->key);
  entry->last_use = ++graphs->uses;
  graphs->last.valid = false;
  graphs->misses = 0;
  CU_TRY(state->device->cu, graph_launch, (entry->code, stream));
  return NULL;
}

/* Launches the kernels of the run one by one. */
static adze_status execute(adze_context *context, cu_stream stream) {
  const rt_device_context *state = context->on_device;
  rt_graphs *graphs = state->graphs;
  keep_key(context, &graphs->last);
  adze_status status = rt_cuda_execute(context, stream);
  /* A run that reads values or allocates memory, which is released before a
   * graph could be replayed, cannot be captured. The next one may find its
   * memory allocated. A run that failed may not have reached an allocation. */
  if (state->allocated || status) {
    graphs->last.valid = false;
    graphs->misses = 0;
  }
  return status;
}

/* Captures a run of which no graph has the form, if enough such runs came
 * before it. Returns null otherwise. */
static graph *capture_another(adze_context *context) {
  rt_graphs *graphs = context->on_device->graphs;
  if (graphs->gives_up || ++graphs->misses <= graphs->patience)
    return NULL;
  if (graphs->patience < MOST_PATIENCE)
    graphs->patience *= 2;
  graph *made = capture(context);
  graphs->gives_up = !made || !made->updates;
  return made;
}

adze_status rt_graphs_execute(adze_context *context, cu_stream stream) {
  rt_device_context *state = context->on_device;
  rt_graphs *graphs = state->graphs;
  for (int i = 0; i < MOST_GRAPHS; ++i)
    if (graphs->entries[i].code && same_key(context, &graphs->entries[i].key))
      return start(context, &graphs->entries[i], stream);
  graph *entry = find_form(context);
  if (entry) {
    graphs->patience = LEAST_PATIENCE;
  } else if (same_key(context, &graphs->last)) {
    entry = capture(context);
    /* All runs are launched kernel by kernel if the driver cannot capture this
     * one. */
    state->captures = entry != NULL;
  } else {
    entry = capture_another(context);
  }
  return entry ? start(context, entry, stream) : execute(context, stream);
}
