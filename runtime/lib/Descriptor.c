/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Reads the descriptor of a module of any ABI into the current layout, so that
 * the rest of the run time does not depend on versions.
 * */
#include "Runtime.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Row sizes of the first release, which ABI 1 uses and later ABIs extend. */
static const adze_module_row_sizes first_rows = {
    .size = sizeof(adze_module_row_sizes),
    .value = 24,
    .dim = 16,
    .symbol = 32,
    .string = 16,
    .kernel = 48,
    .variant = 24,
    .cpu_kernel = 24,
    .image = 40,
    .device_kernel = 24,
    .fault = 16,
    .state = 40,
    .host_operator = 40,
    .attribute = 32,
    .default_value = 16,
    .last_rows = 16,
    .transform = 80,
};

/* Row sizes of this run time. */
static const adze_module_row_sizes own_rows = ADZE_MODULE_ROW_SIZES;

typedef struct copied_array {
  struct copied_array *next;
  _Alignas(8) char rows[];
} copied_array;

struct rt_descriptor {
  adze_module_desc desc;
  copied_array *arrays;
  bool out_of_memory;
};

const adze_module_desc *rt_descriptor_get(const rt_descriptor *descriptor) {
  return &descriptor->desc;
}

void rt_descriptor_free(rt_descriptor *descriptor) {
  if (!descriptor)
    return;
  while (descriptor->arrays) {
    copied_array *array = descriptor->arrays;
    descriptor->arrays = array->next;
    free(array);
  }
  free(descriptor);
}

/* ---- Arrays -------------------------------------------------------------- */

/* Returns rows of `to` bytes: `rows` itself if they have that size, else a copy
 * with each row truncated or padded with zeros. */
static const void *convert(rt_descriptor *self, const void *rows,
                           uint64_t count, uint32_t from, uint32_t to,
                           bool always) {
  if (!rows || (from == to && !always))
    return rows;
  uint64_t bytes;
  copied_array *array = NULL;
  if (!__builtin_mul_overflow(count, (uint64_t)to, &bytes) &&
      bytes < SIZE_MAX - sizeof(copied_array))
    array = calloc(1, sizeof(copied_array) + (size_t)bytes);
  if (!array) {
    self->out_of_memory = true;
    return NULL;
  }
  array->next = self->arrays;
  self->arrays = array;
  for (uint64_t i = 0; i < count; ++i)
    memcpy(array->rows + i * to, (const char *)rows + i * from,
           from < to ? from : to);
  return array->rows;
}

static const adze_module_value *
convert_values(rt_descriptor *self, const adze_module_value *values,
               uint32_t count, const adze_module_row_sizes *from) {
  bool nested = from->dim != own_rows.dim;
  adze_module_value *result = (adze_module_value *)(uintptr_t)convert(
      self, values, count, from->value, own_rows.value, nested);
  for (uint32_t i = 0; nested && result && i < count; ++i)
    result[i].dims = convert(self, result[i].dims, result[i].rank, from->dim,
                             own_rows.dim, false);
  return result;
}

static const adze_cpu_variant *
convert_variants(rt_descriptor *self, const adze_module_row_sizes *from) {
  const adze_module_desc *desc = &self->desc;
  bool nested = from->cpu_kernel != own_rows.cpu_kernel;
  adze_cpu_variant *result = (adze_cpu_variant *)(uintptr_t)convert(
      self, desc->variants, desc->num_variants, from->variant, own_rows.variant,
      nested);
  for (uint32_t i = 0; nested && result && i < desc->num_variants; ++i)
    result[i].kernels = convert(self, result[i].kernels, desc->num_kernels,
                                from->cpu_kernel, own_rows.cpu_kernel, false);
  return result;
}

static const adze_device_image *
convert_images(rt_descriptor *self, const adze_module_row_sizes *from) {
  const adze_module_desc *desc = &self->desc;
  bool nested = from->device_kernel != own_rows.device_kernel;
  adze_device_image *result = (adze_device_image *)(uintptr_t)convert(
      self, desc->images, desc->num_images, from->image, own_rows.image,
      nested);
  for (uint32_t i = 0; nested && result && i < desc->num_images; ++i)
    result[i].kernels =
        convert(self, result[i].kernels, desc->num_kernels, from->device_kernel,
                own_rows.device_kernel, false);
  return result;
}

