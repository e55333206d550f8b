/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Functions on strings.
 */
#include "Calls.h"
#include "Numbers.h"
#include "Regex.h"
#include "Tokens.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Concatenation ------------------------------------------------------- */

static adze_status string_concat(rt_call *call) {
  if (call->inputs[0].count != call->inputs[1].count)
    return rt_error(ADZE_RUN_ERROR, "expected strings of one shape");
  RT_TRY(rt_result_make(call, 0, call->inputs[0].dims));
  for (uint64_t i = 0; i < call->inputs[0].count; ++i) {
    rt_string x, y;
    RT_TRY(rt_input_string(call, 0, i, &x));
    RT_TRY(rt_input_string(call, 1, i, &y));
    char *both = malloc(x.length + y.length + 1);
    if (!both)
      return rt_out_of_memory(x.length + y.length);
    memcpy(both, x.text, x.length);
    memcpy(both + x.length, y.text, y.length);
    adze_status status =
        rt_result_string(call, 0, i, both, x.length + y.length);
    free(both);
    RT_TRY(status);
  }
  return NULL;
}

/* ---- Splitting ----------------------------------------------------------- */

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* The state of splitting a string. */
typedef struct {
  rt_string rest, delimiter; /* no delimiter: white space */
  int64_t splits;            /* number still allowed; < 0: unlimited */
  bool done;
} splitter;

static void skip_spaces(rt_string *text) {
  while (text->length && is_space(*text->text)) {
    ++text->text;
    --text->length;
  }
}

/* Returns the position of the next delimiter; false if there is none. */
static bool find_delimiter(const splitter *split, size_t *at) {
  const rt_string *text = &split->rest, *wanted = &split->delimiter;
  if (!split->splits)
    return false;
  for (size_t i = 0; i + (wanted->length ? wanted->length : 1) <= text->length;
       ++i)
    if (wanted->length ? !memcmp(text->text + i, wanted->text, wanted->length)
                       : is_space(text->text[i])) {
      *at = i;
      return true;
    }
  return false;
}

/* Returns the next part; false if there are no more. */
static bool next_piece(splitter *split, rt_string *piece) {
  bool by_spaces = !split->delimiter.length;
  if (by_spaces)
    skip_spaces(&split->rest);
  if (split->done || (by_spaces && !split->rest.length))
    return false;
  size_t at;
  *piece = split->rest;
  if (!find_delimiter(split, &at)) {
    split->done = true;
    return true;
  }
  piece->length = at;
  size_t used = at + (by_spaces ? 1 : split->delimiter.length);
  split->rest.text += used;
  split->rest.length -= used;
  if (split->splits > 0)
    --split->splits;
  return true;
}

static adze_status begin_split(rt_call *call, uint64_t index, splitter *split) {
  split->done = false;
  split->splits = rt_input_int(call, 2, 0);
  RT_TRY(rt_input_string(call, 1, 0, &split->delimiter));
  return rt_input_string(call, 0, index, &split->rest);
}

static adze_status string_split(rt_call *call) {
  const rt_input *x = &call->inputs[0];
  splitter split;
  rt_string piece;
  RT_TRY(rt_result_make(call, 1, x->dims));
  int64_t *counts = call->results[1].data, most = 0;
  for (uint64_t i = 0; i < x->count; ++i) {
    RT_TRY(begin_split(call, i, &split));
    while (next_piece(&split, &piece))
      ++counts[i];
    most = counts[i] > most ? counts[i] : most;
  }
  int64_t *dims = calloc((size_t)x->rank + 1, sizeof(int64_t));
  if (!dims)
    return rt_out_of_memory(sizeof(int64_t));
  if (x->rank)
    memcpy(dims, x->dims, (size_t)x->rank * sizeof(int64_t));
  dims[x->rank] = most;
  adze_status status = rt_result_make(call, 0, dims);
  free(dims);
  for (uint64_t i = 0; i < x->count && !status; ++i) {
    status = begin_split(call, i, &split);
    for (int64_t k = 0; k < most && !status && next_piece(&split, &piece); ++k)
      status = rt_result_string(call, 0, i * (uint64_t)most + (uint64_t)k,
                                piece.text, piece.length);
  }
  return status;
}

/* ---- Normalisation ------------------------------------------------------- */

enum { KEEP_CASE = 0, LOWER = 1, UPPER = 2 };

/* Code points whose two cases are at a fixed distance, or adjacent. */
typedef struct {
  uint32_t first, last; /* of the upper case */
  uint32_t distance;    /* 1: upper and lower case alternate */
} case_range;

