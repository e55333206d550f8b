/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Functions that select elements sequentially.
 * */
#include "Calls.h"
#include "Numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- unique -------------------------------------------------------------- */

/* The input as `count` slices of [outer][inner] elements along an axis. */
typedef struct {
  rt_call *call;
  const rt_input *x;
  uint64_t count, outer, inner;
} slices;

static const char *text_of(const slices *s, uint64_t at, size_t *length) {
  rt_string string = {"", 0};
  adze_status status = rt_input_string(s->call, 0, at, &string);
  adze_status_free(status); /* check_strings has checked all indices */
  *length = string.length;
  return string.text;
}

/* Opens the table of strings, so that comparisons cannot fail. */
static adze_status check_strings(rt_call *call, const rt_input *x) {
  rt_string string;
  for (uint64_t i = 0; i < x->count && x->kind == ADZE_STRINGS; ++i)
    RT_TRY(rt_input_string(call, 0, i, &string));
  return NULL;
}

static int compare_elements(const slices *s, uint64_t x, uint64_t y) {
  if (s->x->kind != ADZE_STRINGS)
    return rt_compare_numbers(rt_read_number(s->x->dtype, s->x->data, x),
                              rt_read_number(s->x->dtype, s->x->data, y));
  if (rt_input_int(s->call, 0, x) == rt_input_int(s->call, 0, y))
    return 0;
  size_t x_length, y_length;
  const char *x_text = text_of(s, x, &x_length);
  const char *y_text = text_of(s, y, &y_length);
  size_t both = x_length < y_length ? x_length : y_length;
  int order = both ? memcmp(x_text, y_text, both) : 0;
  return order ? order : (x_length > y_length) - (x_length < y_length);
}

static int compare_slices(const slices *s, uint64_t x, uint64_t y) {
  for (uint64_t o = 0; o < s->outer; ++o)
    for (uint64_t i = 0; i < s->inner; ++i) {
      int order = compare_elements(s, (o * s->count + x) * s->inner + i,
                                   (o * s->count + y) * s->inner + i);
      if (order)
        return order;
    }
  return 0;
}

/* Returns true if x is after y in the order. */
typedef bool is_behind(const void *data, int64_t x, int64_t y);

/* Sorts indices by a stable merge sort. */
static void sort_numbers(is_behind *behind, const void *data, int64_t *order,
                         int64_t *buffer, uint64_t count) {
  if (count < 2)
    return;
  uint64_t half = count / 2;
  sort_numbers(behind, data, order, buffer, half);
  sort_numbers(behind, data, order + half, buffer, count - half);
  memcpy(buffer, order, half * sizeof(*order));
  uint64_t left = 0, right = half, at = 0;
  while (left < half) {
    bool take_left =
        right == count || !behind(data, buffer[left], order[right]);
    order[at++] = take_left ? buffer[left++] : order[right++];
  }
}

/* Sorts by keys with a stable radix sort over the bytes in which keys
 * differ. */
static void sort_keys(uint64_t *keys, uint64_t *other_keys, int64_t *order,
                      int64_t *buffer, uint64_t count) {
  uint64_t differ = 0;
  for (uint64_t i = 1; i < count; ++i)
    differ |= keys[i] ^ keys[0];
  uint64_t *from = keys, *to = other_keys;
  int64_t *from_order = order, *to_order = buffer;
  for (int shift = 0; shift < 64; shift += 8) {
    if (!(differ >> shift & 255))
      continue;
    uint64_t place[256] = {0}, next = 0;
    for (uint64_t i = 0; i < count; ++i)
      ++place[from[i] >> shift & 255];
    for (int byte = 0; byte < 256; ++byte) {
      uint64_t size = place[byte];
      place[byte] = next;
      next += size;
    }
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t at = place[from[i] >> shift & 255]++;
      to[at] = from[i];
      to_order[at] = from_order[i];
    }
    uint64_t *sorted = to;
    to = from;
    from = sorted;
    int64_t *sorted_order = to_order;
    to_order = from_order;
    from_order = sorted_order;
  }
  if (from == keys)
    return;
  memcpy(keys, from, count * sizeof(*keys));
  memcpy(order, from_order, count * sizeof(*order));
}

static bool is_slice_behind(const void *s, int64_t x, int64_t y) {
  return compare_slices(s, (uint64_t)x, (uint64_t)y) > 0;
}

/* first[k]: the slice where group k first occurs, in sorted order; group[i]:
 * the group of slice i; sizes[k]. */
typedef struct {
  int64_t *order, *buffer, *first, *group, *sizes, *rank;
  uint64_t *keys; /* keys of slices of one number, else NULL */
  uint64_t count;
} groups;

