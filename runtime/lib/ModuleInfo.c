/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Describes a module: its signature, and all its properties as JSON.
 * */
#include "Runtime.h"

#include <stdlib.h>
#include <string.h>

/* ---- The signature ------------------------------------------------------- */

typedef struct {
  int64_t *dims;
  const char **symbols;
  adze_range *ranges;
} info_cursor;

static void fill_info(const adze_module_desc *desc,
                      const adze_module_value *value, const char *type,
                      adze_value_info *info, info_cursor *at) {
  info->name = value->name;
  info->type = value->kind == ADZE_STRINGS ? "tensor(string)" : type;
  info->kind = (adze_kind)value->kind;
  info->dtype = rt_value_dtype(value);
  info->rank = (int32_t)value->rank;
  info->dims = at->dims;
  info->symbols = at->symbols;
  info->ranges = at->ranges;
  for (uint32_t d = 0; d < value->rank; ++d) {
    const adze_module_dim *dim = &value->dims[d];
    bool is_static = dim->size >= 0;
    adze_range range = {is_static ? dim->size : 0, is_static ? dim->size : -1,
                        1};
    const char *name = is_static ? NULL : "";
    if (!is_static && dim->symbol >= 0 &&
        (uint32_t)dim->symbol < desc->num_symbols) {
      const adze_module_symbol *symbol = &desc->symbols[dim->symbol];
      name = symbol->name ? symbol->name : "";
      range.min = symbol->min;
      range.max = symbol->max;
      range.multiple_of = symbol->multiple_of;
    }
    *at->dims++ = dim->size;
    *at->symbols++ = name;
    *at->ranges++ = range;
  }
}

adze_status rt_make_value_infos(adze_module *module) {
  const adze_module_desc *desc = module->desc;
  size_t values = (size_t)desc->num_inputs + desc->num_outputs, dims = 0;
  for (uint32_t i = 0; i < desc->num_inputs; ++i)
    dims += desc->inputs[i].rank;
  for (uint32_t i = 0; i < desc->num_outputs; ++i)
    dims += desc->outputs[i].rank;
  size_t each = sizeof(int64_t) + sizeof(char *) + sizeof(adze_range);
  size_t size =
      values * (sizeof(adze_value_info) + sizeof(void *)) + dims * each;
  module->info_storage = malloc(size ? size : 1);
  if (!module->info_storage)
    return rt_out_of_memory(size);
  module->inputs = module->info_storage;
  module->outputs = module->inputs + desc->num_inputs;
  info_cursor at;
  at.dims = (int64_t *)(module->outputs + desc->num_outputs);
  at.ranges = (adze_range *)(at.dims + dims);
  at.symbols = (const char **)(at.ranges + dims);
  module->input_states = (const adze_state **)(at.symbols + dims);
  module->output_states = module->input_states + desc->num_inputs;
  memset(module->input_states, 0, values * sizeof(void *));
  for (uint64_t i = 0; i < desc->num_states; ++i) {
    const adze_state *state = &desc->states[i];
    module->input_states[state->input] = state;
    module->output_states[state->output] = state;
  }
  for (uint32_t i = 0; i < desc->num_inputs; ++i)
    fill_info(desc, &desc->inputs[i],
              module->desc->types ? module->desc->types[i] : NULL,
              &module->inputs[i], &at);
  for (uint32_t i = 0; i < desc->num_outputs; ++i)
    fill_info(desc, &desc->outputs[i],
              module->desc->types ? module->desc->types[desc->num_inputs + i]
                                  : NULL,
              &module->outputs[i], &at);
  return NULL;
}

int32_t adze_module_num_inputs(const adze_module *module) {
  return module ? (int32_t)rt_num_required(module) : 0;
}

int32_t adze_module_num_outputs(const adze_module *module) {
  return module ? (int32_t)module->desc->num_outputs : 0;
}

