/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Values: tensors, string tensors, sequences, maps and optionals, immutable and
 * reference-counted.
 * */
#include "Calls.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static adze_status new_value(adze_kind kind, size_t parts, adze_value **value) {
  adze_value *made = calloc(1, sizeof(*made));
  if (made && parts && !(made->parts = calloc(parts, sizeof(adze_value *)))) {
    free(made);
    made = NULL;
  }
  if (!made)
    return rt_out_of_memory(sizeof(*made));
  atomic_init(&made->references, 1);
  made->kind = kind;
  *value = made;
  return NULL;
}

static adze_status no_place(const void *value) {
  return value ? NULL
               : rt_error(ADZE_INVALID_ARGUMENT,
                          "expected a pointer to the result, but got NULL");
}

const char *rt_kind_name(adze_kind kind) {
  static const char *const names[] = {"tensor", "string tensor", "sequence",
                                      "map", "optional"};
  return (size_t)kind < sizeof(names) / sizeof(*names) ? names[kind] : "value";
}

static adze_status expect_kind(const adze_value *value, adze_kind kind) {
  if (!value)
    return rt_error(ADZE_INVALID_ARGUMENT, "expected a value, but got NULL");
  if (value->kind != kind)
    return rt_error(ADZE_INVALID_ARGUMENT, "expected a %s, but got a %s",
                    rt_kind_name(kind), rt_kind_name(value->kind));
  return NULL;
}

adze_kind adze_value_kind(const adze_value *value) {
  return value ? value->kind : ADZE_TENSOR;
}

void adze_value_retain(adze_value *value) {
  if (value)
    atomic_fetch_add(&value->references, 1);
}

void adze_value_release(adze_value *value) {
  if (!value || atomic_fetch_sub(&value->references, 1) != 1)
    return;
  if (value->tensor && value->tensor->deleter)
    value->tensor->deleter(value->tensor);
  for (size_t i = 0; i < value->count && value->parts; ++i)
    adze_value_release(value->parts[i]);
  adze_value_release(value->keys);
  adze_value_release(value->table);
  free(value->parts);
  free((void *)value->strings);
  free(value->dims);
  free(value);
}

/* ---- Tensors ------------------------------------------------------------- */

static void drop_tensor(DLManagedTensorVersioned *tensor) {
  if (tensor && tensor->deleter)
    tensor->deleter(tensor);
}

adze_status adze_value_from_dlpack(DLManagedTensorVersioned *tensor,
                                   adze_value **value) {
  adze_status status = NULL;
  if (!tensor || !value)
    status = rt_error(ADZE_INVALID_ARGUMENT,
                      "expected a tensor and a pointer to the value");
  else if (tensor->version.major != DLPACK_MAJOR_VERSION)
    status = rt_error(ADZE_INVALID_ARGUMENT,
                      "expected a tensor of DLPack %d, but got %u",
                      DLPACK_MAJOR_VERSION, tensor->version.major);
  else
    status = new_value(ADZE_TENSOR, 0, value);
  if (status)
    drop_tensor(tensor);
  else
    (*value)->tensor = tensor;
  return status;
}

static void free_copy(DLManagedTensorVersioned *tensor) { free(tensor); }