/* Strings among the values are rows as well. */
static const adze_module_attribute *
convert_attributes(rt_descriptor *self, const adze_module_attribute *attributes,
                   uint32_t count, const adze_module_row_sizes *from) {
  bool nested = from->string != own_rows.string;
  adze_module_attribute *result = (adze_module_attribute *)(uintptr_t)convert(
      self, attributes, count, from->attribute, own_rows.attribute, nested);
  for (uint32_t i = 0; nested && result && i < count; ++i)
    if (result[i].kind == ADZE_ATTRIBUTE_STRING ||
        result[i].kind == ADZE_ATTRIBUTE_STRINGS)
      result[i].values = convert(self, result[i].values, result[i].count,
                                 from->string, own_rows.string, false);
  return result;
}

static const adze_module_operator *
convert_operators(rt_descriptor *self, const adze_module_row_sizes *from) {
  const adze_module_desc *desc = &self->desc;
  bool nested =
      from->attribute != own_rows.attribute || from->string != own_rows.string;
  adze_module_operator *result = (adze_module_operator *)(uintptr_t)convert(
      self, desc->operators, desc->num_operators, from->host_operator,
      own_rows.host_operator, nested);
  for (uint64_t i = 0; nested && result && i < desc->num_operators; ++i)
    result[i].attributes = convert_attributes(self, result[i].attributes,
                                              result[i].num_attributes, from);
  return result;
}

static void convert_arrays(rt_descriptor *self,
                           const adze_module_row_sizes *from) {
  adze_module_desc *desc = &self->desc;
  uint64_t symbols = (uint64_t)desc->num_symbols + desc->num_data_symbols;
  desc->inputs = convert_values(self, desc->inputs, desc->num_inputs, from);
  desc->outputs = convert_values(self, desc->outputs, desc->num_outputs, from);
  desc->symbols = convert(self, desc->symbols, symbols, from->symbol,
                          own_rows.symbol, false);
  desc->strings = convert(self, desc->strings, desc->num_strings, from->string,
                          own_rows.string, false);
  desc->kernels = convert(self, desc->kernels, desc->num_kernels, from->kernel,
                          own_rows.kernel, false);
  desc->faults = convert(self, desc->faults, desc->num_faults, from->fault,
                         own_rows.fault, false);
  desc->states = convert(self, desc->states, desc->num_states, from->state,
                         own_rows.state, false);
  desc->variants = convert_variants(self, from);
  desc->images = convert_images(self, from);
  desc->operators = convert_operators(self, from);
  desc->defaults = convert(self, desc->defaults, desc->num_defaults,
                           from->default_value, own_rows.default_value, false);
  desc->last_rows = convert(self, desc->last_rows, desc->num_last_rows,
                            from->last_rows, own_rows.last_rows, false);
  desc->transforms = convert(self, desc->transforms, desc->num_transforms,
                             from->transform, own_rows.transform, false);
}

/* ---- Checks -------------------------------------------------------------- */

static bool has_all_arrays(const adze_module_desc *desc) {
  return (!desc->num_inputs || desc->inputs) &&
         (!desc->num_outputs || desc->outputs) &&
         (!(desc->num_symbols || desc->num_data_symbols) || desc->symbols) &&
         (!desc->num_strings || desc->strings) &&
         (!desc->num_kernels || desc->kernels) &&
         (!desc->num_variants || desc->variants) &&
         (!desc->num_images || desc->images) &&
         (!desc->num_faults || desc->faults) &&
         (!desc->num_states || desc->states) &&
         (!desc->num_operators || desc->operators) &&
         (!desc->num_defaults || desc->defaults) &&
         (!desc->num_last_rows || desc->last_rows) &&
         (!desc->num_transforms || desc->transforms);
}