static adze_status get_info(const char *what, const adze_value_info *infos,
                            uint32_t count, int32_t index,
                            const adze_value_info **info) {
  if (!info)
    return rt_error(ADZE_INVALID_ARGUMENT,
                    "expected a pointer to the info, but got NULL");
  if (index < 0 || (uint32_t)index >= count)
    return rt_error(ADZE_INVALID_ARGUMENT,
                    "expected an %s below %u, but got %d", what, count, index);
  *info = &infos[index];
  return NULL;
}

adze_status adze_module_input(const adze_module *module, int32_t index,
                              const adze_value_info **info) {
  if (!module)
    return rt_error(ADZE_INVALID_ARGUMENT, "expected a module, but got NULL");
  return get_info("input", module->inputs, module->desc->num_inputs, index,
                  info);
}

adze_status adze_module_output(const adze_module *module, int32_t index,
                               const adze_value_info **info) {
  if (!module)
    return rt_error(ADZE_INVALID_ARGUMENT, "expected a module, but got NULL");
  return get_info("output", module->outputs, module->desc->num_outputs, index,
                  info);
}

int32_t adze_module_num_states(const adze_module *module) {
  return module ? (int32_t)module->desc->num_states : 0;
}

adze_status adze_module_state(const adze_module *module, int32_t index,
                              adze_state_info *info, size_t size) {
  if (!module || !info || !size)
    return rt_error(ADZE_INVALID_ARGUMENT,
                    "expected a module and a pointer to the info");
  if (index < 0 || (uint64_t)index >= module->desc->num_states)
    return rt_error(ADZE_INVALID_ARGUMENT,
                    "expected a state below %llu, but got %d",
                    (unsigned long long)module->desc->num_states, index);
  const adze_state *state = &module->desc->states[index];
  adze_state_info made = {.kind = (adze_state_kind)state->kind,
                          .input = (int32_t)state->input,
                          .output = (int32_t)state->output,
                          .axis = -1};
  if (state->kind == ADZE_STATE_ROWS)
    made.axis = (int32_t)state->axis;
  memset(info, 0, size);
  memcpy(info, &made, size < sizeof(made) ? size : sizeof(made));
  return NULL;
}

int32_t adze_module_last_rows(const adze_module *module, int32_t output) {
  for (uint64_t i = 0; module && i < module->desc->num_last_rows; ++i)
    if (module->desc->last_rows[i].output == (uint32_t)output)
      return (int32_t)module->desc->last_rows[i].dim;
  return -1;
}

/* ---- JSON ---------------------------------------------------------------- */

static void add_value(rt_text *text, const adze_value_info *info) {
  char dtype[48];
  rt_text_add(text, "{\"name\": ");
  rt_text_add_json(text, info->name);
  if (info->type) {
    rt_text_add(text, ", \"type\": ");
    rt_text_add_json(text, info->type);
  } else {
    rt_text_add(text, ", \"dtype\": \"%s\"",
                rt_dtype_name(info->dtype, dtype, sizeof(dtype)));
  }
  if (info->kind > ADZE_STRINGS) {
    rt_text_add(text, "}");
    return;
  }
  rt_text_add(text, ", \"shape\": [");
  for (int32_t d = 0; d < info->rank; ++d) {
    if (d)
      rt_text_add(text, ", ");
    if (info->dims[d] >= 0)
      rt_text_add(text, "%lld", (long long)info->dims[d]);
    else
      rt_text_add_json(text, info->symbols[d]);
  }
  rt_text_add(text, "]}");
}

static void add_values(rt_text *text, const char *key,
                       const adze_value_info *infos, uint32_t count) {
  rt_text_add(text, "  \"%s\": [", key);
  for (uint32_t i = 0; i < count; ++i) {
    rt_text_add(text, i ? ",\n    " : "\n    ");
    add_value(text, &infos[i]);
  }
  rt_text_add(text, "],\n");
}

