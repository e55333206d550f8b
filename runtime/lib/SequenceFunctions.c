/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Functions on sequences, optionals and maps.
 */
#include "Calls.h"

#include <stdlib.h>
#include <string.h>

/* ---- Sequences ----------------------------------------------------------- */

static adze_status give_sequence(rt_call *call, adze_value *const *parts,
                                 size_t count) {
  adze_value *sequence;
  RT_TRY(adze_value_from_sequence(parts, count, &sequence));
  return rt_result_give(call, 0, sequence);
}

static void release_all(adze_value **parts, size_t count) {
  for (size_t i = 0; i < count; ++i)
    adze_value_release(parts[i]);
  free(parts);
}

static adze_status new_parts(size_t count, adze_value ***parts) {
  *parts = calloc(count + 1, sizeof(adze_value *));
  return *parts ? NULL : rt_out_of_memory(count * sizeof(adze_value *));
}

static adze_status sequence_construct(rt_call *call) {
  adze_value **parts;
  RT_TRY(new_parts(call->num_inputs, &parts));
  adze_status status = NULL;
  uint32_t made = 0;
  while (made < call->num_inputs && !status)
    if (!(status = rt_input_value(call, made, &parts[made])))
      ++made;
  if (!status)
    status = give_sequence(call, parts, made);
  release_all(parts, made);
  return status;
}

/* Returns a position in [0, limit), counted from the end if negative. */
static adze_status get_place(rt_call *call, uint32_t index, size_t count,
                             size_t limit, size_t *place) {
  int64_t given = rt_input_int(call, index, 0);
  int64_t at = given < 0 ? given + (int64_t)count : given;
  if (at < 0 || at >= (int64_t)limit)
    return rt_error(ADZE_RUN_ERROR,
                    "expected a place in a sequence of %zu, but got %lld",
                    count, (long long)given);
  *place = (size_t)at;
  return NULL;
}

static adze_status sequence_at(rt_call *call) {
  adze_value *sequence;
  size_t at;
  RT_TRY(rt_input_container(call, 0, ADZE_SEQUENCE, &sequence));
  RT_TRY(get_place(call, 1, sequence->count, sequence->count, &at));
  adze_value_retain(sequence->parts[at]);
  return rt_result_give(call, 0, sequence->parts[at]);
}

static adze_status sequence_insert(rt_call *call) {
  adze_value *sequence, **parts;
  RT_TRY(rt_input_container(call, 0, ADZE_SEQUENCE, &sequence));
  size_t count = sequence->count, at = count;
  if (call->num_inputs > 2)
    RT_TRY(get_place(call, 2, count, count + 1, &at));
  RT_TRY(new_parts(count + 1, &parts));
  adze_status status = rt_input_value(call, 1, &parts[at]);
  if (!status) {
    for (size_t i = 0; i < count; ++i)
      parts[i < at ? i : i + 1] = sequence->parts[i];
    status = give_sequence(call, parts, count + 1);
    adze_value_release(parts[at]);
  }
  free(parts);
  return status;
}

static adze_status sequence_erase(rt_call *call) {
  adze_value *sequence, **parts;
  RT_TRY(rt_input_container(call, 0, ADZE_SEQUENCE, &sequence));
  size_t count = sequence->count, at = count - 1;
  if (call->num_inputs > 1)
    RT_TRY(get_place(call, 1, count, count, &at));
  else if (!count)
    return rt_error(ADZE_RUN_ERROR, "expected a sequence that is not empty");
  RT_TRY(new_parts(count, &parts));
  for (size_t i = 0; i + 1 < count; ++i)
    parts[i] = sequence->parts[i < at ? i : i + 1];
  adze_status status = give_sequence(call, parts, count - 1);
  free(parts);
  return status;
}