/* Reads the module's row sizes. Returns false if they are damaged. */
static bool read_row_sizes(const adze_module_desc *desc,
                           adze_module_row_sizes *rows) {
  *rows = first_rows;
  if (desc->abi == 1)
    return true;
  const adze_module_row_sizes *given = desc->row_sizes;
  if (!given || given->size < offsetof(adze_module_row_sizes, state))
    return false;
  memcpy(rows, given,
         given->size < sizeof(*rows) ? given->size : sizeof(*rows));
  const uint32_t *least = &first_rows.value, *sizes = &rows->value;
  for (size_t i = 0; i < sizeof(*rows) / sizeof(uint32_t) - 1; ++i)
    if (sizes[i] < least[i] || sizes[i] % 8)
      return false;
  return true;
}

/* Returns true if the faults of the kernels are rows of the table. */
static bool has_sound_faults(const adze_module_desc *desc) {
  for (uint32_t i = 0; i < desc->num_kernels; ++i)
    if ((uint64_t)desc->kernels[i].first_fault + desc->kernels[i].num_faults >
        desc->num_faults)
      return false;
  return true;
}

/* Returns true if the states refer to existing inputs, outputs and symbols. */
static bool has_sound_states(const adze_module_desc *desc) {
  uint64_t symbols = (uint64_t)desc->num_symbols + desc->num_data_symbols;
  for (uint64_t i = 0; i < desc->num_states; ++i) {
    const adze_state *state = &desc->states[i];
    if (state->input >= desc->num_inputs || state->output >= desc->num_outputs)
      return false;
    const adze_module_value *input = &desc->inputs[state->input],
                            *output = &desc->outputs[state->output];
    if (input->rank != output->rank || input->dtype_bits % 8)
      return false;
    if (state->kind == ADZE_STATE_ROWS &&
        (!state->rows || !state->drop || state->axis >= input->rank ||
         state->pitch_symbol < (int64_t)desc->num_symbols ||
         (uint64_t)state->pitch_symbol >= symbols))
      return false;
  }
  return true;
}

/* Returns true if the rows of operators refer to existing entries. */
static bool has_sound_operators(const adze_module_desc *desc) {
  for (uint64_t i = 0; i < desc->num_operators; ++i) {
    const adze_module_operator *row = &desc->operators[i];
    if (!row->name || !row->node || (row->num_inputs && !row->inputs) ||
        (row->num_attributes && !row->attributes))
      return false;
    for (uint32_t a = 0; a < row->num_attributes; ++a)
      if (!row->attributes[a].name ||
          row->attributes[a].kind > ADZE_ATTRIBUTE_STRINGS ||
          (row->attributes[a].count && !row->attributes[a].values))
        return false;
  }
  return true;
}

/* Returns true if the defaults are tensors of the types of their inputs, inside
 * of the weights. */
static bool has_sound_defaults(const adze_module_desc *desc) {
  if (desc->num_defaults > desc->num_inputs)
    return false;
  const adze_module_value *inputs =
      desc->inputs + (desc->num_inputs - desc->num_defaults);
  for (uint64_t i = 0; i < desc->num_defaults; ++i) {
    const adze_module_default *row = &desc->defaults[i];
    uint64_t bytes;
    if (inputs[i].kind != ADZE_TENSOR || (inputs[i].rank && !row->dims) ||
        !rt_tensor_bytes(rt_value_dtype(&inputs[i]), (int32_t)inputs[i].rank,
                         row->dims, &bytes) ||
        row->offset % RT_ALIGNMENT || row->offset > desc->weights_size ||
        bytes > desc->weights_size - row->offset)
      return false;
  }
  return true;
}

/* Returns true if the rows refer to existing dims of outputs and symbols. */
static bool has_sound_last_rows(const adze_module_desc *desc) {
  for (uint64_t i = 0; i < desc->num_last_rows; ++i) {
    const adze_last_rows *row = &desc->last_rows[i];
    if (row->output >= desc->num_outputs ||
        row->dim >= desc->outputs[row->output].rank || row->all < 0 ||
        (uint32_t)row->all >= desc->num_symbols || row->symbol < 0 ||
        (uint32_t)row->symbol >= desc->num_symbols)
      return false;
  }
  return true;
}

/* Returns true if an array [sizes..] of `count` sizes and elements of
 * `element_bytes` bytes at `offset` is inside of `total` bytes. */
