// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Whether two results of one computation are the same.
#ifndef ADZE_TESTS_PROPERTY_JUDGE_H
#define ADZE_TESTS_PROPERTY_JUDGE_H

#include "Tensor.h"
#include <vector>

namespace property {

using adze::run::Error;
using adze::run::Tensor;

/// How far two results of one tensor are from what f64 arithmetic gives, over
/// one or more runs.
struct Distance {
  double reference = 0; // of the reference path
  double other = 0;
  double ulp = 0;   // of the range
  double noise = 0; // what a rounding after each op comes to (docs/accuracy.md)

  /// The error is at most 4 times the reference path's own, or what it would be
  /// with less luck, and 4 ulp of the range more.
  bool isWithin() const { return other <= 4 * (reference + noise) + 4 * ulp; }
  void add(const Distance &run) {
    reference += run.reference;
    other += run.other;
    ulp += run.ulp;
    noise += run.noise;
  }
};

/// Compares types, shapes, integers, bools and the places of NaNs and
/// infinities, all of which have to be equal; what is told is wrong whatever
/// the numbers. `exact` is the result in f64 (for floats only). Adds to
/// `distance`, which says whether finite numbers are near enough.
Error compareResults(const Tensor &reference, const Tensor &other,
                     const Tensor &exact, Distance &distance);

/// The greatest difference of two results, and what roundings come to by it:
/// how far results are off with noise of one size and of a 16th of it. Where
/// one is not 16 times the other the results are not in proportion to the noise
/// (some number was rounded to an integer, or compared), and tell nothing: 0.
double getDifference(const Tensor &lhs, const Tensor &rhs);
double getNoise(double withNoise, double withSixteenth);

/// Whether results are equal but for differences of at most 4 ulp of the range
/// of each: then their distances are within whatever f64 arithmetic gives.
bool areNear(const std::vector<Tensor> &reference,
             const std::vector<Tensor> &other);

} // namespace property

#endif // ADZE_TESTS_PROPERTY_JUDGE_H
