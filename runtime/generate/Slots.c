/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Memory of states: blocks of slots, one slot a sequence.
 */
#include "Generate.h"

#include <stdlib.h>
#include <string.h>

static uint64_t block_bytes(const adze_generator *generator,
                            const gen_state *state) {
  return state->bytes * (uint64_t)generator->slots;
}

adze_status gen_create_block(adze_generator *generator, gen_block **block) {
  gen_block *made = calloc(1, sizeof(*made));
  if (!made)
    return gen_out_of_memory();
  made->buffers = calloc((size_t)generator->num_states + 1, sizeof(char *));
  made->end = generator->rows;
  made->sequences = calloc((size_t)generator->slots, sizeof(adze_sequence *));
  adze_status status =
      made->buffers && made->sequences ? NULL : gen_out_of_memory();
  for (int32_t i = 0; !status && i < generator->num_states; ++i) {
    const gen_state *state = &generator->states[i];
    if (state->info.kind != ADZE_STATE_KEEP)
      status = adze_memory_allocate(generator->context,
                                    block_bytes(generator, state),
                                    (void **)&made->buffers[i]);
  }
  if (status) {
    gen_release_block(generator, made);
    return status;
  }
  *block = made;
  return NULL;
}

void gen_release_block(adze_generator *generator, gen_block *block) {
  for (int32_t i = 0; block->buffers && i < generator->num_states; ++i)
    adze_memory_release(generator->context, block->buffers[i],
                        block_bytes(generator, &generator->states[i]));
  free(block->buffers);
  free(block->sequences);
  free(block);
}

adze_status gen_take_slot(adze_sequence *sequence) {
  adze_generator *generator = sequence->generator;
  gen_block **at = &generator->blocks;
  int64_t slot = 0;
  for (; *at; at = &(*at)->next) {
    for (slot = 0; slot < generator->slots && (*at)->sequences[slot]; ++slot)
      ;
    if (slot < generator->slots)
      break;
  }
  if (!*at) {
    slot = 0;
    GEN_TRY(gen_create_block(generator, at));
  }
  sequence->block = *at;
  sequence->slot = slot;
  (*at)->sequences[slot] = sequence;
  return NULL;
}

void gen_give_slot(adze_sequence *sequence) {
  adze_generator *generator = sequence->generator;
  gen_block *block = sequence->block;
  if (!block)
    return;
  sequence->block = NULL;
  block->sequences[sequence->slot] = NULL;
  bool is_used = false;
  for (int64_t i = 0; i < generator->slots; ++i)
    is_used |= block->sequences[i] != NULL;
  if (!is_used) {
    gen_block **at = &generator->blocks;
    while (*at != block)
      at = &(*at)->next;
    *at = block->next;
    gen_release_block(generator, block);
    return;
  }
  /* The attention of other sequences gives these rows the weight 0. A product
   * of 0 with infinity or NaN would not be 0. */
  for (int32_t i = 0; i < generator->num_states; ++i) {
    uint64_t bytes = generator->states[i].bytes;
    if (block->buffers[i])
      adze_status_free(adze_memory_clear(
          generator->context,
          block->buffers[i] + (uint64_t)sequence->slot * bytes, bytes));
  }
}

/* Copies `rows` rows within a slot; source and destination may overlap. */
static adze_status copy_rows(const adze_generator *generator,
                             const gen_state *state, char *to, const char *from,
                             uint64_t rows) {
  uint64_t outer = 1;
  for (int32_t d = 0; d < state->info.axis; ++d)
    outer *= (uint64_t)state->dims[d];
  uint64_t pitch = (uint64_t)state->dims[state->info.axis] * state->row_bytes;
  return adze_memory_copy(generator->context, to, pitch, from, pitch,
                          rows * state->row_bytes, outer);
}

static char *slot_data(const adze_sequence *sequence, int32_t state) {
  char *data = sequence->block->buffers[state];
  uint64_t bytes = sequence->generator->states[state].bytes;
  return data ? data + (uint64_t)sequence->slot * bytes : NULL;
}

adze_status gen_copy_slot(adze_sequence *to, const adze_sequence *from) {
  const adze_generator *generator = from->generator;
  for (int32_t i = 0; i < generator->num_states; ++i) {
    const gen_state *state = &generator->states[i];
    char *target = slot_data(to, i);
    const char *source = slot_data(from, i);
    if (!target)
      continue;
    uint64_t skipped = (uint64_t)from->start * state->row_bytes;
    if (state->grows)
      GEN_TRY(copy_rows(generator, state, target + skipped, source + skipped,
                        from->done));
    else
      GEN_TRY(adze_memory_copy(generator->context, target, 0, source, 0,
                               state->bytes, 1));
  }
  to->start = from->start;
  to->done = from->done;
  return NULL;
}

adze_status gen_move_rows(adze_sequence *sequence, int64_t end) {
  const adze_generator *generator = sequence->generator;
  int64_t start = end - (int64_t)sequence->done;
  if (start == sequence->start)
    return NULL;
  for (int32_t i = 0; i < generator->num_states; ++i) {
    const gen_state *state = &generator->states[i];
    char *data = slot_data(sequence, i);
    if (data && state->grows)
      GEN_TRY(copy_rows(
          generator, state, data + (uint64_t)start * state->row_bytes,
          data + (uint64_t)sequence->start * state->row_bytes, sequence->done));
  }
  sequence->start = start;
  return NULL;
}