static adze_status sequence_length(rt_call *call) {
  adze_value *sequence;
  RT_TRY(rt_input_container(call, 0, ADZE_SEQUENCE, &sequence));
  RT_TRY(rt_result_make(call, 0, NULL));
  *(int64_t *)call->results[0].data = (int64_t)sequence->count;
  return NULL;
}

/* ---- Parts of tensors ---------------------------------------------------- */

/* A tensor as [outer][size][inner bytes] along an axis. */
typedef struct {
  uint64_t outer, inner;
  int64_t size;
} axis_view;

static adze_status view_axis(DLDataType dtype, int32_t rank,
                             const int64_t *dims, int32_t axis,
                             axis_view *view) {
  if (dtype.bits < 8)
    return rt_error(ADZE_UNSUPPORTED,
                    "expected elements of at least 8 bits in a sequence");
  view->outer = 1;
  view->inner = dtype.bits / 8u;
  for (int32_t d = 0; d < axis; ++d)
    view->outer *= (uint64_t)dims[d];
  for (int32_t d = axis + 1; d < rank; ++d)
    view->inner *= (uint64_t)dims[d];
  view->size = axis < rank ? dims[axis] : 1;
  return NULL;
}

/* Makes a value of elements [begin, begin + size) of the axis. */
static adze_status cut_piece(rt_call *call, int32_t axis, int64_t begin,
                             int64_t size, bool keep, adze_value **piece) {
  const rt_input *x = &call->inputs[0];
  axis_view view;
  RT_TRY(view_axis(x->dtype, x->rank, x->dims, axis, &view));
  int64_t *dims = calloc((size_t)x->rank + 1, sizeof(int64_t));
  char *bytes = malloc(view.outer * (uint64_t)size * view.inner + 1);
  adze_status status = dims && bytes ? NULL : rt_out_of_memory(view.inner);
  if (!status) {
    int32_t rank = 0;
    for (int32_t d = 0; d < x->rank; ++d)
      if (d != axis || keep)
        dims[rank++] = d == axis ? size : x->dims[d];
    uint64_t run = (uint64_t)size * view.inner;
    for (uint64_t o = 0; o < view.outer && run; ++o)
      memcpy(bytes + o * run,
             (const char *)x->data +
                 (o * (uint64_t)view.size + (uint64_t)begin) * view.inner,
             run);
    /* The part is converted to a value like an input. */
    rt_input cut = {x->dtype, x->kind, rank, dims, 0, bytes};
    rt_call one = {call->context, 1, 0, &cut, NULL};
    status = rt_input_value(&one, 0, piece);
  }
  free(bytes);
  free(dims);
  return status;
}

/* Returns the size of part `index`, which begins at `begin`. */
static adze_status piece_size(const rt_call *call, uint64_t index,
                              int64_t begin, int64_t whole, int64_t *size) {
  const rt_input *split = call->num_inputs > 2 ? &call->inputs[2] : NULL;
  int64_t given = 1;
  if (split && split->rank)
    given = index < split->count ? rt_input_int(call, 2, index) : 0;
  else if (split)
    given = rt_input_int(call, 2, 0);
  bool is_list = split && split->rank;
  *size = given < whole - begin || is_list ? given : whole - begin;
  if (given < (is_list ? 0 : 1) || *size > whole - begin ||
      (is_list && index + 1 == split->count && begin + given != whole) ||
      (is_list && index >= split->count))
    return rt_error(ADZE_RUN_ERROR,
                    "expected sizes that sum up to %lld, but got %lld at %lld",
                    (long long)whole, (long long)given, (long long)begin);
  return NULL;
}

