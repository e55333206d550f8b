/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Checks a call against the module's signature and binds its symbols.
 */
#include "Runtime.h"

#include <stdio.h>
#include <string.h>

/* The name of a value in messages, as in "input 'x'". */
typedef struct {
  const char *what;
  const adze_module_value *value;
} named_value;

#define NAMED "%s '%s'"
#define NAME_OF(named) (named).what, (named).value->name

static const char *device_name(DLDevice device, char *buffer, size_t size) {
  switch ((int)device.device_type) {
  case kDLCPU:
    return "cpu";
  case kDLCUDAHost:
    return "cuda_host";
  case kDLCUDA:
    snprintf(buffer, size, "cuda:%d", device.device_id);
    return buffer;
  case kDLCUDAManaged:
    return "cuda_managed";
  default:
    snprintf(buffer, size, "device type %d", (int)device.device_type);
    return buffer;
  }
}

const char *rt_dtype_name(DLDataType dtype, char *buffer, size_t size) {
  static const char *const prefixes[] = {
      "i",        "ui",         "f",       "handle",     "bf",
      "complex",  "bool",       "f8e3m4_", "f8e4m3_",    "f8e4m3b11fnuz_",
      "f8e4m3fn", "f8e4m3fnuz", "f8e5m2",  "f8e5m2fnuz", "f8e8m0fnu",
      "f6e2m3fn", "f6e3m2fn",   "f4e2m1fn"};
  bool known = dtype.code < sizeof(prefixes) / sizeof(*prefixes);
  bool with_bits = dtype.code < kDLBool;
  if (!known)
    snprintf(buffer, size, "dtype %d/%d", dtype.code, dtype.bits);
  else if (with_bits)
    snprintf(buffer, size, "%s%d", prefixes[dtype.code], dtype.bits);
  else
    snprintf(buffer, size, "%s", prefixes[dtype.code]);
  if (dtype.lanes != 1)
    snprintf(buffer + strlen(buffer), size - strlen(buffer), "x%d",
             dtype.lanes);
  return buffer;
}

bool rt_tensor_bytes(DLDataType dtype, int32_t rank, const int64_t *dims,
                     uint64_t *bytes) {
  uint64_t bits = dtype.bits;
  bool empty = false;
  for (int32_t i = 0; i < rank; ++i)
    empty |= dims[i] == 0;
  *bytes = 0;
  if (empty)
    return true;
  for (int32_t i = 0; i < rank; ++i)
    if (dims[i] < 0 || __builtin_mul_overflow(bits, (uint64_t)dims[i], &bits))
      return false;
  if (bits > INT64_MAX)
    return false;
  *bytes = (bits + 7) / 8;
  return true;
}

/* ---- Shapes ------------------------------------------------------------- */

static const char *symbol_name(const adze_module_desc *desc, int32_t symbol) {
  const char *name = desc->symbols[symbol].name;
  return name && *name ? name : "unnamed";
}

/* Returns the input whose dim gave the symbol its value. */
static const char *binder_of(const adze_module_desc *desc, int32_t symbol) {
  for (uint32_t i = 0; i < desc->num_inputs; ++i)
    for (uint32_t d = 0; d < desc->inputs[i].rank; ++d)
      if (desc->inputs[i].dims[d].size < 0 &&
          desc->inputs[i].dims[d].symbol == symbol)
        return desc->inputs[i].name;
  return "";
}

/* Appends "input 'x' dim 1 is 7" after `before`; nothing for a symbol that is
 * not a dim of an input. */
static void add_size(const adze_module_desc *desc, int64_t symbol, int64_t size,
                     const char *before, char *text, size_t bytes) {
  size_t used = strlen(text);
  for (uint32_t i = 0; i < desc->num_inputs; ++i)
    for (uint32_t d = 0; d < desc->inputs[i].rank; ++d) {
      const adze_module_dim *dim = &desc->inputs[i].dims[d];
      if (dim->size >= 0 || dim->symbol != symbol)
        continue;
      snprintf(text + used, bytes - used, "%sinput '%s' dim %u is %lld", before,
               desc->inputs[i].name, d, (long long)size);
      return;
    }
}

