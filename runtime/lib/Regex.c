/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Regular expressions as a program whose states are simulated in parallel.
 * Jumps are relative, so that parts of the program can be moved and repeated.
 * */
#include "Regex.h"

#include <stdlib.h>
#include <string.h>

#define MAX_CODE 100000u
#define MAX_DEPTH 200
#define MAX_REPEAT 1000 /* as in RE2 */
#define LAST_CODE_POINT 0x10FFFFu

typedef enum { IS_IN, SPLIT, JUMP, ASSERT, MATCH } opcode;
typedef enum { BEGIN, END, WORD, NO_WORD } assertion;

typedef struct {
  opcode op;
  int32_t x, y; /* IS_IN: first range, count; SPLIT, JUMP: how far */
  bool negated; /* IS_IN */
} instruction;

typedef struct {
  uint32_t low, high;
} range;

struct rt_regex {
  instruction *code;
  uint32_t size, capacity;
  range *ranges;
  uint32_t num_ranges, range_capacity;
  /* Buffers of a match: two lists of states with the start of the match of
   * each, marks, and a stack. */
  uint32_t *states[2], *stack, *marks;
  size_t *starts[2];
  uint32_t count[2], generation;
};

typedef struct {
  const unsigned char *at, *end;
  rt_regex *regex;
  int depth;
} parser;

/* ---- The program --------------------------------------------------------- */

static adze_status bad(const char *what) {
  return rt_error(ADZE_RUN_ERROR, "expected a regular expression, but got %s",
                  what);
}

static adze_status reserve(void **array, uint32_t *capacity, uint32_t size,
                           size_t each) {
  if (size <= *capacity)
    return NULL;
  if (size > MAX_CODE)
    return rt_error(ADZE_UNSUPPORTED,
                    "expected a regular expression of at most %u steps",
                    MAX_CODE);
  uint32_t grown = size < 32 ? 64 : 2 * size;
  void *made = realloc(*array, grown * each);
  if (!made)
    return rt_out_of_memory(grown * each);
  *array = made;
  *capacity = grown;
  return NULL;
}

/* Inserts an instruction at index `at`. */
static adze_status insert(rt_regex *regex, uint32_t at, instruction made) {
  RT_TRY(reserve((void **)&regex->code, &regex->capacity, regex->size + 1,
                 sizeof(instruction)));
  memmove(regex->code + at + 1, regex->code + at,
          (regex->size - at) * sizeof(instruction));
  regex->code[at] = made;
  ++regex->size;
  return NULL;
}

static adze_status append(rt_regex *regex, opcode op, int32_t x, int32_t y) {
  instruction made = {op, x, y, false};
  return insert(regex, regex->size, made);
}

static adze_status add_range(rt_regex *regex, uint32_t low, uint32_t high) {
  RT_TRY(reserve((void **)&regex->ranges, &regex->range_capacity,
                 regex->num_ranges + 1, sizeof(range)));
  regex->ranges[regex->num_ranges++] = (range){low, high};
  return NULL;
}

/* ---- Characters ---------------------------------------------------------- */

uint32_t rt_next_char(const unsigned char **at, const unsigned char *end) {
  uint32_t c = *(*at)++;
  int more = c < 0xC2 ? 0 : c < 0xE0 ? 1 : c < 0xF0 ? 2 : c < 0xF5 ? 3 : 0;
  if (c < 0x80)
    return c;
  if (!more || end - *at < more)
    return 0xFFFD;
  uint32_t value = c & (0x3Fu >> more);
  for (int i = 0; i < more; ++i) {
    if (((*at)[i] & 0xC0) != 0x80)
      return 0xFFFD;
    value = value << 6 | ((*at)[i] & 0x3Fu);
  }
  *at += more;
  return value;
}

static bool is_word(uint32_t c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '_' ||
         (c >= 'a' && c <= 'z');
}

static bool is_letter_or_digit(uint32_t c) { return is_word(c) && c != '_'; }

static int hex_digit(uint32_t c) {
  return c >= '0' && c <= '9'   ? (int)c - '0'
         : c >= 'a' && c <= 'f' ? (int)c - 'a' + 10
         : c >= 'A' && c <= 'F' ? (int)c - 'A' + 10
                                : -1;
}

/* Adds the ranges of \d, \w, \s, or their complements; *known is false for
 * another letter. */