static adze_status split_to_sequence(rt_call *call) {
  const rt_input *x = &call->inputs[0];
  int32_t axis = (int32_t)rt_input_int(call, 1, 0);
  bool keep = rt_input_int(call, 1, 1) != 0;
  int64_t whole = x->dims[axis], begin = 0;
  bool is_list = call->num_inputs > 2 && call->inputs[2].rank;
  uint64_t limit = is_list ? call->inputs[2].count : (uint64_t)whole;
  adze_value **parts;
  RT_TRY(new_parts(limit, &parts));
  adze_status status = NULL;
  size_t count = 0;
  while (!status && (is_list ? count < limit : begin < whole)) {
    int64_t size = 0;
    status = piece_size(call, count, begin, whole, &size);
    if (!status)
      status = cut_piece(call, axis, begin, size, keep, &parts[count]);
    if (!status)
      ++count;
    begin += size;
  }
  if (!status)
    status = give_sequence(call, parts, count);
  release_all(parts, count);
  return status;
}

/* Returns the data of a part; strings as indices (freed by the caller). */
static adze_status part_data(rt_call *call, const adze_value *part,
                             const void **data, void **owned) {
  *owned = NULL;
  if (part->kind == ADZE_TENSOR) {
    *data = rt_value_data(part);
    return NULL;
  }
  *owned = calloc(part->count + 1, sizeof(int64_t));
  *data = *owned;
  return *owned ? rt_strings_to_numbers(call->context, part, *owned)
                : rt_out_of_memory(part->count * sizeof(int64_t));
}

static void part_shape(const adze_value *part, int32_t *rank,
                       const int64_t **dims) {
  bool is_tensor = part->kind == ADZE_TENSOR;
  *rank = is_tensor ? part->tensor->dl_tensor.ndim : part->rank;
  *dims = is_tensor ? part->tensor->dl_tensor.shape : part->dims;
}

static adze_status check_part(const rt_result *result, const adze_value *part,
                              const adze_value *first, int32_t axis,
                              bool new_axis) {
  int32_t rank, first_rank;
  const int64_t *dims, *first_dims;
  if (part->kind != result->kind ||
      (part->kind == ADZE_TENSOR &&
       (part->tensor->dl_tensor.dtype.code != result->dtype.code ||
        part->tensor->dl_tensor.dtype.bits != result->dtype.bits)))
    return rt_error(ADZE_RUN_ERROR, "expected a sequence of one type");
  part_shape(part, &rank, &dims);
  part_shape(first, &first_rank, &first_dims);
  bool fits = rank + (new_axis ? 1 : 0) == result->rank && rank == first_rank;
  for (int32_t d = 0; d < rank && fits; ++d)
    fits = dims[d] == first_dims[d] || (d == axis && !new_axis);
  return fits ? NULL
              : rt_error(ADZE_RUN_ERROR,
                         "expected tensors of one shape but for the axis");
}

static adze_status concat_parts(rt_call *call, const adze_value *sequence,
                                int32_t axis, bool new_axis) {
  rt_result *result = &call->results[0];
  axis_view whole, view;
  RT_TRY(view_axis(result->dtype, result->rank, result->dims, axis, &whole));
  int64_t at = 0;
  for (size_t i = 0; i < sequence->count; ++i) {
    const adze_value *part = sequence->parts[i];
    int32_t rank;
    const int64_t *dims;
    const void *data;
    void *owned;
    part_shape(part, &rank, &dims);
    RT_TRY(view_axis(result->dtype, rank, dims, axis, &view));
    uint64_t run = new_axis ? whole.inner : (uint64_t)view.size * whole.inner;
    adze_status status = part_data(call, part, &data, &owned);
    for (uint64_t o = 0; o < whole.outer && run && !status; ++o)
      memcpy((char *)result->data +
                 (o * (uint64_t)whole.size + (uint64_t)at) * whole.inner,
             (const char *)data + o * run, run);
    free(owned);
    RT_TRY(status);
    at += new_axis ? 1 : view.size;
  }
  return NULL;
}

