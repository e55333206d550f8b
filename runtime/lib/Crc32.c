/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * CRC-32 (IEEE 802.3, reflected, as in zlib), eight bytes per step.
 * */
#include "Runtime.h"

#include <string.h>

#define POLYNOMIAL 0xedb88320u

static uint32_t tables[8][256];
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static void make_tables(void) {
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit)
      crc = crc & 1 ? crc >> 1 ^ POLYNOMIAL : crc >> 1;
    tables[0][i] = crc;
  }
  for (uint32_t i = 0; i < 256; ++i)
    for (int k = 1; k < 8; ++k)
      tables[k][i] = tables[k - 1][i] >> 8 ^ tables[0][tables[k - 1][i] & 255];
}

uint32_t rt_crc32(uint32_t crc, const void *data, size_t size) {
  pthread_once(&tables_once, make_tables);
  const unsigned char *at = data;
  crc = ~crc;
  for (; size >= 8; size -= 8, at += 8) {
    uint32_t low, high;
    memcpy(&low, at, 4);
    memcpy(&high, at + 4, 4);
    low ^= crc;
    crc = tables[7][low & 255] ^ tables[6][low >> 8 & 255] ^
          tables[5][low >> 16 & 255] ^ tables[4][low >> 24] ^
          tables[3][high & 255] ^ tables[2][high >> 8 & 255] ^
          tables[1][high >> 16 & 255] ^ tables[0][high >> 24];
  }
  for (; size; --size, ++at)
    crc = crc >> 8 ^ tables[0][(crc ^ *at) & 255];
  return ~crc;
}