adze_status rt_misfit(const adze_module_desc *desc, int64_t code,
                      const int64_t *symbols) {
  char text[512] = "";
  uint64_t pair = (uint64_t)(-1 - code);
  int64_t first = (int64_t)(pair % ADZE_MISFIT_BASE) - 1;
  int64_t second = (int64_t)(pair / ADZE_MISFIT_BASE % ADZE_MISFIT_BASE) - 1;
  if (first >= 0 && first < desc->num_symbols)
    add_size(desc, first, symbols[first], ": ", text, sizeof(text));
  if (second >= 0 && second < desc->num_symbols)
    add_size(desc, second, symbols[second], *text ? ", " : ": ", text,
             sizeof(text));
  return rt_error(ADZE_INVALID_ARGUMENT,
                  "the inputs' shapes do not agree as the model's operators "
                  "need them to, or are too small for them%s",
                  text);
}

static adze_status check_range(const adze_module_desc *desc, named_value named,
                               int32_t dim, int32_t symbol, int64_t size) {
  const adze_module_symbol *range = &desc->symbols[symbol];
  if (size < range->min || (range->max >= 0 && size > range->max)) {
    char upper[32] = "";
    if (range->max >= 0)
      snprintf(upper, sizeof(upper), "%lld", (long long)range->max);
    return rt_error(ADZE_INVALID_ARGUMENT,
                    NAMED ": expected dim %d ('%s') in [%lld, %s], but got "
                          "%lld",
                    NAME_OF(named), dim, symbol_name(desc, symbol),
                    (long long)range->min, range->max >= 0 ? upper : "...",
                    (long long)size);
  }
  if (range->multiple_of > 1 && size % range->multiple_of)
    return rt_error(ADZE_INVALID_ARGUMENT,
                    NAMED ": expected dim %d ('%s') to be a multiple of %lld, "
                          "but got %lld",
                    NAME_OF(named), dim, symbol_name(desc, symbol),
                    (long long)range->multiple_of, (long long)size);
  return NULL;
}

static adze_status bind_dim(const adze_module_desc *desc, named_value named,
                            int32_t dim, int64_t size, int64_t *symbols) {
  const adze_module_dim *expected = &named.value->dims[dim];
  if (expected->size >= 0) {
    if (size == expected->size)
      return NULL;
    return rt_error(
        ADZE_INVALID_ARGUMENT, NAMED ": expected dim %d = %lld, but got %lld",
        NAME_OF(named), dim, (long long)expected->size, (long long)size);
  }
  int32_t symbol = expected->symbol;
  if (symbol < 0 || (uint32_t)symbol >= desc->num_symbols)
    return rt_error(ADZE_INVALID_MODULE, NAMED ": dim %d has no symbol",
                    NAME_OF(named), dim);
  if (size < 0)
    return rt_error(ADZE_INVALID_ARGUMENT,
                    NAMED ": expected dim %d >= 0, but got %lld",
                    NAME_OF(named), dim, (long long)size);
  if (symbols[symbol] < 0) {
    RT_TRY(check_range(desc, named, dim, symbol, size));
    symbols[symbol] = size;
  } else if (symbols[symbol] != size) {
    const char *name = desc->symbols[symbol].name;
    bool has_name = name && *name;
    return rt_error(ADZE_INVALID_ARGUMENT,
                    NAMED ": expected dim %d = %lld ('%s', given by input "
                          "'%s'), but got %lld%s%s%s",
                    NAME_OF(named), dim, (long long)symbols[symbol],
                    symbol_name(desc, symbol), binder_of(desc, symbol),
                    (long long)size,
                    has_name ? "; if the name denotes several sizes, "
                               "compile with --dim '"
                             : "",
                    has_name ? name : "", has_name ? "=?'" : "");
  }
  return NULL;
}

static adze_status check_rank(named_value named, int32_t rank) {
  if (rank >= 0 && (uint32_t)rank == named.value->rank)
    return NULL;
  return rt_error(ADZE_INVALID_ARGUMENT, NAMED ": expected rank %u, but got %d",
                  NAME_OF(named), named.value->rank, rank);
}

static adze_status bind_shape(const adze_module_desc *desc, named_value named,
                              int32_t rank, const int64_t *dims,
                              int64_t *symbols) {
  RT_TRY(check_rank(named, rank));
  if (rank && !dims)
    return rt_error(ADZE_INVALID_ARGUMENT,
                    NAMED ": expected a shape, but got NULL", NAME_OF(named));
  for (int32_t dim = 0; dim < rank; ++dim)
    RT_TRY(bind_dim(desc, named, dim, dims[dim], symbols));
  return NULL;
}

static adze_status check_count(const char *what, uint32_t expected,
                               int32_t count, const void *values) {
  if (count < 0 || (uint32_t)count != expected)
    return rt_error(ADZE_INVALID_ARGUMENT, "expected %u %ss, but got %d",
                    expected, what, count);
  if (count && !values)
    return rt_error(ADZE_INVALID_ARGUMENT, "expected %ss, but got NULL", what);
  return NULL;
}