static const case_range case_ranges[] = {
    {'A', 'Z', 32},       {0x00C0, 0x00D6, 32}, {0x00D8, 0x00DE, 32},
    {0x0100, 0x012E, 1},  {0x0132, 0x0136, 1},  {0x0139, 0x0147, 1},
    {0x014A, 0x0176, 1},  {0x0179, 0x017D, 1},  {0x0391, 0x03A1, 32},
    {0x03A3, 0x03AB, 32}, {0x0400, 0x040F, 80}, {0x0410, 0x042F, 32},
    {0x0460, 0x0480, 1},  {0x048A, 0x04BE, 1},  {0x04D0, 0x052E, 1},
    {0x0531, 0x0556, 48}, {0x1E00, 0x1E94, 1},  {0x1EA0, 0x1EFE, 1}};

static uint32_t change_case(uint32_t c, int32_t to) {
  for (size_t i = 0; i < sizeof(case_ranges) / sizeof(*case_ranges); ++i) {
    const case_range *range = &case_ranges[i];
    uint32_t last = range->last + range->distance;
    if (c < range->first || c > last)
      continue;
    if (range->distance == 1) {
      bool is_upper = (c - range->first) % 2 == 0;
      return to == LOWER ? c + (is_upper ? 1 : 0) : c - (is_upper ? 0 : 1);
    }
    if (to == LOWER && c <= range->last)
      return c + range->distance;
    if (to == UPPER && c >= range->first + range->distance)
      return c - range->distance;
  }
  return c;
}

static bool is_tail(unsigned char byte) { return (byte & 0xC0) == 0x80; }

/* Reads a character of one to three bytes into `c`; returns its length, or
   0. */
static int read_char(const unsigned char *at, const unsigned char *end,
                     uint32_t *c) {
  *c = *at;
  if (*at < 0x80)
    return 1;
  if (*at >= 0xC2 && *at < 0xE0 && end - at >= 2 && is_tail(at[1])) {
    *c = (*at & 0x1Fu) << 6 | (at[1] & 0x3Fu);
    return 2;
  }
  if (*at < 0xE0 || *at >= 0xF0 || end - at < 3 || !is_tail(at[1]) ||
      !is_tail(at[2]))
    return 0;
  *c = (*at & 0xFu) << 12 | (at[1] & 0x3Fu) << 6 | (at[2] & 0x3Fu);
  return *c < 0x800 ? 0 : 3;
}

/* Changes the case of UTF-8 text in place, since no character that changes has
 * another length then. Invalid UTF-8 is unchanged. */
static void change_text(char *text, size_t length, int32_t to) {
  unsigned char *at = (unsigned char *)text, *end = at + length;
  while (at < end) {
    uint32_t c;
    int size = read_char(at, end, &c);
    if (!size) {
      ++at;
      continue;
    }
    c = change_case(c, to);
    if (size == 1) {
      *at = (unsigned char)c;
    } else if (size == 2) {
      *at = (unsigned char)(0xC0 | c >> 6);
      at[1] = (unsigned char)(0x80 | (c & 0x3F));
    } else {
      *at = (unsigned char)(0xE0 | c >> 12);
      at[1] = (unsigned char)(0x80 | (c >> 6 & 0x3F));
      at[2] = (unsigned char)(0x80 | (c & 0x3F));
    }
    at += size;
  }
}

/* Returns the index of a string after a change of its case. */
static adze_status changed_number(rt_call *call, int64_t number, int32_t to,
                                  int64_t *result) {
  *result = number;
  if (to == KEEP_CASE)
    return NULL;
  rt_string string;
  RT_TRY(rt_string_get(call->context, number, &string));
  char *copy = malloc(string.length + 1);
  if (!copy)
    return rt_out_of_memory(string.length);
  memcpy(copy, string.text, string.length);
  change_text(copy, string.length, to);
  adze_status status =
      rt_string_add(call->context, copy, string.length, result);
  free(copy);
  return status;
}

static adze_status is_stopword(rt_call *call, int64_t number, int32_t fold,
                               bool *found) {
  int64_t mine, other;
  *found = false;
  RT_TRY(changed_number(call, number, fold, &mine));
  for (uint64_t i = 0; i < call->inputs[1].count && !*found; ++i) {
    RT_TRY(changed_number(call, rt_input_int(call, 1, i), fold, &other));
    *found = mine == other;
  }
  return NULL;
}

/* Removes stop words, then changes the case; the result is one empty string if
 * none is left. */