adze_status adze_value_from_tensor(const DLTensor *tensor, adze_value **value) {
  RT_TRY(no_place(value));
  if (!tensor || !rt_is_plain(tensor))
    return rt_error(ADZE_INVALID_ARGUMENT,
                    "expected a dense tensor in host memory");
  size_t rank = (size_t)tensor->ndim, bytes = (size_t)rt_tensor_size(tensor);
  size_t head =
      rt_align_up(sizeof(DLManagedTensorVersioned) + rank * sizeof(int64_t));
  void *block;
  if (bytes > SIZE_MAX - head ||
      posix_memalign(&block, RT_ALIGNMENT, head + bytes))
    return rt_out_of_memory(bytes);
  DLManagedTensorVersioned *copy = block;
  memset(copy, 0, head);
  copy->version.major = DLPACK_MAJOR_VERSION;
  copy->version.minor = DLPACK_MINOR_VERSION;
  copy->deleter = free_copy;
  copy->dl_tensor = *tensor;
  copy->dl_tensor.device = (DLDevice){kDLCPU, 0};
  copy->dl_tensor.data = (char *)block + head;
  copy->dl_tensor.byte_offset = 0;
  copy->dl_tensor.strides = NULL;
  copy->dl_tensor.shape = (int64_t *)(copy + 1);
  if (rank)
    memcpy(copy->dl_tensor.shape, tensor->shape, rank * sizeof(int64_t));
  if (bytes)
    memcpy(copy->dl_tensor.data, rt_tensor_data(tensor), bytes);
  return adze_value_from_dlpack(copy, value);
}

static void release_owner(DLManagedTensorVersioned *tensor) {
  adze_value_release(tensor->manager_ctx);
  free(tensor);
}

adze_status adze_value_as_dlpack(adze_value *value,
                                 DLManagedTensorVersioned **tensor) {
  RT_TRY(expect_kind(value, ADZE_TENSOR));
  RT_TRY(no_place(tensor));
  DLManagedTensorVersioned *view = malloc(sizeof(*view));
  if (!view)
    return rt_out_of_memory(sizeof(*view));
  *view = *value->tensor;
  adze_value_retain(value);
  view->manager_ctx = value;
  view->deleter = release_owner;
  *tensor = view;
  return NULL;
}

/* ---- Strings ------------------------------------------------------------- */

static adze_status count_strings(const int64_t *dims, int32_t rank,
                                 size_t *count) {
  if (rank < 0 || (rank && !dims))
    return rt_error(ADZE_INVALID_ARGUMENT, "expected a shape of rank >= 0");
  *count = 1;
  for (int32_t i = 0; i < rank; ++i)
    if (dims[i] < 0 || __builtin_mul_overflow(*count, (size_t)dims[i], count) ||
        *count > PTRDIFF_MAX / sizeof(void *))
      return rt_error(ADZE_INVALID_ARGUMENT,
                      "expected dim %d of a string tensor >= 0 and not too big",
                      i);
  return NULL;
}

static adze_status copy_strings(adze_value *value, const char *const *strings,
                                const size_t *lengths) {
  size_t count = value->count;
  size_t size = count * (sizeof(char *) + sizeof(size_t));
  for (size_t i = 0; i < count; ++i) {
    if (!strings[i])
      return rt_error(ADZE_INVALID_ARGUMENT, "string %zu is NULL", i);
    size_t length = lengths ? lengths[i] : strlen(strings[i]);
    if (__builtin_add_overflow(size, length + 1, &size))
      return rt_out_of_memory(UINT64_MAX);
  }
  char *block = malloc(size ? size : 1);
  if (!block)
    return rt_out_of_memory(size);
  value->strings = (const char **)(void *)block;
  value->lengths = (size_t *)(void *)(block + count * sizeof(char *));
  char *bytes = (char *)(value->lengths + count);
  for (size_t i = 0; i < count; ++i) {
    value->lengths[i] = lengths ? lengths[i] : strlen(strings[i]);
    memcpy(bytes, strings[i], value->lengths[i]);
    bytes[value->lengths[i]] = 0;
    value->strings[i] = bytes;
    bytes += value->lengths[i] + 1;
  }
  return NULL;
}

adze_status adze_value_from_strings(const char *const *strings,
                                    const size_t *lengths, const int64_t *dims,
                                    int32_t rank, adze_value **value) {
  size_t count;
  RT_TRY(no_place(value));
  RT_TRY(count_strings(dims, rank, &count));
  if (count && !strings)
    return rt_error(ADZE_INVALID_ARGUMENT, "expected strings, but got NULL");
  adze_value *made;
  RT_TRY(new_value(ADZE_STRINGS, 0, &made));
  made->count = count;
  made->rank = rank;
  made->dims = calloc((size_t)rank + 1, sizeof(int64_t));
  adze_status status = made->dims ? copy_strings(made, strings, lengths)
                                  : rt_out_of_memory((uint64_t)rank);
  if (status) {
    adze_value_release(made);
    return status;
  }
  if (rank)
    memcpy(made->dims, dims, (size_t)rank * sizeof(int64_t));
  *value = made;
  return NULL;
}

