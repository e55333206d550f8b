// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The elements of emulated matrix instructions.
#ifndef ADZE_TESTS_TARGET_CUDA_EMULATEDELEMENTS_H
#define ADZE_TESTS_TARGET_CUDA_EMULATEDELEMENTS_H

#include "EmulatedUnits.h"
#include "llvm/ADT/APFloat.h"
#include <cmath>
#include <cstring>

namespace adze::test {

inline bool isInteger(Element element) {
  return element == Element::s8 || element == Element::u8;
}

inline unsigned getBytes(Element element) {
  return element == Element::tf32                              ? 4
         : element == Element::f16 || element == Element::bf16 ? 2
                                                               : 1;
}

/// Returns element `i` at `data`.
inline double decodeElement(const void *data, unsigned i, Element element) {
  uint32_t bits = 0;
  unsigned bytes = getBytes(element);
  memcpy(&bits, static_cast<const char *>(data) + i * bytes, bytes);
  if (element == Element::s8)
    return int8_t(bits);
  if (element == Element::u8)
    return bits;
  const llvm::fltSemantics &semantics =
      element == Element::tf32  ? llvm::APFloat::IEEEsingle()
      : element == Element::f16 ? llvm::APFloat::IEEEhalf()
                                : llvm::APFloat::BFloat();
  return llvm::APFloat(semantics, llvm::APInt(bytes * 8, bits))
      .convertToDouble();
}

/// Adds to an accumulator in f32 or i32.
inline void addToSum(uint32_t &sum, double total, bool isInteger) {
  if (isInteger) {
    sum += uint32_t(int32_t(total));
    return;
  }
  float value;
  memcpy(&value, &sum, sizeof(value));
  value = float(value + total);
  memcpy(&sum, &value, sizeof(value));
}

} // namespace adze::test

#endif // ADZE_TESTS_TARGET_CUDA_EMULATEDELEMENTS_H