static adze_status string_normalize(rt_call *call) {
  const rt_input *x = &call->inputs[0];
  int32_t action = (int32_t)rt_input_int(call, 2, 0);
  int32_t fold = rt_input_int(call, 2, 1) ? KEEP_CASE : LOWER;
  int64_t *kept = calloc(x->count + 1, sizeof(int64_t)), count = 0;
  adze_status status = kept ? NULL : rt_out_of_memory(x->count);
  for (uint64_t i = 0; i < x->count && !status; ++i) {
    bool stops = false;
    int64_t number = rt_input_int(call, 0, i);
    status = is_stopword(call, number, fold, &stops);
    if (!status && !stops)
      status = changed_number(call, number, action, &kept[count++]);
  }
  int64_t all = count ? count : 1, dims[] = {1, all};
  if (!status)
    status = rt_result_make(call, 0, x->rank == 2 ? dims : &all);
  if (!status && count)
    memcpy(call->results[0].data, kept, (size_t)count * sizeof(int64_t));
  free(kept);
  return status;
}

/* ---- Numbers ------------------------------------------------------------- */

static adze_status number_to_string(rt_call *call, uint64_t i) {
  const rt_input *x = &call->inputs[0];
  char text[64];
  rt_number number = rt_read_number(x->dtype, x->data, i);
  int digits = x->dtype.bits == 64 ? 17 : x->dtype.bits == 32 ? 9 : 5;
  if (x->dtype.code == kDLBool)
    snprintf(text, sizeof(text), "%s", number.u ? "True" : "False");
  else if (number.form == RT_SIGNED)
    snprintf(text, sizeof(text), "%lld", (long long)number.i);
  else if (number.form == RT_UNSIGNED)
    snprintf(text, sizeof(text), "%llu", (unsigned long long)number.u);
  else if (number.f != number.f)
    snprintf(text, sizeof(text), "NaN");
  else if (number.f - number.f != 0)
    snprintf(text, sizeof(text), number.f < 0 ? "-INF" : "INF");
  else
    /* Uses the fewest digits that represent the number exactly. */
    for (int some = 1; some <= digits; ++some) {
      snprintf(text, sizeof(text), "%.*g", some, number.f);
      double back = strtod(text, NULL);
      if (x->dtype.bits == 64 ? back == number.f
                              : (float)back == (float)number.f)
        break;
    }
  return rt_result_string(call, 0, i, text, strlen(text));
}

static adze_status string_to_number(rt_call *call, uint64_t i) {
  rt_result *y = &call->results[0];
  rt_string string;
  RT_TRY(rt_input_string(call, 0, i, &string));
  if (rt_write_number(y->dtype, y->data, i, string.text))
    return NULL;
  char name[48];
  return rt_error(ADZE_RUN_ERROR, "expected a number of %s, but got '%.60s'",
                  rt_dtype_name(y->dtype, name, sizeof(name)), string.text);
}

static adze_status cast_all(rt_call *call) {
  bool to_strings = call->results[0].kind == ADZE_STRINGS;
  for (uint64_t i = 0; i < call->inputs[0].count; ++i)
    RT_TRY(to_strings ? number_to_string(call, i) : string_to_number(call, i));
  return NULL;
}

/* Casts from or to strings, independently of the process's locale. */
static adze_status cast(rt_call *call) {
  RT_TRY(rt_result_make(call, 0, call->inputs[0].dims));
  locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
  if (!plain)
    return rt_out_of_memory(1);
  locale_t before = uselocale(plain);
  adze_status status = cast_all(call);
  uselocale(before);
  freelocale(plain);
  return status;
}

/* ---- Regular expressions --------------------------------------------------
 */

static adze_status regex_full_match(rt_call *call) {
  const rt_input *x = &call->inputs[0];
  rt_string pattern, text;
  rt_regex *regex;
  RT_TRY(rt_input_string(call, 1, 0, &pattern));
  RT_TRY(rt_result_make(call, 0, x->dims));
  RT_TRY(rt_regex_compile(pattern.text, pattern.length, &regex));
  adze_status status = NULL;
  for (uint64_t i = 0; i < x->count && !status; ++i) {
    status = rt_input_string(call, 0, i, &text);
    if (!status)
      ((uint8_t *)call->results[0].data)[i] =
          rt_regex_match(regex, text.text, text.length);
  }
  rt_regex_free(regex);
  return status;
}

const rt_function_row rt_text_functions[] = {
    {"string_concat", 2, 2, 1, string_concat},
    {"string_split", 3, 3, 2, string_split},
    {"string_normalize", 3, 3, 1, string_normalize},
    {"regex_full_match", 2, 2, 1, regex_full_match},
    {"tokenize", 4, 4, 1, rt_tokenize},
    {"cast", 1, 1, 1, cast},
    {NULL, 0, 0, 0, NULL}};