adze_status adze_value_strings(const adze_value *value,
                               const char *const **strings,
                               const size_t **lengths, size_t *count) {
  RT_TRY(expect_kind(value, ADZE_STRINGS));
  if (strings)
    *strings = value->strings;
  if (lengths)
    *lengths = value->lengths;
  if (count)
    *count = value->count;
  return NULL;
}

adze_status adze_value_shape(const adze_value *value, int32_t *rank,
                             const int64_t **dims) {
  if (!value || (value->kind != ADZE_TENSOR && value->kind != ADZE_STRINGS))
    return rt_error(ADZE_INVALID_ARGUMENT, "expected a tensor, but got %s%s",
                    value ? "a " : "NULL",
                    value ? rt_kind_name(value->kind) : "");
  bool is_tensor = value->kind == ADZE_TENSOR;
  if (rank)
    *rank = is_tensor ? value->tensor->dl_tensor.ndim : value->rank;
  if (dims)
    *dims = is_tensor ? value->tensor->dl_tensor.shape : value->dims;
  return NULL;
}

/* ---- Containers -----------------------------------------------------------
 */

/* Limits the recursion when values are released. */
#define MAX_DEPTH 1000u

static adze_status make_container(adze_kind kind, adze_value *first,
                                  adze_value *const *rest, size_t count,
                                  adze_value **value) {
  RT_TRY(no_place(value));
  for (size_t i = 0; i < count; ++i)
    if (!rest || !rest[i])
      return rt_error(ADZE_INVALID_ARGUMENT, "part %zu is NULL", i);
  size_t parts = count + (first ? 1 : 0);
  uint32_t depth = first ? first->depth : 0;
  for (size_t i = 0; i < count; ++i)
    depth = rest[i]->depth > depth ? rest[i]->depth : depth;
  if (depth >= MAX_DEPTH)
    return rt_error(ADZE_INVALID_ARGUMENT,
                    "expected a nesting depth of at most %u", MAX_DEPTH);
  adze_value *made;
  RT_TRY(new_value(kind, parts, &made));
  made->depth = depth + 1;
  if (first)
    made->parts[made->count++] = first;
  for (size_t i = 0; i < count; ++i)
    made->parts[made->count++] = rest[i];
  for (size_t i = 0; i < parts; ++i)
    adze_value_retain(made->parts[i]);
  *value = made;
  return NULL;
}

adze_status adze_value_from_sequence(adze_value *const *elements, size_t count,
                                     adze_value **value) {
  return make_container(ADZE_SEQUENCE, NULL, elements, count, value);
}

/* Checks that keys are a vector of as many integers or strings as there are
   values. */
static adze_status check_keys(const adze_value *keys, size_t count) {
  if (!keys)
    return rt_error(ADZE_INVALID_ARGUMENT, "expected keys, but got NULL");
  const DLTensor *tensor =
      keys->kind == ADZE_TENSOR ? &keys->tensor->dl_tensor : NULL;
  bool fits = tensor ? rt_is_plain(tensor) && tensor->ndim == 1 &&
                           (uint64_t)tensor->shape[0] == count &&
                           (tensor->dtype.code == kDLInt ||
                            tensor->dtype.code == kDLUInt)
                     : keys->kind == ADZE_STRINGS && keys->rank == 1 &&
                           keys->count == count;
  return fits ? NULL
              : rt_error(ADZE_INVALID_ARGUMENT,
                         "expected a vector of %zu integers or strings in host "
                         "memory as keys, but got a %s",
                         count, rt_kind_name(keys->kind));
}