static adze_status add_class(rt_regex *regex, uint32_t letter, bool *known) {
  static const range digits[] = {{'0', '9'}};
  static const range words[] = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
  static const range spaces[] = {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}};
  uint32_t lower = letter | 0x20;
  const range *ranges = lower == 'd' ? digits : lower == 'w' ? words : spaces;
  size_t count = lower == 'd' ? 1 : lower == 'w' ? 4 : 3;
  *known = lower == 'd' || lower == 'w' || lower == 's';
  uint32_t next = 0;
  for (size_t i = 0; i < count && *known; ++i) {
    if (letter == lower)
      RT_TRY(add_range(regex, ranges[i].low, ranges[i].high));
    else if (ranges[i].low > next)
      RT_TRY(add_range(regex, next, ranges[i].low - 1));
    next = ranges[i].high + 1;
  }
  return *known && letter != lower ? add_range(regex, next, LAST_CODE_POINT)
                                   : NULL;
}

static adze_status parse_hex(parser *p, uint32_t *c) {
  bool braces = p->at < p->end && *p->at == '{';
  p->at += braces;
  *c = 0;
  int digits = 0;
  while (p->at < p->end && hex_digit(*p->at) >= 0 &&
         digits < (braces ? 6 : 2)) {
    *c = *c << 4 | (uint32_t)hex_digit(*p->at++);
    ++digits;
  }
  if (digits < (braces ? 1 : 2) || *c > LAST_CODE_POINT ||
      (braces && (p->at == p->end || *p->at++ != '}')))
    return bad("a wrong \\x");
  return NULL;
}

/* Parses a single character after a backslash. */
static adze_status parse_escaped(parser *p, uint32_t letter, uint32_t *c) {
  static const char names[] = "tnrfva", values[] = "\t\n\r\f\v\a";
  const char *found =
      letter && letter < 0x80 ? strchr(names, (int)letter) : NULL;
  *c = found ? (unsigned char)values[found - names] : letter;
  if (letter == 'x')
    return parse_hex(p, c);
  if (!found && is_letter_or_digit(letter))
    return bad("an escape that is not supported");
  return NULL;
}

/* ---- Sets ---------------------------------------------------------------- */

/* Parses [:name:] in a set, whose first two characters have been read. */
static adze_status parse_named(parser *p) {
  static const struct {
    const char *name;
    range ranges[4];
    int count;
  } classes[] = {
      {"alpha:]", {{'A', 'Z'}, {'a', 'z'}}, 2},
      {"digit:]", {{'0', '9'}}, 1},
      {"alnum:]", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}, 3},
      {"upper:]", {{'A', 'Z'}}, 1},
      {"lower:]", {{'a', 'z'}}, 1},
      {"space:]", {{'\t', '\r'}, {' ', ' '}}, 2},
      {"punct:]", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}, 4},
      {"xdigit:]", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}, 3}};
  for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); ++i) {
    size_t length = strlen(classes[i].name);
    if ((size_t)(p->end - p->at) < length ||
        memcmp(p->at, classes[i].name, length))
      continue;
    p->at += length;
    for (int r = 0; r < classes[i].count; ++r)
      RT_TRY(add_range(p->regex, classes[i].ranges[r].low,
                       classes[i].ranges[r].high));
    return NULL;
  }
  return bad("an unknown [:class:]");
}

/* Parses one end of a range; *is_class is true if a class was added instead. */
static adze_status parse_member(parser *p, uint32_t *c, bool *is_class) {
  *is_class = false;
  *c = rt_next_char(&p->at, p->end);
  if (*c == '[' && p->at < p->end && *p->at == ':') {
    ++p->at;
    *is_class = true;
    return parse_named(p);
  }
  if (*c != '\\')
    return NULL;
  if (p->at == p->end)
    return bad("a backslash at its end");
  uint32_t letter = rt_next_char(&p->at, p->end);
  RT_TRY(add_class(p->regex, letter, is_class));
  return *is_class ? NULL : parse_escaped(p, letter, c);
}