static void clear_symbols(const adze_module_desc *desc, int64_t *symbols) {
  for (uint32_t i = 0; i < desc->num_symbols; ++i)
    symbols[i] = -1;
}

/* Outputs have all rows unless the caller requests fewer. */
static adze_status check_all_bound(const adze_module_desc *desc,
                                   int64_t *symbols) {
  for (uint64_t i = 0; i < desc->num_last_rows; ++i)
    symbols[desc->last_rows[i].symbol] = symbols[desc->last_rows[i].all];
  for (uint32_t i = 0; i < desc->num_symbols; ++i)
    if (symbols[i] < 0)
      return rt_error(ADZE_UNSUPPORTED,
                      "symbol %u ('%s') is not a dim of any input", i,
                      symbol_name(desc, (int32_t)i));
  return NULL;
}

adze_status rt_bind_shapes(const adze_module *module, const adze_shape *inputs,
                           int32_t count, int64_t *symbols) {
  const adze_module_desc *desc = module->desc;
  uint32_t required = rt_num_required(module);
  bool is_whole = count > 0 && (uint32_t)count == desc->num_inputs;
  RT_TRY(check_count("input shape", is_whole ? desc->num_inputs : required,
                     count, inputs));
  clear_symbols(desc, symbols);
  for (uint32_t i = 0; i < desc->num_inputs; ++i) {
    named_value named = {"input", &desc->inputs[i]};
    bool is_given = i < (uint32_t)count;
    RT_TRY(bind_shape(
        desc, named, is_given ? inputs[i].rank : (int32_t)desc->inputs[i].rank,
        is_given ? inputs[i].dims : desc->defaults[i - required].dims,
        symbols));
  }
  return check_all_bound(desc, symbols);
}

void rt_smallest_symbols(const adze_module_desc *desc, int64_t *symbols) {
  for (uint32_t i = 0; i < desc->num_symbols; ++i) {
    int64_t least = desc->symbols[i].min > 1 ? desc->symbols[i].min : 1;
    int64_t step = desc->symbols[i].multiple_of;
    symbols[i] = step > 1 ? (least + step - 1) / step * step : least;
  }
}

int32_t rt_total_output_rank(const adze_module_desc *desc) {
  int32_t total = 0;
  for (uint32_t i = 0; i < desc->num_outputs; ++i)
    total += (int32_t)desc->outputs[i].rank;
  return total;
}

/* ---- Tensors ------------------------------------------------------------ */

static adze_status check_dtype(named_value named, DLDataType dtype) {
  DLDataType expected = rt_value_dtype(named.value);
  if (dtype.code == expected.code && dtype.bits == expected.bits &&
      dtype.lanes == 1)
    return NULL;
  char want[48], got[48];
  return rt_error(ADZE_INVALID_ARGUMENT, NAMED ": expected %s, but got %s",
                  NAME_OF(named), rt_dtype_name(expected, want, sizeof(want)),
                  rt_dtype_name(dtype, got, sizeof(got)));
}

static adze_status check_device(named_value named, DLDevice device,
                                DLDevice expected) {
  bool host = device.device_type == kDLCPU || device.device_type == kDLCUDAHost;
  bool same = device.device_type == expected.device_type &&
              device.device_id == expected.device_id;
  bool managed =
      expected.device_type == kDLCUDA && device.device_type == kDLCUDAManaged;
  if (host || same || managed)
    return NULL;
  char want[32], got[32];
  return rt_error(ADZE_INVALID_ARGUMENT,
                  NAMED ": expected a tensor on %s, but got one on %s",
                  NAME_OF(named), device_name(expected, want, sizeof(want)),
                  device_name(device, got, sizeof(got)));
}

/* `axis` is the dim of rows that may be part of a larger buffer, or -1. */
static adze_status check_strides(named_value named, const DLTensor *tensor,
                                 int32_t axis) {
  if (!tensor->strides)
    return NULL;
  for (int32_t i = 0; i < tensor->ndim; ++i)
    if (tensor->shape[i] == 0)
      return NULL;
  int64_t dense = 1, row = 1;
  bool first = true; /* whether it is the last dim before the axis */
  for (int32_t i = tensor->ndim - 1; i >= 0; --i) {
    /* The stride of a dim of size 1 is not used. */
    bool used = tensor->shape[i] != 1;
    if (used && i < axis && first) {
      first = false;
      if (tensor->strides[i] >= dense && tensor->strides[i] % row == 0)
        dense = tensor->strides[i];
    }
    if (used && tensor->strides[i] != dense)
      return rt_error(ADZE_INVALID_ARGUMENT,
                      NAMED ": expected dense row-major strides: %lld at dim "
                            "%d, but got %lld",
                      NAME_OF(named), (long long)dense, i,
                      (long long)tensor->strides[i]);
    if (i == axis)
      row = dense;
    if (__builtin_mul_overflow(dense, tensor->shape[i], &dense))
      return NULL; /* the shape or the span has been checked already */
  }
  return NULL;
}

