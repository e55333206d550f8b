/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Schedules the programs of a launch on lanes. Each lane begins with its own
 * share, the same part of all launches, whose data is likely in the core's
 * caches. A step depends on the previous one; with groups, only on the same
 * group. A lane with its own group therefore never waits, and lanes that share
 * a group synchronize after each step. Frequently written data has separate
 * cache lines: a transfer of a line between cores takes longer than a small
 * step.
 * */
#include "Runtime.h"

#include <sched.h>

/* The most pieces of a lane's share, which other lanes can take: of one of many
 * steps, and of a single step. */
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

/* Returns the first program of a piece of a step, given the `all` programs of
 * the group. A group of the schedule consists of whole groups of the launch. */
static int64_t program_of(const rt_steps *steps, int64_t group, int64_t step,
                          int64_t piece, int64_t all) {
  int64_t each = steps->programs / steps->parts;
  int64_t begin = steps->parts * group / steps->groups * each,
          end = steps->parts * (group + 1) / steps->groups * each;
  return step * steps->programs + begin + (end - begin) * piece / all;
}

/* Runs pieces of one step of a group that no lane has taken, those of the
 * lane's own share first. Where others may take the rest, it takes fewer at a
 * time as the rest shrinks. In a single step they always may, since a lane may
 * arrive late. */
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

/* Runs the remaining steps of a group. A lane waits only for pieces that
 * another one is executing, so a lane that starts late, or never, delays no
 * other. */
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

/* Runs the lane's own group, then groups that no lane has begun, then those of
   others. */
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