static adze_status parse_set(parser *p) {
  instruction made = {IS_IN, (int32_t)p->regex->num_ranges, 0, false};
  if (p->at < p->end && *p->at == '^') {
    made.negated = true;
    ++p->at;
  }
  for (bool first = true; p->at < p->end && (*p->at != ']' || first);
       first = false) {
    uint32_t low, high;
    bool is_class;
    RT_TRY(parse_member(p, &low, &is_class));
    if (is_class)
      continue;
    high = low;
    if (p->end - p->at > 1 && *p->at == '-' && p->at[1] != ']') {
      ++p->at;
      RT_TRY(parse_member(p, &high, &is_class));
    }
    if (is_class || high < low)
      return bad("a wrong range");
    RT_TRY(add_range(p->regex, low, high));
  }
  if (p->at == p->end)
    return bad("a set without its end");
  ++p->at;
  made.y = (int32_t)p->regex->num_ranges - made.x;
  return insert(p->regex, p->regex->size, made);
}

/* ---- Expressions --------------------------------------------------------- */

static adze_status parse_alternatives(parser *p);

static adze_status append_range(rt_regex *regex, uint32_t low, uint32_t high,
                                bool negated) {
  instruction made = {IS_IN, (int32_t)regex->num_ranges, 1, negated};
  RT_TRY(add_range(regex, low, high));
  return insert(regex, regex->size, made);
}

static adze_status parse_escape(parser *p) {
  if (p->at == p->end)
    return bad("a backslash at its end");
  uint32_t letter = rt_next_char(&p->at, p->end), c;
  const char *asserts = "AzbB";
  const char *found =
      letter && letter < 0x80 ? strchr(asserts, (int)letter) : NULL;
  if (found)
    return append(p->regex, ASSERT, (int32_t)(found - asserts), 0);
  instruction made = {IS_IN, (int32_t)p->regex->num_ranges, 0, false};
  bool is_class;
  RT_TRY(add_class(p->regex, letter, &is_class));
  if (is_class) {
    made.y = (int32_t)p->regex->num_ranges - made.x;
    return insert(p->regex, p->regex->size, made);
  }
  RT_TRY(parse_escaped(p, letter, &c));
  return append_range(p->regex, c, c, false);
}

static adze_status parse_group(parser *p) {
  if (p->at < p->end && *p->at == '?') {
    ++p->at;
    if (p->at < p->end && *p->at == 'P')
      ++p->at;
    if (p->at < p->end && *p->at == '<')
      while (p->at < p->end && *p->at != '>')
        ++p->at;
    else if (p->at == p->end || *p->at != ':')
      return bad("a group with flags, which are not supported");
    p->at += p->at < p->end;
  }
  if (++p->depth > MAX_DEPTH)
    return bad("groups that are too deep");
  RT_TRY(parse_alternatives(p));
  --p->depth;
  if (p->at == p->end || *p->at != ')')
    return bad("a group without its end");
  ++p->at;
  return NULL;
}

static adze_status parse_atom(parser *p) {
  uint32_t c = rt_next_char(&p->at, p->end);
  switch (c) {
  case '(':
    return parse_group(p);
  case '[':
    return parse_set(p);
  case '\\':
    return parse_escape(p);
  case '^':
    return append(p->regex, ASSERT, BEGIN, 0);
  case '$':
    return append(p->regex, ASSERT, END, 0);
  case '.':
    return append_range(p->regex, '\n', '\n', true);
  case '*':
  case '+':
  case '?':
    return bad("a repetition of nothing");
  default:
    return append_range(p->regex, c, c, false);
  }
}

/* Parses {m}, {m,} or {m,n}; returns false if the brace is a literal. */
static bool parse_counts(parser *p, int32_t *least, int32_t *most) {
  const unsigned char *at = p->at + 1;
  int32_t numbers[2] = {-1, -1};
  int which = 0;
  for (; at < p->end && *at != '}'; ++at) {
    if (*at == ',' && !which)
      which = 1;
    else if (*at >= '0' && *at <= '9' && numbers[which] <= MAX_REPEAT)
      numbers[which] =
          (numbers[which] < 0 ? 0 : numbers[which] * 10) + (*at - '0');
    else
      return false;
  }
  if (at == p->end || numbers[0] < 0)
    return false;
  *least = numbers[0];
  *most = which ? numbers[1] : numbers[0];
  p->at = at + 1;
  return true;
}

/* Makes the code from `start` optional, or repeats it any number of times. */
static adze_status make_optional(rt_regex *regex, uint32_t start, bool again) {
  int32_t length = (int32_t)(regex->size - start);
  instruction split = {SPLIT, 1, length + 1 + (again ? 1 : 0), false};
  RT_TRY(insert(regex, start, split));
  return again ? append(regex, JUMP, -(length + 1), 0) : NULL;
}