static adze_status check_data(named_value named, const DLTensor *tensor) {
  uint64_t bytes;
  if (!rt_tensor_bytes(tensor->dtype, tensor->ndim, tensor->shape, &bytes))
    return rt_error(ADZE_INVALID_ARGUMENT, NAMED ": the shape is too big",
                    NAME_OF(named));
  if (!bytes)
    return NULL;
  if (!tensor->data)
    return rt_error(ADZE_INVALID_ARGUMENT,
                    NAMED ": expected data, but got NULL", NAME_OF(named));
  uint64_t element = tensor->dtype.bits >= 8 ? tensor->dtype.bits / 8u : 1;
  if ((uintptr_t)rt_tensor_data(tensor) % element)
    return rt_error(ADZE_INVALID_ARGUMENT,
                    NAMED ": expected data aligned to %llu bytes",
                    NAME_OF(named), (unsigned long long)element);
  return NULL;
}

static adze_status check_tensor_head(named_value named, const DLTensor *tensor,
                                     DLDevice device) {
  if (!tensor)
    return rt_error(ADZE_INVALID_ARGUMENT,
                    NAMED ": expected a tensor, but got NULL", NAME_OF(named));
  RT_TRY(check_dtype(named, tensor->dtype));
  return check_device(named, tensor->device, device);
}

/* `state` is the state that the tensor belongs to, or null. */
static adze_status check_tensor_tail(named_value named, const DLTensor *tensor,
                                     const adze_state *state) {
  bool has_rows = state && state->kind == ADZE_STATE_ROWS;
  RT_TRY(check_strides(named, tensor, has_rows ? (int32_t)state->axis : -1));
  return check_data(named, tensor);
}

adze_status rt_check_only_tensors(const adze_module *module) {
  const adze_module_desc *desc = module->desc;
  if (module->only_tensors)
    return NULL;
  for (uint32_t i = 0; i < desc->num_inputs + desc->num_outputs; ++i) {
    bool is_input = i < desc->num_inputs;
    named_value named = {is_input ? "input" : "output",
                         is_input ? &desc->inputs[i]
                                  : &desc->outputs[i - desc->num_inputs]};
    if (named.value->kind != ADZE_TENSOR)
      return rt_error(ADZE_INVALID_ARGUMENT,
                      NAMED ": is not a tensor, which adze_run_values takes",
                      NAME_OF(named));
  }
  return NULL;
}

static adze_status bind_input(const adze_module *module, uint32_t index,
                              const DLTensor *tensor, DLDevice device,
                              int64_t *symbols) {
  named_value named = {"input", &module->desc->inputs[index]};
  RT_TRY(check_tensor_head(named, tensor, device));
  RT_TRY(bind_shape(module->desc, named, tensor->ndim, tensor->shape, symbols));
  return check_tensor_tail(named, tensor, module->input_states[index]);
}

adze_status rt_check_input(const adze_module *module, uint32_t index,
                           const DLTensor *tensor, DLDevice device,
                           int64_t *symbols) {
  clear_symbols(module->desc, symbols);
  return bind_input(module, index, tensor, device, symbols);
}

adze_status rt_bind_inputs(const adze_module *module,
                           const DLTensor *const inputs[], int32_t count,
                           DLDevice device, int64_t *symbols) {
  const adze_module_desc *desc = module->desc;
  RT_TRY(check_count("input", desc->num_inputs, count, inputs));
  clear_symbols(desc, symbols);
  for (int32_t i = 0; i < count; ++i)
    RT_TRY(bind_input(module, (uint32_t)i, inputs[i], device, symbols));
  return check_all_bound(desc, symbols);
}