static bool is_inside(uint64_t offset, const uint64_t *sizes, size_t count,
                      uint64_t element_bytes, uint64_t total) {
  uint64_t bytes = element_bytes;
  for (size_t i = 0; i < count; ++i)
    if (!sizes[i] || __builtin_mul_overflow(bytes, sizes[i], &bytes))
      return false;
  return offset % RT_ALIGNMENT == 0 && offset <= total &&
         bytes <= total - offset;
}

/* Returns true if the transforms read the weights and write the computed
 * ones. */
static bool has_sound_transforms(const adze_module_desc *desc) {
  for (uint64_t i = 0; i < desc->num_transforms; ++i) {
    const adze_module_transform *row = &desc->transforms[i];
    uint64_t bytes = row->dtype_bits / 8;
    bool is_float = row->dtype_code == kDLFloat &&
                    (row->dtype_bits == 32 || row->dtype_bits == 16);
    if (!is_float && !(row->dtype_code == kDLBfloat && row->dtype_bits == 16))
      return false;
    if (!row->panel || !row->group ||
        row->panel > row->outputs + RT_ALIGNMENT || row->group > row->inputs)
      return false;
    uint64_t panels = (row->outputs + row->panel - 1) / row->panel,
             groups = (row->inputs + row->group - 1) / row->group;
    const uint64_t filter[] = {row->outputs, row->inputs, row->window},
                   matrix[] = {row->rows, row->window},
                   result[] = {panels, row->rows, groups, row->panel,
                               row->group};
    if (row->window > RT_MOST_WINDOW ||
        !is_inside(row->filter, filter, 3, bytes, desc->weights_size) ||
        !is_inside(row->matrix, matrix, 2, sizeof(float), desc->weights_size) ||
        !is_inside(row->result, result, 5, bytes, desc->computed_size))
      return false;
  }
  return true;
}

static adze_status check(const adze_module_desc *desc) {
  if (!desc)
    return rt_error(ADZE_INVALID_MODULE,
                    "module does not serve ABI %u of this run time",
                    ADZE_MODULE_ABI);
  bool known =
      desc->abi >= ADZE_MODULE_OLDEST_ABI && desc->abi <= ADZE_MODULE_ABI;
  /* The size of the descriptor in the first modules of each ABI. */
  size_t least = desc->abi == 1
                     ? offsetof(adze_module_desc, num_data_symbols)
                     : offsetof(adze_module_desc, weights_checksums) +
                           sizeof(desc->weights_checksums);
  if (!known || desc->size < least)
    return rt_error(ADZE_INVALID_MODULE,
                    "expected a descriptor of ABI %u to %u and at least %zu "
                    "bytes, but got ABI %u and %u bytes",
                    ADZE_MODULE_OLDEST_ABI, ADZE_MODULE_ABI, least, desc->abi,
                    desc->size);
  return NULL;
}

adze_status rt_descriptor_create(const adze_module_desc *from,
                                 rt_descriptor **descriptor) {
  RT_TRY(check(from));
  rt_descriptor *self = calloc(1, sizeof(*self));
  if (!self)
    return rt_out_of_memory(sizeof(*self));
  adze_module_desc *desc = &self->desc;
  size_t known =
      from->abi == 1 ? offsetof(adze_module_desc, row_sizes) : sizeof(*desc);
  memcpy(desc, from, from->size < known ? from->size : known);
  adze_module_row_sizes rows;
  bool whole = read_row_sizes(desc, &rows) && desc->run && desc->infer &&
               desc->arena_bytes && has_all_arrays(desc) &&
               !(desc->weights_size && (uintptr_t)desc->weights % RT_ALIGNMENT);
  if (whole)
    convert_arrays(self, &rows);
  if (whole && !self->out_of_memory && has_sound_states(desc) &&
      has_sound_operators(desc) && has_sound_defaults(desc) &&
      has_sound_last_rows(desc) && has_sound_faults(desc) &&
      has_sound_transforms(desc)) {
    *descriptor = self;
    return NULL;
  }
  bool out_of_memory = self->out_of_memory;
  rt_descriptor_free(self);
  return out_of_memory ? rt_out_of_memory(sizeof(*self))
                       : rt_error(ADZE_INVALID_MODULE, "damaged descriptor");
}