static void sort_slices(const slices *s, groups *g) {
  for (uint64_t i = 0; i < s->count; ++i)
    g->order[i] = (int64_t)i;
  if (!g->keys) {
    sort_numbers(is_slice_behind, s, g->order, g->buffer, s->count);
    return;
  }
  for (uint64_t i = 0; i < s->count; ++i)
    g->keys[i] = rt_read_key(s->x->dtype, s->x->data, i);
  sort_keys(g->keys, g->keys + s->count, g->order, g->buffer, s->count);
}

static bool begins_group(const slices *s, const groups *g, uint64_t i) {
  if (!i)
    return true;
  if (g->keys)
    return g->keys[i] != g->keys[i - 1];
  return compare_slices(s, (uint64_t)g->order[i - 1], (uint64_t)g->order[i]) !=
         0;
}

static void find_groups(const slices *s, groups *g) {
  sort_slices(s, g);
  g->count = 0;
  for (uint64_t i = 0; i < s->count; ++i) {
    if (begins_group(s, g, i)) {
      g->first[g->count] = g->order[i];
      g->sizes[g->count++] = 0;
    }
    g->group[g->order[i]] = (int64_t)g->count - 1;
    ++g->sizes[g->count - 1];
  }
}

/* Sets rank[k] to the position of group k in the result. */
static void rank_groups(const slices *s, groups *g, bool sorted) {
  for (uint64_t k = 0; k < g->count; ++k)
    g->rank[k] = (int64_t)k;
  int64_t next = 0;
  for (uint64_t i = 0; i < s->count && !sorted; ++i)
    if (g->first[g->group[i]] == (int64_t)i)
      g->rank[g->group[i]] = next++;
}

static adze_status write_groups(const slices *s, const groups *g,
                                int32_t axis) {
  rt_call *call = s->call;
  int64_t *dims = calloc((size_t)s->x->rank + 1, sizeof(int64_t));
  int64_t found = (int64_t)g->count, all = (int64_t)s->count;
  if (!dims)
    return rt_out_of_memory(sizeof(int64_t));
  if (axis >= 0)
    memcpy(dims, s->x->dims, (size_t)s->x->rank * sizeof(int64_t));
  dims[axis < 0 ? 0 : axis] = found;
  adze_status status = rt_result_make(call, 0, dims);
  free(dims);
  RT_TRY(status);
  RT_TRY(rt_result_make(call, 1, &found));
  RT_TRY(rt_result_make(call, 2, &all));
  RT_TRY(rt_result_make(call, 3, &found));
  uint64_t run = s->inner * (s->x->dtype.bits / 8u);
  for (uint64_t k = 0; k < g->count; ++k) {
    uint64_t to = (uint64_t)g->rank[k], from = (uint64_t)g->first[k];
    ((int64_t *)call->results[1].data)[to] = g->first[k];
    ((int64_t *)call->results[3].data)[to] = g->sizes[k];
    for (uint64_t o = 0; o < s->outer && run; ++o)
      memcpy((char *)call->results[0].data + (o * g->count + to) * run,
             (const char *)s->x->data + (o * s->count + from) * run, run);
  }
  for (uint64_t i = 0; i < s->count; ++i)
    ((int64_t *)call->results[2].data)[i] = g->rank[g->group[i]];
  return NULL;
}

static adze_status unique(rt_call *call) {
  const rt_input *x = &call->inputs[0];
  RT_TRY(check_strings(call, x));
  bool sorted = rt_input_int(call, 1, 0) != 0;
  int32_t axis = (int32_t)rt_input_int(call, 1, 1);
  slices s = {call, x, x->count, 1, 1};
  if (axis >= 0) {
    s.count = (uint64_t)x->dims[axis];
    for (int32_t d = 0; d < x->rank; ++d)
      *(d < axis ? &s.outer : &s.inner) *= d == axis ? 1 : (uint64_t)x->dims[d];
  }
  if (rt_read_number(x->dtype, "\0\0\0\0\0\0\0", 0).form == RT_NO_NUMBER)
    return rt_error(ADZE_UNSUPPORTED, "expected numbers of at least 16 bits");
  bool has_keys = s.outer == 1 && s.inner == 1 && x->kind != ADZE_STRINGS;
  uint64_t each = s.count + 1, arrays = has_keys ? 8 : 6;
  int64_t *buffer = calloc(each, arrays * sizeof(int64_t));
  if (!buffer)
    return rt_out_of_memory(each * arrays * sizeof(int64_t));
  groups g = {buffer,
              buffer + each,
              buffer + 2 * each,
              buffer + 3 * each,
              buffer + 4 * each,
              buffer + 5 * each,
              has_keys ? (uint64_t *)(buffer + 6 * each) : NULL,
              0};
  find_groups(&s, &g);
  rank_groups(&s, &g, sorted);
  adze_status status = write_groups(&s, &g, axis);
  free(buffer);
  return status;
}