adze_status adze_value_from_map(adze_value *keys, adze_value *const *values,
                                size_t count, adze_value **value) {
  RT_TRY(check_keys(keys, count));
  return make_container(ADZE_MAP, keys, values, count, value);
}

adze_status adze_value_from_optional(adze_value *element, adze_value **value) {
  return make_container(ADZE_OPTIONAL, element, NULL, 0, value);
}

adze_status adze_value_sequence_size(const adze_value *value, size_t *count) {
  RT_TRY(expect_kind(value, ADZE_SEQUENCE));
  RT_TRY(no_place(count));
  *count = value->count;
  return NULL;
}

static adze_status get_part(const adze_value *value, size_t index,
                            adze_value **part) {
  RT_TRY(no_place(part));
  if (index >= value->count)
    return rt_error(ADZE_INVALID_ARGUMENT,
                    "expected an index below %zu, but got %zu", value->count,
                    index);
  RT_TRY(rt_value_expand(value));
  adze_value_retain(value->parts[index]);
  *part = value->parts[index];
  return NULL;
}

adze_status adze_value_sequence_get(const adze_value *value, size_t index,
                                    adze_value **element) {
  RT_TRY(expect_kind(value, ADZE_SEQUENCE));
  return get_part(value, index, element);
}

adze_status adze_value_map_get(const adze_value *value, adze_value **keys,
                               adze_value **values) {
  RT_TRY(expect_kind(value, ADZE_MAP));
  RT_TRY(no_place(keys));
  RT_TRY(adze_value_from_sequence(value->parts + 1, value->count - 1, values));
  return get_part(value, 0, keys);
}

/* ---- Tables --------------------------------------------------------------
 */

adze_status rt_value_from_table(adze_value *keys, adze_value *table,
                                adze_value **value) {
  const DLTensor *rows = &table->tensor->dl_tensor;
  RT_TRY(check_keys(keys, (size_t)rows->shape[1]));
  adze_value *made;
  RT_TRY(new_value(ADZE_SEQUENCE, 0, &made));
  made->count = (size_t)rows->shape[0];
  made->depth = 2;
  adze_value_retain(made->keys = keys);
  adze_value_retain(made->table = table);
  *value = made;
  return NULL;
}

static void release_parts(adze_value **parts, size_t count) {
  for (size_t i = 0; i < count; ++i)
    adze_value_release(parts[i]);
  free(parts);
}

/* Makes the map of a row, with `values` as buffer. */
static adze_status make_row(const adze_value *sequence, size_t row,
                            adze_value **values, adze_value **map) {
  const DLTensor *table = &sequence->table->tensor->dl_tensor;
  size_t width = (size_t)table->shape[1], bytes = table->dtype.bits / 8u,
         made = 0;
  const char *data = (const char *)rt_tensor_data(table) + row * width * bytes;
  adze_status status = NULL;
  while (made < width && !status) {
    DLTensor scalar = {(void *)(data + made * bytes),
                       {kDLCPU, 0},
                       0,
                       table->dtype,
                       NULL,
                       NULL,
                       0};
    if (!(status = adze_value_from_tensor(&scalar, &values[made])))
      ++made;
  }
  if (!status)
    status = adze_value_from_map(sequence->keys, values, width, map);
  for (size_t i = 0; i < made; ++i)
    adze_value_release(values[i]);
  return status;
}

static adze_status make_rows(const adze_value *sequence, adze_value ***parts) {
  size_t width = (size_t)sequence->table->tensor->dl_tensor.shape[1], made = 0;
  adze_value **values = calloc(width + 1, sizeof(*values)),
             **maps = calloc(sequence->count + 1, sizeof(*maps));
  adze_status status =
      values && maps ? NULL : rt_out_of_memory(sequence->count * sizeof(*maps));
  while (made < sequence->count && !status)
    if (!(status = make_row(sequence, made, values, &maps[made])))
      ++made;
  free(values);
  if (status)
    release_parts(maps, made);
  else
    *parts = maps;
  return status;
}