static void add_states(rt_text *text, const adze_module_desc *desc) {
  rt_text_add(text, "  \"states\": [");
  for (uint64_t i = 0; i < desc->num_states; ++i) {
    const adze_state *state = &desc->states[i];
    rt_text_add(text, i ? ",\n    {\"input\": " : "\n    {\"input\": ");
    rt_text_add_json(text, desc->inputs[state->input].name);
    rt_text_add(text, ", \"output\": ");
    rt_text_add_json(text, desc->outputs[state->output].name);
    if (state->kind == ADZE_STATE_ROWS)
      rt_text_add(text, ", \"kind\": \"rows\", \"axis\": %u}", state->axis);
    else
      rt_text_add(text, ", \"kind\": \"%s\"}",
                  state->kind == ADZE_STATE_KEEP ? "keep" : "whole");
  }
  rt_text_add(text, "],\n");
}

static void add_last_rows(rt_text *text, const adze_module_desc *desc) {
  rt_text_add(text, "  \"last_rows\": [");
  for (uint64_t i = 0; i < desc->num_last_rows; ++i) {
    const adze_last_rows *row = &desc->last_rows[i];
    rt_text_add(text, i ? ", {\"output\": " : "{\"output\": ");
    rt_text_add_json(text, desc->outputs[row->output].name);
    rt_text_add(text, ", \"dim\": %u}", row->dim);
  }
  rt_text_add(text, "],\n");
}

/* Returns the number of symbols that inputs have, which are the first ones. */
static uint32_t count_input_symbols(const adze_module_desc *desc) {
  return desc->num_symbols - (uint32_t)desc->num_last_rows;
}

static void add_symbols(rt_text *text, const adze_module_desc *desc) {
  rt_text_add(text, "  \"symbols\": [");
  for (uint32_t i = 0; i < count_input_symbols(desc); ++i) {
    const adze_module_symbol *symbol = &desc->symbols[i];
    rt_text_add(text, "%s{\"name\": ", i ? ", " : "");
    rt_text_add_json(text, symbol->name);
    rt_text_add(text, ", \"min\": %lld, \"max\": %lld, \"multiple_of\": %lld}",
                (long long)symbol->min, (long long)symbol->max,
                (long long)symbol->multiple_of);
  }
  rt_text_add(text, "],\n");
}

static void add_targets(rt_text *text, const adze_module *module) {
  const adze_module_desc *desc = module->desc;
  rt_text_add(text, "  \"variants\": [");
  for (uint32_t i = 0; i < desc->num_variants; ++i) {
    rt_text_add(text, "%s{\"name\": ", i ? ", " : "");
    rt_text_add_json(text, desc->variants[i].name);
    rt_text_add(text, ", \"cpu_features\": \"");
    rt_cpu_feature_names(desc->variants[i].cpu_features, text);
    rt_text_add(text, "\"}");
  }
  rt_text_add(text, "],\n  \"variant\": ");
  if (module->variant)
    rt_text_add_json(text, module->variant->name);
  else
    rt_text_add(text, "null");
  rt_text_add(text, ",\n  \"device_images\": [");
  if (desc->devices)
    desc = module->for_devices->desc;
  for (uint32_t i = 0; i < desc->num_images; ++i) {
    rt_text_add(text, "%s{\"target\": ", i ? ", " : "");
    rt_text_add_json(text, desc->images[i].target);
    rt_text_add(text, ", \"form\": \"%s\", \"bytes\": %llu}",
                desc->images[i].flags & ADZE_IMAGE_PTX ? "ptx" : "cubin",
                (unsigned long long)desc->images[i].image_size);
  }
  rt_text_add(text, "],\n");
}

/* Adds the size of the arena. With symbols, it is the size at their smallest
 * values, which "arena_at" states; null if the model rejects these. */