/* ---- non_max_suppression --------------------------------------------------
 */

typedef struct {
  float low[2], high[2], area;
} box;

static box get_box(const float *given, bool is_center) {
  box b;
  for (int d = 0; d < 2; ++d) {
    /* Corners are y1, x1, y2, x2 in any order; otherwise centres x, y, w, h. */
    float from = given[d], to = given[d + 2];
    if (is_center) {
      from = given[d] - given[d + 2] / 2;
      to = given[d] + given[d + 2] / 2;
    }
    b.low[d] = from < to ? from : to;
    b.high[d] = from < to ? to : from;
  }
  b.area = (b.high[0] - b.low[0]) * (b.high[1] - b.low[1]);
  return b;
}

/* Returns true if intersection over union exceeds the threshold. Most pairs do
 * not overlap along the first dim. */
static bool overlaps(const box *x, const box *y, float threshold) {
  float common = 1;
  for (int d = 0; d < 2; ++d) {
    float low = x->low[d] > y->low[d] ? x->low[d] : y->low[d];
    float high = x->high[d] < y->high[d] ? x->high[d] : y->high[d];
    if (!(high > low) && threshold >= 0)
      return false;
    common *= high > low ? high - low : 0;
  }
  float all = x->area + y->area - common;
  return x->area > 0 && y->area > 0 && all > 0 && common / all > threshold;
}

/* Cells along one dim: each box is in the cell of its lower end. Detectors
 * offset the boxes of each class far from the others, so few boxes share a
 * cell. */
enum { CELLS = 256 };
typedef struct {
  int dim;
  double begin, cells_per_unit; /* 0: all boxes are in one cell */
  double longest;               /* extent of the boxes along the dim */
  int64_t first[CELLS];         /* of each cell, or -1 */
  int64_t *next;                /* of each box, or -1 */
} grid;

/* Divides the dim along which most boxes are disjoint into cells. Numbers that
 * are not finite, and thresholds that disjoint boxes exceed, result in one
 * cell. */
static void make_grid(grid *g, const box *boxes, int64_t count,
                      float threshold) {
  double most = 0;
  g->cells_per_unit = 0;
  for (int d = 0; d < 2; ++d) {
    double begin = INFINITY, end = -INFINITY, lengths = 0;
    for (int64_t i = 0; i < count; ++i) {
      const box *b = &boxes[i];
      begin = b->low[d] < begin ? b->low[d] : begin;
      end = b->high[d] > end ? b->high[d] : end;
      lengths += (double)b->high[d] - b->low[d];
    }
    if (!isfinite(lengths) || !(threshold >= 0)) {
      g->cells_per_unit = 0;
      return;
    }
    if ((end - begin) * (double)count > most * lengths && end > begin) {
      most = lengths > 0 ? (end - begin) * (double)count / lengths : INFINITY;
      g->dim = d;
      g->begin = begin;
      g->cells_per_unit = CELLS / (end - begin);
    }
  }
}

static int64_t cell_of(const grid *g, double at) {
  if (g->cells_per_unit == 0)
    return 0;
  double cell = (at - g->begin) * g->cells_per_unit;
  return cell < 0 ? 0 : cell < CELLS ? (int64_t)cell : CELLS - 1;
}

static void clear_grid(grid *g) {
  memset(g->first, -1, sizeof(g->first));
  g->longest = 0;
}

static void add_box(grid *g, const box *kept, int64_t number) {
  const box *b = &kept[number];
  int64_t cell = cell_of(g, b->low[g->dim]);
  double length = (double)b->high[g->dim] - b->low[g->dim];
  g->longest = length > g->longest ? length : g->longest;
  g->next[number] = g->first[cell];
  g->first[cell] = number;
}

static bool overlaps_any(const grid *g, const box *kept, const box *b,
                         float threshold) {
  /* Starts one cell earlier, to be independent of rounding. */
  int64_t cell = cell_of(g, b->low[g->dim] - g->longest) - 1;
  int64_t last = cell_of(g, b->high[g->dim]);
  for (cell = cell < 0 ? 0 : cell; cell <= last; ++cell)
    for (int64_t k = g->first[cell]; k >= 0; k = g->next[k])
      if (overlaps(b, &kept[k], threshold))
        return true;
  return false;
}

typedef struct {
  const float *scores;
  box *boxes, *kept; /* kept: the selected ones of a class, contiguous */
  grid kept_grid;
  int64_t *order, *buffer;
  /* descending keys of scores, followed by space for as many */
  uint64_t *keys;
  int64_t *selected; /* triples */
  size_t count, capacity;
  int64_t num_boxes, limit;
  float overlap, score;
} suppression;

