/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Tokenizer of com.microsoft: the tokens of all strings are collected, then
 * copied to a result that has room for the most tokens of a string.
 */
#include "Tokens.h"
#include "Regex.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  rt_string *pieces; /* strings of the run */
  size_t count, capacity;
} piece_list;

typedef struct {
  int64_t kind, least; /* least number of characters of a token */
  rt_regex **patterns;
  size_t num_patterns;
  piece_list tokens, spare;
} tokenizer;

static size_t char_size(const char *at, const char *end) {
  const unsigned char *next = (const unsigned char *)at;
  rt_next_char(&next, (const unsigned char *)end);
  return (size_t)(next - (const unsigned char *)at);
}

static bool is_long(const tokenizer *t, const char *at, const char *end) {
  int64_t count = 0;
  for (; at < end && count < t->least; ++count)
    at += char_size(at, end);
  return count >= t->least;
}

/* Adds a part of a string if it is long enough. */
static adze_status add_piece(const tokenizer *t, piece_list *list,
                             const char *at, const char *end) {
  if (!is_long(t, at, end))
    return NULL;
  if (list->count == list->capacity) {
    size_t grown = list->capacity ? 2 * list->capacity : 64;
    rt_string *made = realloc(list->pieces, grown * sizeof(rt_string));
    if (!made)
      return rt_out_of_memory(grown * sizeof(rt_string));
    list->pieces = made;
    list->capacity = grown;
  }
  list->pieces[list->count++] = (rt_string){at, (size_t)(end - at)};
  return NULL;
}

/* Returns the position at which the search continues after a match. After an
 * empty match, one character is skipped, which is in no token. */
static size_t after(rt_string text, rt_regex_range match) {
  if (match.end > match.begin || match.end == text.length)
    return match.end;
  return match.end + char_size(text.text + match.end, text.text + text.length);
}

/* Adds the text between the matches of a pattern. */
static adze_status split(const tokenizer *t, rt_regex *pattern, rt_string text,
                         piece_list *list) {
  size_t from = 0;
  rt_regex_range match;
  const char *end = text.text + text.length;
  while (rt_regex_search(pattern, text.text, text.length, from, &match)) {
    RT_TRY(add_piece(t, list, text.text + from, text.text + match.begin));
    from = after(text, match);
    if (match.begin == text.length)
      return NULL;
  }
  return add_piece(t, list, text.text + from, end);
}

/* Splits the string by one pattern after the other. */
static adze_status add_between(tokenizer *t, rt_string text) {
  size_t first = t->tokens.count;
  RT_TRY(add_piece(t, &t->tokens, text.text, text.text + text.length));
  for (size_t i = 0; i < t->num_patterns; ++i) {
    t->spare.count = 0;
    for (size_t k = first; k < t->tokens.count; ++k)
      RT_TRY(split(t, t->patterns[i], t->tokens.pieces[k], &t->spare));
    t->tokens.count = first;
    for (size_t k = 0; k < t->spare.count; ++k) {
      const char *at = t->spare.pieces[k].text;
      RT_TRY(add_piece(t, &t->tokens, at, at + t->spare.pieces[k].length));
    }
  }
  return NULL;
}

/* Adds the matches of the pattern. After a match that is too short, the search
 * continues at its second character. */
static adze_status add_matches(tokenizer *t, rt_string text) {
  size_t from = 0;
  rt_regex_range match;
  while (
      rt_regex_search(t->patterns[0], text.text, text.length, from, &match) &&
      match.begin < text.length) {
    const char *begin = text.text + match.begin, *end = text.text + match.end;
    RT_TRY(add_piece(t, &t->tokens, begin, end));
    if (!is_long(t, begin, end))
      match.end = match.begin;
    from = after(text, match);
  }
  return NULL;
}

static adze_status add_characters(tokenizer *t, rt_string text) {
  const char *at = text.text, *end = at + text.length;
  while (at < end) {
    size_t size = char_size(at, end);
    RT_TRY(add_piece(t, &t->tokens, at, at + size));
    at += size;
  }
  return NULL;
}