/* Repeats the code from `start` between `least` and `most` times (-1:
   unlimited). */
static adze_status repeat(rt_regex *regex, uint32_t start, int32_t least,
                          int32_t most) {
  uint32_t length = regex->size - start;
  if (least > MAX_REPEAT || most > MAX_REPEAT || (most >= 0 && most < least))
    return bad("a wrong number of repetitions");
  instruction *piece = malloc((length + 1) * sizeof(instruction));
  if (!piece)
    return rt_out_of_memory(length * sizeof(instruction));
  if (length)
    memcpy(piece, regex->code + start, length * sizeof(instruction));
  regex->size = start;
  int32_t copies = most < 0 ? least + 1 : most;
  adze_status status = NULL;
  for (int32_t i = 0; i < copies && !status; ++i) {
    uint32_t at = regex->size;
    for (uint32_t k = 0; k < length && !status; ++k)
      status = insert(regex, regex->size, piece[k]);
    if (!status && i >= least)
      status = make_optional(regex, at, most < 0);
  }
  free(piece);
  return status;
}

static adze_status parse_repeated(parser *p) {
  uint32_t start = p->regex->size;
  RT_TRY(parse_atom(p));
  while (p->at < p->end) {
    int32_t least = *p->at == '+', most = *p->at == '?' ? 1 : -1;
    if (*p->at == '{') {
      if (!parse_counts(p, &least, &most))
        return NULL; /* the brace is a character */
    } else if (*p->at == '*' || *p->at == '+' || *p->at == '?') {
      ++p->at;
    } else {
      return NULL;
    }
    if (p->at < p->end && *p->at == '?')
      ++p->at; /* a lazy quantifier matches the same text */
    RT_TRY(repeat(p->regex, start, least, most));
  }
  return NULL;
}

static adze_status parse_alternatives(parser *p) {
  rt_regex *regex = p->regex;
  int32_t last = -1; /* the jumps to the end, linked to the previous one */
  for (;;) {
    uint32_t start = regex->size;
    while (p->at < p->end && *p->at != '|' && *p->at != ')')
      RT_TRY(parse_repeated(p));
    if (p->at == p->end || *p->at != '|')
      break;
    ++p->at;
    instruction split = {SPLIT, 1, (int32_t)(regex->size - start) + 2, false};
    RT_TRY(insert(regex, start, split));
    RT_TRY(append(regex, JUMP, last, 0));
    last = (int32_t)regex->size - 1;
  }
  while (last >= 0) {
    int32_t before = regex->code[last].x;
    regex->code[last].x = (int32_t)regex->size - last;
    last = before;
  }
  return NULL;
}

/* Allocates the buffers of a match. */
static adze_status make_room(rt_regex *regex) {
  size_t size = regex->size, each = 2 * sizeof(size_t) + 5 * sizeof(uint32_t);
  size_t *memory = calloc(size, each);
  if (!memory)
    return rt_out_of_memory(size * each);
  regex->starts[0] = memory;
  regex->starts[1] = memory + size;
  uint32_t *words = (uint32_t *)(memory + 2 * size);
  regex->states[0] = words;
  regex->states[1] = words + size;
  regex->marks = words + 2 * size;
  regex->stack = words + 3 * size; /* two entries for each state */
  return NULL;
}

adze_status rt_regex_compile(const char *pattern, size_t length,
                             rt_regex **regex) {
  rt_regex *made = calloc(1, sizeof(*made));
  if (!made)
    return rt_out_of_memory(sizeof(*made));
  const unsigned char *begin = (const unsigned char *)pattern;
  parser p = {begin, begin + length, made, 0};
  adze_status status = parse_alternatives(&p);
  if (!status && p.at != p.end)
    status = bad("a ')' too many");
  if (!status)
    status = append(made, MATCH, 0, 0);
  if (!status)
    status = make_room(made);
  if (status)
    rt_regex_free(made);
  else
    *regex = made;
  return status;
}

void rt_regex_free(rt_regex *regex) {
  if (!regex)
    return;
  free(regex->code);
  free(regex->ranges);
  free(regex->starts[0]);
  free(regex);
}

/* ---- Matching ------------------------------------------------------------ */

typedef struct {
  bool at_begin, at_end, word_before, word_after;
} position;

