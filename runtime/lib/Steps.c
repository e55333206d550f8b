/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Which lane of a launch runs which programs when. Each begins with a share of
 * its own, the same part of all launches: what the one before it stored there,
 * or a step read, is in the core's caches. A step sees what the one before it
 * stored; of groups, each sees its own alone. So a lane with a group of its own
 * waits for nobody; lanes that share one meet after each step.
 * What lanes write often lies in lines of its own: a line that another core has
 * takes longer to come than a small step to compute.
 */
#include "Runtime.h"

#include <sched.h>

/* Pieces of a lane's share, at most: what others can take of it. Of one step of
 * many, and where there is but one. */
#define MOST_PIECES_OF_STEP 8
#define MOST_PIECES (1 << 20)

static int64_t at_most(int64_t value, int64_t most) {
  return value < most ? value : most;
}

static int64_t parts_of(int64_t value, int64_t each) {
  return (value + each - 1) / each;
}

void rt_steps_init(rt_steps *steps, int64_t programs, int64_t count,
                   int64_t groups, int64_t lanes, bool divides) {
  int64_t each = programs / count;
  steps->programs = each;
  steps->steps = count;
  steps->parts = groups;
  steps->groups = at_most(groups, RT_MOST_SHARES);
  steps->lanes = lanes;
  steps->divides = divides;
  steps->shares =
      at_most(parts_of(lanes, steps->groups), RT_MOST_SHARES / steps->groups);
  steps->pieces =
      at_most(parts_of(parts_of(each, steps->groups), steps->shares),
              count > 1 ? MOST_PIECES_OF_STEP : MOST_PIECES);
  for (int64_t g = 0; g < steps->groups; ++g) {
    atomic_init(&steps->group[g].done, 0);
    atomic_init(&steps->group[g].inside, 0);
  }
  for (int64_t i = 0; i < steps->groups * steps->shares; ++i)
    atomic_init(&steps->share[i].taken, 0);
}

/* The first program of a piece of a step, of the group's `all` ones. Groups of
 * the launch are whole in those of the schedule. */
static int64_t program_of(const rt_steps *steps, int64_t group, int64_t step,
                          int64_t piece, int64_t all) {
  int64_t each = steps->programs / steps->parts;
  int64_t begin = steps->parts * group / steps->groups * each,
          end = steps->parts * (group + 1) / steps->groups * each;
  return step * steps->programs + begin + (end - begin) * piece / all;
}

/* The pieces of one step of a group that nobody has taken, of the lane's own
 * share first; ever fewer at once, where others may take the rest. Of the only
 * step they may always: a lane may come when most of it is still to do. */
static void run_step(rt_steps *steps, int64_t group, int64_t step,
                     int32_t lane) {
  int64_t end = (step + 1) * steps->pieces, done = 0;
  int64_t all = steps->shares * steps->pieces;
  bool alone =
      steps->steps > 1 && atomic_load_explicit(&steps->group[group].inside,
                                               memory_order_relaxed) == 1;
  for (int64_t i = 0; i < steps->shares; ++i) {
    int64_t share = (lane + i) % steps->shares;
    _Atomic int64_t *taken = &steps->share[group * steps->shares + share].taken;
    int64_t seen = atomic_load_explicit(taken, memory_order_relaxed);
    while (seen < end) {
      int64_t count = alone ? end - seen : parts_of(end - seen, 2);
      if (!atomic_compare_exchange_strong(taken, &seen, seen + count))
        continue;
      int64_t first = share * steps->pieces + seen - (end - steps->pieces);
      steps->run(steps->data, lane, program_of(steps, group, step, first, all),
                 program_of(steps, group, step, first + count, all));
      done += count;
      seen += count;
    }
  }
  if (done)
    atomic_fetch_add_explicit(&steps->group[group].done, done,
                              memory_order_release);
}

/* The steps of a group that are left. A lane only ever waits for pieces that
 * another one is working on: one that comes late, or never, holds up nobody. */
static void run_group(rt_steps *steps, int64_t group, int32_t lane) {
  enum { patience = 4096 };
  int64_t each = steps->shares * steps->pieces, step = 0;
  for (int64_t spins = 0;; ++spins) {
    int64_t done =
        atomic_load_explicit(&steps->group[group].done, memory_order_acquire);
    if (done >= each * steps->steps)
      return;
    if (done / each >= step) {
      step = done / each;
      run_step(steps, group, step++, lane);
      spins = 0;
    } else if (spins < patience) {
      rt_relax();
    } else {
      sched_yield();
    }
  }
}

/* Its own group, then those that nobody has begun, then those of others. */
void rt_steps_run(rt_steps *steps, int32_t lane) {
  enum { own, unbegun, all };
  int64_t first = lane * steps->groups / steps->lanes;
  for (int pass = own; pass <= (steps->divides ? all : unbegun); ++pass)
    for (int64_t i = 0; i < (pass == own ? 1 : steps->groups); ++i) {
      int64_t group = (first + i) % steps->groups, nobody = 0;
      _Atomic int64_t *inside = &steps->group[group].inside;
      if (pass == all || (pass == own && steps->divides))
        atomic_fetch_add(inside, 1);
      else if (!atomic_compare_exchange_strong(inside, &nobody, 1))
        continue;
      run_group(steps, group, lane);
    }
}