static adze_status concat_from_sequence(rt_call *call) {
  adze_value *sequence;
  RT_TRY(rt_input_container(call, 0, ADZE_SEQUENCE, &sequence));
  int32_t axis = (int32_t)rt_input_int(call, 1, 0);
  bool new_axis = rt_input_int(call, 1, 1) != 0;
  rt_result *result = &call->results[0];
  if (!sequence->count)
    return rt_error(ADZE_RUN_ERROR, "expected a sequence that is not empty");
  int64_t *dims = calloc((size_t)result->rank + 1, sizeof(int64_t));
  if (!dims)
    return rt_out_of_memory(sizeof(int64_t));
  adze_status status = NULL;
  for (size_t i = 0; i < sequence->count && !status; ++i) {
    int32_t rank;
    const int64_t *own;
    status = check_part(result, sequence->parts[i], sequence->parts[0], axis,
                        new_axis);
    part_shape(sequence->parts[i], &rank, &own);
    for (int32_t d = 0, from = 0; d < result->rank && !status; ++d) {
      if (d == axis)
        dims[d] += new_axis ? 1 : own[from++];
      else
        dims[d] = own[from++];
    }
  }
  if (!status)
    status = rt_result_make(call, 0, dims);
  free(dims);
  return status ? status : concat_parts(call, sequence, axis, new_axis);
}

/* ---- Optionals ----------------------------------------------------------- */

static adze_status optional_construct(rt_call *call) {
  adze_value *element = NULL, *optional = NULL;
  if (call->num_inputs)
    RT_TRY(rt_input_value(call, 0, &element));
  adze_status status = adze_value_from_optional(element, &optional);
  adze_value_release(element);
  return status ? status : rt_result_give(call, 0, optional);
}

/* A value that is not an optional is present: a loop may carry either. */
static adze_status optional_has(rt_call *call) {
  adze_value *value;
  RT_TRY(rt_value_get(call->context, rt_input_int(call, 0, 0), &value));
  RT_TRY(rt_result_make(call, 0, NULL));
  *(uint8_t *)call->results[0].data =
      value->kind != ADZE_OPTIONAL || value->count;
  return NULL;
}

static adze_status optional_get(rt_call *call) {
  adze_value *value;
  RT_TRY(rt_value_get(call->context, rt_input_int(call, 0, 0), &value));
  if (value->kind == ADZE_OPTIONAL) {
    if (!value->count)
      return rt_error(ADZE_RUN_ERROR, "expected an optional with a value");
    value = value->parts[0];
  }
  adze_value_retain(value);
  return rt_result_give(call, 0, value);
}

/* ---- Maps ---------------------------------------------------------------- */

static adze_status zip_map(rt_call *call) {
  rt_input scores = call->inputs[0];
  uint64_t width = call->inputs[1].count,
           rows = width ? scores.count / width : 0;
  if (!width || rows * width != scores.count)
    return rt_error(ADZE_RUN_ERROR, "expected as many scores as labels a row");
  int64_t dims[] = {(int64_t)rows, (int64_t)width};
  scores.rank = 2;
  scores.dims = dims;
  rt_call one = {call->context, 1, 0, &scores, NULL};
  adze_value *keys, *table = NULL, *sequence = NULL;
  RT_TRY(rt_input_value(call, 1, &keys));
  adze_status status = rt_input_value(&one, 0, &table);
  if (!status)
    status = rt_value_from_table(keys, table, &sequence);
  adze_value_release(table);
  adze_value_release(keys);
  return status ? status : rt_result_give(call, 0, sequence);
}

/* Returns the keys as integers, or as indices of strings (freed by the
   caller). */
static adze_status get_keys(rt_call *call, const adze_value *map,
                            int64_t **keys) {
  const adze_value *tensor = map->parts[0];
  size_t count = map->count - 1;
  *keys = calloc(count + 1, sizeof(int64_t));
  if (!*keys)
    return rt_out_of_memory(count * sizeof(int64_t));
  if (tensor->kind == ADZE_STRINGS)
    return rt_strings_to_numbers(call->context, tensor, *keys);
  const DLTensor *data = &tensor->tensor->dl_tensor;
  if (data->dtype.code != kDLInt || data->dtype.bits != 64)
    return rt_error(ADZE_RUN_ERROR, "expected keys of i64 or strings");
  memcpy(*keys, rt_tensor_data(data), count * sizeof(int64_t));
  return NULL;
}

