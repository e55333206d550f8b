// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Instructions of warps.
#include "EmulatedUnits.h"
#include "EmulatedCluster.h"
#include "EmulatedElements.h"
#include <cstring>

namespace adze::test {

static constexpr unsigned kLanes = 32, kRows = 8;

/// Calls `combine` with the operands of all lanes when these have arrived.
template <typename Operands>
static void
meetWarp(const char *kind, Operands &mine,
         llvm::function_ref<void(llvm::ArrayRef<Operands *>)> combine) {
  cluster->meet<Operands>(kind, cluster->getGroup(kLanes),
                          cluster->getWarpThreads(), mine, combine);
}

namespace {
struct Exchanged {
  uint32_t value, lane, got;
};
} // namespace

static uint32_t exchange(uint32_t value, uint32_t lane) {
  Exchanged mine{value, lane, 0};
  meetWarp<Exchanged>("shuffle", mine, [](llvm::ArrayRef<Exchanged *> lanes) {
    for (Exchanged *own : lanes)
      own->got = lanes[own->lane]->value;
  });
  return mine.got;
}

uint32_t shuffle(uint32_t value, uint32_t mask) {
  return exchange(value, cluster->getThread() % kLanes ^ mask);
}

uint32_t broadcast(uint32_t value, uint32_t lane) {
  return exchange(value, lane);
}

uint32_t voteAll(uint32_t value) {
  meetWarp<uint32_t>("vote", value, [](llvm::ArrayRef<uint32_t *> lanes) {
    bool all = llvm::all_of(lanes, [](uint32_t *own) { return *own != 0; });
    for (uint32_t *own : lanes)
      *own = all;
  });
  return value;
}

namespace {
struct MatrixRows {
  char *row;
  uint32_t *words;
};
} // namespace

/// Calls `visit` with each pair of adjacent elements of a lane: its word, and
/// the places of both elements.
static void
forEachPair(llvm::ArrayRef<MatrixRows *> lanes, uint32_t count, bool transposed,
            llvm::function_ref<void(uint32_t &, char *, char *)> visit) {
  for (unsigned lane = 0; lane < lanes.size(); ++lane)
    for (uint32_t i = 0; i < count; ++i) {
      char *places[2];
      for (unsigned j = 0; j < 2; ++j) {
        unsigned pair = lane % 4 * 2 + j, other = lane / 4;
        unsigned y = transposed ? pair : other, x = transposed ? other : pair;
        places[j] = lanes[i * kRows + y]->row + x * sizeof(uint16_t);
      }
      visit(lanes[lane]->words[i], places[0], places[1]);
    }
}

void loadMatrices(const char *row, uint32_t count, uint32_t transposed,
                  uint32_t *out) {
  MatrixRows mine{const_cast<char *>(row), out};
  meetWarp<MatrixRows>("ldmatrix", mine,
                       [&](llvm::ArrayRef<MatrixRows *> lanes) {
                         forEachPair(lanes, count, transposed,
                                     [](uint32_t &word, char *low, char *high) {
                                       uint16_t pair[2];
                                       memcpy(&pair[0], low, sizeof(uint16_t));
                                       memcpy(&pair[1], high, sizeof(uint16_t));
                                       memcpy(&word, pair, sizeof(word));
                                     });
                       });
}

void storeMatrices(char *row, const uint32_t *words) {
  constexpr int64_t rowBytes = 16;
  MatrixRows mine{row, const_cast<uint32_t *>(words)};
  meetWarp<MatrixRows>("stmatrix", mine,
                       [&](llvm::ArrayRef<MatrixRows *> lanes) {
                         forEachPair(lanes, 4, /*transposed=*/false,
                                     [](uint32_t &word, char *low, char *high) {
                                       uint16_t pair[2];
                                       memcpy(pair, &word, sizeof(word));
                                       memcpy(low, &pair[0], sizeof(uint16_t));
                                       memcpy(high, &pair[1], sizeof(uint16_t));
                                     });
                       });
  cluster->self().written.push_back({row, row + rowBytes});
}

uint32_t roundToTF32(float value) {
  constexpr uint32_t dropped = (1 << 13) - 1;
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return std::isfinite(value) ? (bits + (dropped + 1) / 2) & ~dropped : bits;
}

namespace {
struct MatrixWords {
  uint32_t *words;
};
} // namespace

/// Computes the four sums of a lane from the operands of the warp, which have
/// this many parts along the depth.
static void multiplyLane(llvm::ArrayRef<MatrixWords *> lanes, unsigned lane,
                         Element lhs, Element rhs, unsigned parts) {
  for (unsigned i = 0; i < 4; ++i) {
    unsigned row = lane / 4, high = i / 2, column = lane % 4 * 2 + i % 2;
    double total = 0;
    // Four lanes have a row of a or a column of b: a word each of a part.
    for (unsigned part = 0; part < parts; ++part)
      for (unsigned holder = 0; holder < 4; ++holder) {
        const uint32_t &a = lanes[row * 4 + holder]->words[high + 2 * part],
                       &b = lanes[column * 4 + holder]->words[2 * parts + part];
        for (unsigned j = 0; j < sizeof(uint32_t) / getBytes(lhs); ++j)
          total += decodeElement(&a, j, lhs) * decodeElement(&b, j, rhs);
      }
    addToSum(lanes[lane]->words[3 * parts + i], total, isInteger(lhs));
  }
}

void multiplyMatrices(Element lhs, Element rhs, uint32_t parts,
                      uint32_t *words) {
  MatrixWords mine{words};
  meetWarp<MatrixWords>("mma", mine, [&](llvm::ArrayRef<MatrixWords *> lanes) {
    for (unsigned lane = 0; lane < kLanes; ++lane)
      multiplyLane(lanes, lane, lhs, rhs, parts);
  });
}

} // namespace adze::test