static adze_status add_memory(rt_text *text, const adze_module *module) {
  const adze_module_desc *desc = module->desc;
  int64_t *symbols = calloc(rt_num_symbols(module) + 1, sizeof(int64_t));
  if (!symbols)
    return rt_out_of_memory(desc->num_symbols * sizeof(int64_t));
  rt_smallest_symbols(desc, symbols);
  rt_text_add(text, "  \"weights_bytes\": %llu,\n",
              (unsigned long long)desc->weights_size);
  int64_t arena = desc->arena_bytes(symbols);
  if (arena < 0)
    rt_text_add(text, "  \"arena_bytes\": null,\n"
                      "  \"arena_lower_bound_bytes\": null");
  else
    rt_text_add(text,
                "  \"arena_bytes\": %lld,\n"
                "  \"arena_lower_bound_bytes\": %lld",
                (long long)arena,
                (long long)(desc->arena_lower_bound
                                ? desc->arena_lower_bound(symbols)
                                : 0));
  if (desc->num_symbols)
    rt_text_add(text, ",\n  \"arena_at\": {");
  for (uint32_t i = 0; i < count_input_symbols(desc); ++i) {
    rt_text_add(text, i ? ", " : "");
    rt_text_add_json(text, desc->symbols[i].name);
    rt_text_add(text, ": %lld", (long long)symbols[i]);
  }
  rt_text_add(text, desc->num_symbols ? "}\n" : "\n");
  free(symbols);
  return NULL;
}

static void add_string(rt_text *text, const char *key, const char *value) {
  rt_text_add(text, "  \"%s\": ", key);
  rt_text_add_json(text, value);
  rt_text_add(text, ",\n");
}

static const char *const attribute_kinds[] = {"int",  "float",  "string",
                                              "ints", "floats", "strings"};

static void add_operators(rt_text *text, const adze_module_desc *desc) {
  if (!desc->num_operators)
    return;
  rt_text_add(text, "  \"operators\": [");
  for (uint64_t i = 0; i < desc->num_operators; ++i) {
    const adze_module_operator *row = &desc->operators[i];
    rt_text_add(text, i ? ",\n    {\"name\": " : "\n    {\"name\": ");
    rt_text_add_json(text, row->name);
    rt_text_add(text, ", \"node\": ");
    rt_text_add_json(text, row->node);
    rt_text_add(text, ", \"attributes\": {");
    for (uint32_t a = 0; a < row->num_attributes; ++a) {
      rt_text_add(text, a ? ", " : "");
      rt_text_add_json(text, row->attributes[a].name);
      rt_text_add(text, ": \"%s\"", attribute_kinds[row->attributes[a].kind]);
    }
    rt_text_add(text, "}}");
  }
  rt_text_add(text, "],\n");
}

static adze_status make_json(const adze_module *module, char **json) {
  const adze_module_desc *desc = module->desc;
  rt_text text = {0};
  rt_text_add(&text, "{\n");
  add_string(&text, "model", desc->model_name);
  add_string(&text, "producer", desc->producer);
  add_string(&text, "build_id", desc->build_id);
  rt_text_add(&text, "  \"abi\": %u,\n  \"kernels\": %u,\n", desc->abi,
              desc->num_kernels);
  uint32_t required = rt_num_required(module);
  add_values(&text, "inputs", module->inputs, required);
  add_values(&text, "outputs", module->outputs, desc->num_outputs);
  if (desc->num_defaults)
    add_values(&text, "overridable", module->inputs + required,
               desc->num_inputs - required);
  add_operators(&text, desc);
  add_symbols(&text, desc);
  add_states(&text, desc);
  add_last_rows(&text, desc);
  add_targets(&text, module);
  adze_status status = add_memory(&text, module);
  rt_text_add(&text, "}\n");
  if (!status && text.failed)
    status = rt_out_of_memory(text.capacity);
  if (status)
    rt_text_free(&text);
  else
    *json = text.data;
  return status;
}

adze_status adze_module_info(adze_module *module, const char **json) {
  if (!module || !json)
    return rt_error(
        ADZE_INVALID_ARGUMENT,
        "expected a module and a pointer to the text, but got NULL");
  pthread_mutex_lock(&module->mutex);
  adze_status status = NULL;
  if (!module->json)
    status = make_json(module, &module->json);
  if (!status)
    *json = module->json;
  pthread_mutex_unlock(&module->mutex);
  return status;
}
