/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * The table of unique strings of a run, by index. The module's strings come
 * first; the others are removed when the run ends.
 * */
#include "Calls.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  rt_string string;
  uint64_t hash;
  char *owned; /* null: the module's */
} entry;

struct rt_string_table {
  entry *entries;
  size_t count, capacity;
  size_t fixed;    /* of the module */
  uint32_t *slots; /* number + 1; 0: free */
  size_t num_slots;
};

static uint64_t hash_of(const char *text, size_t length) {
  uint64_t hash = 14695981039346656037ull; /* FNV-1a */
  for (size_t i = 0; i < length; ++i)
    hash = (hash ^ (unsigned char)text[i]) * 1099511628211ull;
  return hash;
}

static void put_slot(rt_string_table *table, size_t number) {
  size_t mask = table->num_slots - 1;
  size_t at = (size_t)table->entries[number].hash & mask;
  while (table->slots[at])
    at = (at + 1) & mask;
  table->slots[at] = (uint32_t)number + 1;
}

static void fill_slots(rt_string_table *table) {
  memset(table->slots, 0, table->num_slots * sizeof(*table->slots));
  for (size_t i = 0; i < table->count; ++i)
    put_slot(table, i);
}

static adze_status grow(rt_string_table *table) {
  if (table->count >= UINT32_MAX / 4)
    return rt_out_of_memory(UINT64_MAX);
  if (table->count == table->capacity) {
    size_t capacity = table->capacity ? 2 * table->capacity : 64;
    entry *entries = realloc(table->entries, capacity * sizeof(*entries));
    if (!entries)
      return rt_out_of_memory(capacity * sizeof(*entries));
    table->entries = entries;
    table->capacity = capacity;
  }
  if (2 * (table->count + 1) <= table->num_slots)
    return NULL;
  size_t num_slots = table->num_slots ? 2 * table->num_slots : 128;
  uint32_t *slots = malloc(num_slots * sizeof(*slots));
  if (!slots)
    return rt_out_of_memory(num_slots * sizeof(*slots));
  free(table->slots);
  table->slots = slots;
  table->num_slots = num_slots;
  fill_slots(table);
  return NULL;
}

static bool find(const rt_string_table *table, const char *text, size_t length,
                 uint64_t hash, int64_t *number) {
  if (!table->num_slots)
    return false;
  size_t mask = table->num_slots - 1;
  for (size_t at = (size_t)hash & mask; table->slots[at];
       at = (at + 1) & mask) {
    const entry *found = &table->entries[table->slots[at] - 1];
    if (found->hash == hash && found->string.length == length &&
        (!length || !memcmp(found->string.text, text, length))) {
      *number = (int64_t)table->slots[at] - 1;
      return true;
    }
  }
  return false;
}

static adze_status add(rt_string_table *table, const char *text, size_t length,
                       bool copy, int64_t *number) {
  uint64_t hash = hash_of(text, length);
  if (find(table, text, length, hash, number))
    return NULL;
  RT_TRY(grow(table));
  entry made = {{text, length}, hash, NULL};
  if (copy) {
    made.owned = malloc(length + 1);
    if (!made.owned)
      return rt_out_of_memory(length + 1);
    memcpy(made.owned, text, length);
    made.owned[length] = 0;
    made.string.text = made.owned;
  }
  *number = (int64_t)table->count;
  table->entries[table->count] = made;
  put_slot(table, table->count++);
  return NULL;
}

/* Adds the module's strings, after "". */
static adze_status add_fixed(rt_string_table *table,
                             const adze_module_desc *desc) {
  int64_t number;
  RT_TRY(add(table, "", 0, false, &number));
  for (uint64_t i = 0; i < desc->num_strings; ++i) {
    const adze_module_string *string = &desc->strings[i];
    RT_TRY(add(table, string->text, string->length, false, &number));
    if (number != (int64_t)i)
      return rt_error(ADZE_INVALID_MODULE,
                      "expected each string of the module once");
  }
  table->fixed = table->count;
  return NULL;
}

static adze_status open_table(adze_context *context, rt_string_table **table) {
  if (!context->strings) {
    rt_string_table *made = calloc(1, sizeof(*made));
    if (!made)
      return rt_out_of_memory(sizeof(*made));
    context->strings = made;
    adze_status status = add_fixed(made, context->module->desc);
    if (status) {
      /* A table without all of the module's strings would give wrong
         indices. */
      rt_strings_free(context);
      return status;
    }
  }
  *table = context->strings;
  return NULL;
}

adze_status rt_string_add(adze_context *context, const char *text,
                          size_t length, int64_t *number) {
  rt_string_table *table;
  RT_TRY(open_table(context, &table));
  return add(table, text, length, true, number);
}

adze_status rt_string_get(adze_context *context, int64_t number,
                          rt_string *string) {
  rt_string_table *table;
  RT_TRY(open_table(context, &table));
  if (number < 0 || (uint64_t)number >= table->count)
    return rt_error(ADZE_INTERNAL_ERROR,
                    "expected the number of a string below %zu, but got %lld",
                    table->count, (long long)number);
  *string = table->entries[number].string;
  return NULL;
}

void rt_strings_clear(adze_context *context) {
  rt_string_table *table = context->strings;
  if (!table || table->count == table->fixed)
    return;
  for (size_t i = table->fixed; i < table->count; ++i)
    free(table->entries[i].owned);
  table->count = table->fixed;
  fill_slots(table);
}

void rt_strings_free(adze_context *context) {
  rt_string_table *table = context->strings;
  if (!table)
    return;
  for (size_t i = 0; i < table->count; ++i)
    free(table->entries[i].owned);
  free(table->entries);
  free(table->slots);
  free(table);
  context->strings = NULL;
}

/* ---- Tensors of strings -------------------------------------------------- */

adze_status rt_strings_to_numbers(adze_context *context,
                                  const adze_value *value, int64_t *numbers) {
  for (size_t i = 0; i < value->count; ++i)
    RT_TRY(rt_string_add(context, value->strings[i], value->lengths[i],
                         &numbers[i]));
  return NULL;
}

adze_status rt_strings_from_numbers(adze_context *context,
                                    const int64_t *numbers, const int64_t *dims,
                                    int32_t rank, adze_value **value) {
  size_t count = 1;
  for (int32_t i = 0; i < rank; ++i)
    count *= (size_t)dims[i];
  const char **texts = calloc(count + 1, sizeof(char *) + sizeof(size_t));
  if (!texts)
    return rt_out_of_memory(count * sizeof(rt_string));
  size_t *lengths = (size_t *)(texts + count + 1);
  adze_status status = NULL;
  for (size_t i = 0; i < count && !status; ++i) {
    rt_string string = {0};
    status = rt_string_get(context, numbers[i], &string);
    texts[i] = string.text;
    lengths[i] = string.length;
  }
  if (!status)
    status = adze_value_from_strings(texts, lengths, dims, rank, value);
  free((void *)texts);
  return status;
}