/* Stores a scalar of a map to element `at` of the result. */
static adze_status put_scalar(rt_call *call, uint64_t at,
                              const adze_value *value) {
  rt_result *result = &call->results[0];
  uint64_t width = result->dtype.bits / 8u;
  if (value->kind == ADZE_STRINGS && result->kind == ADZE_STRINGS &&
      value->count == 1)
    return rt_result_string(call, 0, at, value->strings[0], value->lengths[0]);
  const DLTensor *data =
      value->kind == ADZE_TENSOR ? &value->tensor->dl_tensor : NULL;
  uint64_t bytes = 0;
  if (!data || !rt_tensor_bytes(data->dtype, data->ndim, data->shape, &bytes) ||
      bytes != width || data->dtype.code != result->dtype.code ||
      data->dtype.bits != result->dtype.bits)
    return rt_error(ADZE_RUN_ERROR, "expected a map to scalars of its type");
  memcpy((char *)result->data + at * width, rt_tensor_data(data), width);
  return NULL;
}

static adze_status dict_vectorizer(rt_call *call) {
  adze_value *map;
  int64_t *keys = NULL, dims[] = {1, (int64_t)call->inputs[1].count};
  RT_TRY(rt_input_container(call, 0, ADZE_MAP, &map));
  RT_TRY(rt_result_make(call, 0, dims));
  adze_status status = get_keys(call, map, &keys);
  for (uint64_t i = 0; i < call->inputs[1].count && !status; ++i)
    for (size_t k = 0; k + 1 < map->count && !status; ++k)
      if (keys[k] == rt_input_int(call, 1, i))
        status = put_scalar(call, i, map->parts[k + 1]);
  free(keys);
  return status;
}

static adze_status cast_map(rt_call *call) {
  adze_value *map;
  int64_t *keys = NULL;
  RT_TRY(rt_input_container(call, 0, ADZE_MAP, &map));
  bool sparse = rt_input_int(call, 1, 0) != 0;
  size_t count = map->count - 1;
  int64_t dims[] = {1, sparse ? call->results[0].dims[1] : (int64_t)count};
  RT_TRY(rt_result_make(call, 0, dims));
  adze_status status = get_keys(call, map, &keys);
  for (size_t k = 0; k < count && !status; ++k) {
    uint64_t at = 0;
    for (size_t other = 0; other < count && !sparse; ++other)
      at += keys[other] < keys[k];
    if (sparse)
      at = (uint64_t)keys[k];
    if (at < (uint64_t)dims[1])
      status = put_scalar(call, at, map->parts[k + 1]);
  }
  free(keys);
  return status;
}

const rt_function_row rt_sequence_functions[] = {
    {"sequence_construct", 0, UINT32_MAX, 1, sequence_construct},
    {"sequence_at", 2, 2, 1, sequence_at},
    {"sequence_insert", 2, 3, 1, sequence_insert},
    {"sequence_erase", 1, 2, 1, sequence_erase},
    {"sequence_length", 1, 1, 1, sequence_length},
    {"split_to_sequence", 2, 3, 1, split_to_sequence},
    {"concat_from_sequence", 2, 2, 1, concat_from_sequence},
    {"optional_construct", 0, 1, 1, optional_construct},
    {"optional_has", 1, 1, 1, optional_has},
    {"optional_get", 1, 1, 1, optional_get},
    {"zip_map", 2, 2, 1, zip_map},
    {"dict_vectorizer", 2, 2, 1, dict_vectorizer},
    {"cast_map", 2, 2, 1, cast_map},
    {NULL, 0, 0, 0, NULL}};
