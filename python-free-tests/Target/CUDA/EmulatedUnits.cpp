// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Matrix instructions of the emulator.
#include "EmulatedUnits.h"
#include "llvm/ADT/APFloat.h"
#include <algorithm>
#include <cmath>
#include <cstring>

namespace adze::test {

static constexpr unsigned kLanes = 32, kRows = 8;

void loadMatrices(const char *row, uint32_t count, uint32_t transposed,
                  uint32_t *out) {
  unsigned self = block->current, lane = self % kLanes, warp = self - lane;
  Block::Thread &me = block->threads[self];
  unsigned slot = me.meetings & 1;
  me.row[slot] = row;
  meet("ldmatrix");
  unsigned first = lane % 4 * 2, other = lane / 4;
  for (uint32_t i = 0; i < count; ++i) {
    uint16_t pair[2];
    for (unsigned j = 0; j < 2; ++j) {
      unsigned y = transposed ? first + j : other,
               x = transposed ? other : first + j;
      memcpy(&pair[j],
             block->threads[warp + i * kRows + y].row[slot] +
                 x * sizeof(pair[j]),
             sizeof(pair[j]));
    }
    memcpy(&out[i], pair, sizeof(pair));
  }
}

/// Returns the number of elements of a word.
static unsigned countInWord(Element element) {
  return element == Element::tf32                              ? 1
         : element == Element::f16 || element == Element::bf16 ? 2
                                                               : 4;
}

static double decode(uint32_t word, unsigned i, Element element) {
  unsigned bits = 32 / countInWord(element);
  uint32_t part = word >> (i * bits);
  switch (element) {
  case Element::tf32: {
    float value;
    memcpy(&value, &word, sizeof(value));
    return value;
  }
  case Element::s8:
    return int8_t(part);
  case Element::u8:
    return uint8_t(part);
  default:
    return llvm::APFloat(element == Element::bf16 ? llvm::APFloat::BFloat()
                                                  : llvm::APFloat::IEEEhalf(),
                         llvm::APInt(bits, part & 0xffff))
        .convertToDouble();
  }
}

uint32_t roundToTF32(float value) {
  constexpr uint32_t dropped = (1 << 13) - 1;
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return std::isfinite(value) ? (bits + (dropped + 1) / 2) & ~dropped : bits;
}

void multiplyMatrices(Element lhs, Element rhs, uint32_t *words) {
  unsigned self = block->current, lane = self % kLanes, warp = self - lane;
  Block::Thread &me = block->threads[self];
  unsigned slot = me.meetings & 1;
  std::copy_n(words, me.operands[slot].size(), me.operands[slot].begin());
  meet("mma");
  bool isInteger = lhs == Element::s8 || lhs == Element::u8;
  for (unsigned i = 0; i < 4; ++i) {
    unsigned row = lane / 4, high = i / 2, column = lane % 4 * 2 + i % 2;
    double total = 0;
    // Four lanes have a row of a or a column of b: a word each of two parts.
    for (unsigned part = 0; part < 2; ++part)
      for (unsigned holder = 0; holder < 4; ++holder) {
        uint32_t a = block->threads[warp + row * 4 + holder]
                         .operands[slot][high + 2 * part],
                 b = block->threads[warp + column * 4 + holder]
                         .operands[slot][4 + part];
        for (unsigned j = 0; j < countInWord(lhs); ++j)
          total += decode(a, j, lhs) * decode(b, j, rhs);
      }
    uint32_t &sum = words[6 + i];
    if (isInteger) {
      sum += uint32_t(int32_t(total));
      continue;
    }
    float before;
    memcpy(&before, &sum, sizeof(before));
    before = float(before + total);
    memcpy(&sum, &before, sizeof(sum));
  }
}

} // namespace adze::test