void rt_bind_last_rows(const adze_module *module, DLTensor *const outputs[],
                       int32_t count, int64_t *symbols) {
  const adze_module_desc *desc = module->desc;
  for (uint64_t i = 0; outputs && i < desc->num_last_rows; ++i) {
    const adze_last_rows *row = &desc->last_rows[i];
    const DLTensor *output =
        row->output < (uint32_t)count ? outputs[row->output] : NULL;
    if (!output || !output->shape || output->ndim <= (int32_t)row->dim)
      continue;
    int64_t rows = output->shape[row->dim];
    if (rows >= 0 && rows < symbols[row->all])
      symbols[row->symbol] = rows;
  }
}

static adze_status check_dims(named_value named, const DLTensor *tensor,
                              const int64_t *dims) {
  for (int32_t d = 0; d < tensor->ndim; ++d)
    if (dims[d] < 0 ? tensor->shape[d] < 0 : tensor->shape[d] != dims[d])
      return rt_error(
          ADZE_INVALID_ARGUMENT, NAMED ": expected dim %d = %lld, but got %lld",
          NAME_OF(named), d, (long long)dims[d], (long long)tensor->shape[d]);
  return NULL;
}

adze_status rt_check_output_dims(const adze_module *module, uint32_t index,
                                 const DLTensor *tensor, const int64_t *dims) {
  named_value named = {"output", &module->desc->outputs[index]};
  return check_dims(named, tensor, dims);
}

static adze_status check_output_shape(named_value named, const DLTensor *tensor,
                                      const int64_t *dims) {
  RT_TRY(check_rank(named, tensor->ndim));
  if (tensor->ndim && !tensor->shape)
    return rt_error(ADZE_INVALID_ARGUMENT,
                    NAMED ": expected a shape, but got NULL", NAME_OF(named));
  return check_dims(named, tensor, dims);
}

adze_status rt_check_outputs(const adze_module *module,
                             DLTensor *const outputs[], int32_t count,
                             DLDevice device, const int64_t *dims,
                             bool run_makes) {
  const adze_module_desc *desc = module->desc;
  RT_TRY(check_count("output", desc->num_outputs, count, outputs));
  for (int32_t i = 0; i < count; ++i) {
    named_value named = {"output", &desc->outputs[i]};
    if (outputs[i] || !run_makes) {
      RT_TRY(check_tensor_head(named, outputs[i], device));
      RT_TRY(check_output_shape(named, outputs[i], dims));
      RT_TRY(check_tensor_tail(named, outputs[i], module->output_states[i]));
    }
    dims += desc->outputs[i].rank;
  }
  return NULL;
}

uint64_t rt_tensor_span(const DLTensor *tensor) {
  uint64_t bytes = rt_tensor_size(tensor);
  if (!tensor->strides || !bytes)
    return bytes;
  uint64_t last = 0;
  for (int32_t d = 0; d < tensor->ndim; ++d)
    if (tensor->shape[d] > 1)
      last += (uint64_t)(tensor->shape[d] - 1) * (uint64_t)tensor->strides[d];
  uint64_t span = (last * tensor->dtype.bits + tensor->dtype.bits + 7) / 8;
  return span > bytes ? span : bytes;
}

bool rt_tensors_overlap(const DLTensor *a, const DLTensor *b) {
  if (!a || !b)
    return false;
  uint64_t a_bytes = rt_tensor_span(a), b_bytes = rt_tensor_span(b);
  uintptr_t a_begin = (uintptr_t)rt_tensor_data(a);
  uintptr_t b_begin = (uintptr_t)rt_tensor_data(b);
  return a_bytes && b_bytes && a_begin < b_begin + b_bytes &&
         b_begin < a_begin + a_bytes;
}

adze_status rt_check_overlap(const adze_module *module,
                             const DLTensor *const inputs[],
                             DLTensor *const outputs[]) {
  const adze_module_desc *desc = module->desc;
  for (uint32_t o = 0; o < desc->num_outputs; ++o) {
    const adze_state *state = module->output_states[o];
    for (uint32_t i = 0; i < desc->num_inputs; ++i)
      if (!(state && state->input == i) &&
          rt_tensors_overlap(outputs[o], inputs[i]))
        return rt_error(ADZE_INVALID_ARGUMENT,
                        "output '%s': overlaps input '%s' in memory, and does "
                        "not continue it (see the module's states)",
                        desc->outputs[o].name, desc->inputs[i].name);
    for (uint32_t i = 0; i < o; ++i)
      if (rt_tensors_overlap(outputs[o], outputs[i]))
        return rt_error(ADZE_INVALID_ARGUMENT,
                        "output '%s': overlaps output '%s' in memory",
                        desc->outputs[o].name, desc->outputs[i].name);
  }
  return NULL;
}
