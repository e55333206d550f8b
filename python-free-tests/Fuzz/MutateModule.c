/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * libFuzzer's mutator for modules. Most bytes of a module are code, which the
 * checks before dlopen do not read. This one changes the headers of the file,
 * its segments and sections, the notes, and the size of the file.
 */
#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                               unsigned seed);

typedef struct {
  size_t begin, bytes;
} range;

static uint64_t next(uint64_t *random) {
  *random = *random * 6364136223846793005u + 1442695040888963407u;
  return *random >> 33;
}

/* One of the tables in the file's header. */
static range table_of(const uint8_t *data, int sections) {
  Elf64_Ehdr header;
  memcpy(&header, data, sizeof(header));
  range table = {sections ? header.e_shoff : header.e_phoff,
                 sections ? (size_t)header.e_shnum * header.e_shentsize
                          : (size_t)header.e_phnum * header.e_phentsize};
  return table;
}

/* A note of the module or of its weights: the owner's name and the contents.
 */
static range note_of(const uint8_t *data, size_t size, uint64_t *random) {
  size_t from = next(random) % size;
  const uint8_t *found = memmem(data + from, size - from, "Adze", 4);
  if (!found)
    found = memmem(data, size, "Adze", 4);
  range note = {found ? (size_t)(found - data) : 0, 256};
  if (note.begin >= sizeof(Elf64_Nhdr))
    note.begin -= sizeof(Elf64_Nhdr);
  return note;
}

static range choose(const uint8_t *data, size_t size, uint64_t *random) {
  range all = {0, size}, header = {0, sizeof(Elf64_Ehdr)}, chosen;
  switch (next(random) % 8) {
  case 0:
  case 1:
    chosen = header;
    break;
  case 2:
  case 3:
    chosen = table_of(data, 0);
    break;
  case 4:
    chosen = table_of(data, 1);
    break;
  case 5:
  case 6:
    chosen = note_of(data, size, random);
    break;
  default:
    chosen = all;
  }
  if (chosen.begin >= size || !chosen.bytes)
    return all;
  if (chosen.bytes > size - chosen.begin)
    chosen.bytes = size - chosen.begin;
  return chosen;
}

static void change(uint8_t *data, range place, size_t size, uint64_t *random) {
  const uint64_t values[] = {0,          1,          2,
                             8,          4095,       4096,
                             size - 1,   size,       size + 1,
                             0x7fffffff, 0xffffffff, (uint64_t)1 << 62,
                             INT64_MAX,  UINT64_MAX, ~(uint64_t)4095};
  size_t bytes = (size_t)1 << next(random) % 4;
  size_t at = next(random) % place.bytes;
  if (next(random) % 2)
    at -= at % bytes;
  at += place.begin;
  if (bytes > size - at)
    bytes = size - at;
  uint64_t value;
  switch (next(random) % 4) {
  case 0: /* an adjacent value */
    value = 0;
    memcpy(&value, data + at, bytes);
    value += next(random) % 2 ? 1 : UINT64_MAX;
    break;
  case 1:
    value = next(random) << 31 | next(random);
    break;
  default:
    value = values[next(random) % (sizeof(values) / sizeof(*values))];
  }
  memcpy(data + at, &value, bytes);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                               unsigned seed) {
  uint64_t random = seed * 2654435761u + 1;
  if (size < sizeof(Elf64_Ehdr) || next(&random) % 16 == 0)
    return LLVMFuzzerMutate(data, size, max_size);
  if (next(&random) % 16 == 0) /* a truncated file */
    return 1 + next(&random) % size;
  for (uint64_t count = 1 + next(&random) % 3; count; --count)
    change(data, choose(data, size, &random), size, &random);
  return size;
}