/* A U+FFFD that is in the text has three bytes. */
static adze_status check_text(rt_string text) {
  const unsigned char *at = (const unsigned char *)text.text,
                      *end = at + text.length;
  while (at < end) {
    const unsigned char *before = at;
    if (rt_next_char(&at, end) == 0xFFFD && at == before + 1)
      return rt_error(ADZE_RUN_ERROR, "expected UTF-8, but got byte 0x%02x",
                      *before);
  }
  return NULL;
}

/* Collects the tokens of all strings; ends[i] is the end of those of string i.
 * */
static adze_status collect(rt_call *call, tokenizer *t, size_t *ends,
                           size_t *most) {
  for (uint64_t i = 0; i < call->inputs[0].count; ++i) {
    rt_string text;
    size_t first = t->tokens.count;
    RT_TRY(rt_input_string(call, 0, i, &text));
    RT_TRY(check_text(text));
    RT_TRY(t->kind == RT_SEPARATORS ? add_between(t, text)
           : t->kind == RT_TOKENS   ? add_matches(t, text)
                                    : add_characters(t, text));
    ends[i] = t->tokens.count;
    *most = ends[i] - first > *most ? ends[i] - first : *most;
  }
  return NULL;
}

/* Writes the row of a string: its tokens between marks, then the padding. */
static adze_status write_row(rt_call *call, const piece_list *tokens,
                             size_t first, size_t end, bool marks, uint64_t at,
                             uint64_t stop) {
  rt_string padding;
  RT_TRY(rt_input_string(call, 3, 0, &padding));
  if (marks)
    RT_TRY(rt_result_string(call, 0, at++, "\x02", 1));
  for (size_t k = first; k < end; ++k)
    RT_TRY(rt_result_string(call, 0, at++, tokens->pieces[k].text,
                            tokens->pieces[k].length));
  if (marks)
    RT_TRY(rt_result_string(call, 0, at++, "\x03", 1));
  while (at < stop)
    RT_TRY(rt_result_string(call, 0, at++, padding.text, padding.length));
  return NULL;
}

/* If there are no tokens at all, no marks are written, as in ONNX Runtime. */
static adze_status write_all(rt_call *call, const piece_list *tokens,
                             const size_t *ends, size_t most) {
  const rt_input *x = &call->inputs[0];
  bool marks = rt_input_int(call, 2, 1) && most;
  size_t width = most + (marks ? 2 : 0);
  int64_t dims[3] = {0};
  if (x->rank > 2)
    return rt_error(ADZE_INVALID_MODULE, "expected strings of 1 or 2 dims");
  memcpy(dims, x->dims, (size_t)x->rank * sizeof(int64_t));
  dims[x->rank] = (int64_t)width;
  RT_TRY(rt_result_make(call, 0, dims));
  for (uint64_t i = 0; i < x->count && width; ++i)
    RT_TRY(write_row(call, tokens, i ? ends[i - 1] : 0, ends[i], marks,
                     i * width, (i + 1) * width));
  return NULL;
}

static adze_status compile_patterns(rt_call *call, tokenizer *t) {
  for (uint64_t i = 0; i < call->inputs[1].count; ++i) {
    rt_string pattern;
    RT_TRY(rt_input_string(call, 1, i, &pattern));
    RT_TRY(rt_regex_compile(pattern.text, pattern.length, &t->patterns[i]));
    ++t->num_patterns;
  }
  return NULL;
}

adze_status rt_tokenize(rt_call *call) {
  tokenizer t = {.kind = rt_input_int(call, 2, 0),
                 .least = rt_input_int(call, 2, 2)};
  size_t *ends = calloc(call->inputs[0].count + 1, sizeof(size_t)), most = 0;
  t.patterns = calloc(call->inputs[1].count + 1, sizeof(rt_regex *));
  adze_status status = ends && t.patterns
                           ? compile_patterns(call, &t)
                           : rt_out_of_memory(call->inputs[0].count);
  if (!status)
    status = collect(call, &t, ends, &most);
  if (!status)
    status = write_all(call, &t.tokens, ends, most);
  for (size_t i = 0; i < t.num_patterns; ++i)
    rt_regex_free(t.patterns[i]);
  free(t.patterns);
  free(t.tokens.pieces);
  free(t.spare.pieces);
  free(ends);
  return status;
}