adze_status rt_value_expand(const adze_value *value) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  /* the cached parts do not change the value */
  adze_value *sequence = (adze_value *)value;
  if (!value->table || atomic_load(&sequence->expanded))
    return NULL;
  adze_value **parts;
  RT_TRY(make_rows(value, &parts));
  pthread_mutex_lock(&mutex);
  bool is_first = !atomic_load(&sequence->expanded);
  if (is_first) {
    sequence->parts = parts;
    atomic_store(&sequence->expanded, true);
  }
  pthread_mutex_unlock(&mutex);
  if (!is_first)
    release_parts(parts, value->count);
  return NULL;
}

/* Returns the type of the scalars of a table; NULL if the sequence has another
   form. */
static const DLTensor *find_scalar(const adze_value *sequence) {
  const DLTensor *first = NULL;
  for (size_t i = 0; i < sequence->count; ++i) {
    const adze_value *map = sequence->parts[i];
    if (map->kind != ADZE_MAP || map->parts[0] != sequence->parts[0]->parts[0])
      return NULL;
    for (size_t j = 1; j < map->count; ++j) {
      const adze_value *value = map->parts[j];
      const DLTensor *scalar =
          value->kind == ADZE_TENSOR ? &value->tensor->dl_tensor : NULL;
      first = first ? first : scalar;
      if (!scalar || scalar->ndim || scalar->dtype.code != first->dtype.code ||
          scalar->dtype.bits != first->dtype.bits || scalar->dtype.bits % 8 ||
          !rt_is_plain(scalar))
        return NULL;
    }
  }
  return first;
}

static void fill_table(const adze_value *sequence, size_t bytes, char *data) {
  for (size_t i = 0; i < sequence->count; ++i) {
    const adze_value *map = sequence->parts[i];
    for (size_t j = 1; j < map->count; ++j, data += bytes)
      memcpy(data, rt_tensor_data(&map->parts[j]->tensor->dl_tensor), bytes);
  }
}

adze_status adze_value_sequence_table(const adze_value *value,
                                      adze_value **keys, adze_value **table) {
  RT_TRY(expect_kind(value, ADZE_SEQUENCE));
  RT_TRY(no_place(keys));
  RT_TRY(no_place(table));
  if (value->table) {
    adze_value_retain(*keys = value->keys);
    adze_value_retain(*table = value->table);
    return NULL;
  }
  const DLTensor *scalar = find_scalar(value);
  if (!scalar)
    return rt_error(ADZE_UNSUPPORTED,
                    "expected maps with the same keys and scalars as values");
  int64_t dims[] = {(int64_t)value->count, (int64_t)value->parts[0]->count - 1};
  size_t bytes = scalar->dtype.bits / 8;
  void *rows = malloc((size_t)(dims[0] * dims[1]) * bytes);
  if (!rows)
    return rt_out_of_memory((size_t)(dims[0] * dims[1]) * bytes);
  fill_table(value, bytes, rows);
  DLTensor tensor = {rows, {kDLCPU, 0}, 2, scalar->dtype, dims, NULL, 0};
  adze_status status = adze_value_from_tensor(&tensor, table);
  free(rows);
  return status ? status : get_part(value->parts[0], 0, keys);
}

adze_status adze_value_optional_has(const adze_value *value, int32_t *has) {
  RT_TRY(expect_kind(value, ADZE_OPTIONAL));
  RT_TRY(no_place(has));
  *has = value->count != 0;
  return NULL;
}

adze_status adze_value_optional_get(const adze_value *value,
                                    adze_value **element) {
  RT_TRY(expect_kind(value, ADZE_OPTIONAL));
  if (!value->count)
    return rt_error(ADZE_INVALID_ARGUMENT, "the optional has no value");
  return get_part(value, 0, element);
}