static bool holds(int32_t which, const position *here) {
  bool border = here->word_before != here->word_after;
  switch (which) {
  case BEGIN:
    return here->at_begin;
  case END:
    return here->at_end;
  case WORD:
    return border;
  default:
    return !border;
  }
}

/* Adds a state of the match that begins at `start`, and all states that are
 * reachable without a character. */
static void add_state(rt_regex *regex, int list, uint32_t state, size_t start,
                      const position *here) {
  uint32_t depth = 0;
  regex->stack[depth++] = state;
  while (depth) {
    uint32_t at = regex->stack[--depth];
    if (regex->marks[at] == regex->generation)
      continue;
    regex->marks[at] = regex->generation;
    const instruction *now = &regex->code[at];
    if (now->op == JUMP) {
      regex->stack[depth++] = at + (uint32_t)now->x;
    } else if (now->op == SPLIT) {
      regex->stack[depth++] = at + (uint32_t)now->y;
      regex->stack[depth++] = at + (uint32_t)now->x;
    } else if (now->op == ASSERT) {
      if (holds(now->x, here))
        regex->stack[depth++] = at + 1;
    } else {
      regex->starts[list][regex->count[list]] = start;
      regex->states[list][regex->count[list]++] = at;
    }
  }
}

static bool takes(const rt_regex *regex, const instruction *now, uint32_t c) {
  bool inside = false;
  for (int32_t r = now->x; r < now->x + now->y && !inside; ++r)
    inside = c >= regex->ranges[r].low && c <= regex->ranges[r].high;
  return inside != now->negated;
}

static void begin_list(rt_regex *regex, int list) {
  regex->count[list] = 0;
  /* after an overflow, old marks would appear to be current */
  if (!++regex->generation) {
    memset(regex->marks, 0, regex->size * sizeof(uint32_t));
    regex->generation = 1;
  }
}

/* Reads a character: replaces the states of `list` by their successors in the
   other list. */
static void step(rt_regex *regex, int list, uint32_t c, const position *here) {
  begin_list(regex, !list);
  for (uint32_t i = 0; i < regex->count[list]; ++i) {
    uint32_t state = regex->states[list][i];
    if (regex->code[state].op == IS_IN && takes(regex, &regex->code[state], c))
      add_state(regex, !list, state + 1, regex->starts[list][i], here);
  }
}

/* Records the match that ends here, if there is one, and drops states of later
 * starts. States are ordered by start. */
static void keep_match(rt_regex *regex, int list, size_t here,
                       rt_regex_range *found) {
  for (uint32_t i = 0; i < regex->count[list]; ++i) {
    size_t start = regex->starts[list][i];
    if (found->end != SIZE_MAX && start > found->begin) {
      regex->count[list] = i;
    } else if (regex->code[regex->states[list][i]].op == MATCH) {
      *found = (rt_regex_range){start, here};
    }
  }
}

/* Returns the longest of the leftmost matches that begin at `from` or, unless
 * `anchored`, after it; its end is SIZE_MAX if there is none. */
static rt_regex_range find(rt_regex *regex, const char *text, size_t length,
                           size_t from, bool anchored) {
  const unsigned char *bytes = (const unsigned char *)text;
  const unsigned char *at = bytes + from, *end = bytes + length;
  rt_regex_range found = {0, SIZE_MAX};
  int list = 0;
  begin_list(regex, list);
  for (uint32_t c = 0;; list = !list) {
    position here = {at == bytes, at == end, at > bytes && is_word(at[-1]),
                     at < end && is_word(*at)};
    size_t place = (size_t)(at - bytes);
    if (place > from)
      step(regex, !list, c, &here);
    if (found.end == SIZE_MAX && (!anchored || place == from))
      add_state(regex, list, 0, place, &here);
    keep_match(regex, list, place, &found);
    if (at == end ||
        (!regex->count[list] && (anchored || found.end != SIZE_MAX)))
      return found;
    c = rt_next_char(&at, end);
  }
}

bool rt_regex_match(rt_regex *regex, const char *text, size_t length) {
  return find(regex, text, length, 0, /*anchored=*/true).end == length;
}

bool rt_regex_search(rt_regex *regex, const char *text, size_t length,
                     size_t from, rt_regex_range *match) {
  *match = find(regex, text, length, from, /*anchored=*/false);
  return match->end != SIZE_MAX;
}