static adze_status add_triple(suppression *s, int64_t batch, int64_t kind,
                              int64_t number) {
  if (3 * s->count + 3 > s->capacity) {
    size_t capacity = s->capacity ? 2 * s->capacity : 96;
    int64_t *grown = realloc(s->selected, capacity * sizeof(int64_t));
    if (!grown)
      return rt_out_of_memory(capacity * sizeof(int64_t));
    s->selected = grown;
    s->capacity = capacity;
  }
  int64_t *triple = s->selected + 3 * s->count++;
  triple[0] = batch;
  triple[1] = kind;
  triple[2] = number;
  return NULL;
}

/* Returns a key that increases as the score decreases; both zeros are equal. */
static uint64_t falling_key(float score) {
  score += 0.0f;
  uint32_t bits;
  memcpy(&bits, &score, sizeof(bits));
  return bits >> 31 ? bits : ~bits & INT32_MAX;
}

static adze_status select_boxes(suppression *s, int64_t batch, int64_t kind) {
  int64_t candidates = 0;
  /* branch-free, since the conditions are unpredictable */
  for (int64_t i = 0; i < s->num_boxes; ++i) {
    s->order[candidates] = i;
    candidates += s->scores[i] > s->score;
  }
  for (int64_t c = 0; c < candidates; ++c)
    s->keys[c] = falling_key(s->scores[s->order[c]]);
  sort_keys(s->keys, s->keys + candidates, s->order, s->buffer,
            (uint64_t)candidates);
  int64_t count = 0;
  clear_grid(&s->kept_grid);
  s->kept_grid.next = s->buffer;
  for (int64_t c = 0; c < candidates && count < s->limit; ++c) {
    const box *candidate = &s->boxes[s->order[c]];
    if (overlaps_any(&s->kept_grid, s->kept, candidate, s->overlap))
      continue;
    s->kept[count] = *candidate;
    add_box(&s->kept_grid, s->kept, count++);
    RT_TRY(add_triple(s, batch, kind, s->order[c]));
  }
  return NULL;
}

static adze_status suppress(rt_call *call, suppression *s) {
  const rt_input *boxes = &call->inputs[0], *scores = &call->inputs[1];
  bool is_center = rt_input_int(call, 5, 0) != 0;
  for (int64_t n = 0; n < boxes->dims[0]; ++n) {
    for (int64_t i = 0; i < s->num_boxes; ++i)
      s->boxes[i] = get_box(
          (const float *)boxes->data + (n * s->num_boxes + i) * 4, is_center);
    make_grid(&s->kept_grid, s->boxes, s->num_boxes, s->overlap);
    for (int64_t c = 0; c < scores->dims[1]; ++c) {
      s->scores = (const float *)scores->data +
                  (n * scores->dims[1] + c) * s->num_boxes;
      RT_TRY(select_boxes(s, n, c));
    }
  }
  int64_t dims[] = {(int64_t)s->count, 3};
  RT_TRY(rt_result_make(call, 0, dims));
  if (s->count)
    memcpy(call->results[0].data, s->selected, 3 * s->count * sizeof(int64_t));
  return NULL;
}

static adze_status non_max_suppression(rt_call *call) {
  const rt_input *boxes = &call->inputs[0], *scores = &call->inputs[1];
  if (boxes->rank != 3 || scores->rank != 3 || boxes->dims[2] != 4 ||
      boxes->dims[0] != scores->dims[0] || boxes->dims[1] != scores->dims[2])
    return rt_error(ADZE_RUN_ERROR,
                    "expected boxes [N, boxes, 4] and scores [N, C, boxes]");
  suppression s = {0};
  s.num_boxes = boxes->dims[1];
  s.limit = rt_input_int(call, 2, 0);
  s.overlap = *(const float *)call->inputs[3].data;
  s.score = *(const float *)call->inputs[4].data;
  if (!(s.overlap >= 0 && s.overlap <= 1))
    return rt_error(ADZE_RUN_ERROR,
                    "expected an iou_threshold in [0, 1], but got %g",
                    (double)s.overlap);
  size_t each = (size_t)s.num_boxes + 1;
  s.boxes = calloc(each, 2 * sizeof(box));
  s.kept = s.boxes ? s.boxes + each : NULL;
  s.order = calloc(each, 2 * sizeof(int64_t));
  s.buffer = s.order ? s.order + each : NULL;
  s.keys = calloc(each, 2 * sizeof(uint64_t));
  adze_status status = s.boxes && s.order && s.keys ? suppress(call, &s)
                                                    : rt_out_of_memory(each);
  free(s.boxes);
  free(s.order);
  free(s.keys);
  free(s.selected);
  return status;
}

const rt_function_row rt_selection_functions[] = {
    {"unique", 2, 2, 4, unique},
    {"non_max_suppression", 6, 6, 1, non_max_suppression},
    {NULL, 0, 0, 0, NULL}};
