// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Checks many seeds in few processes.
#ifndef ADZE_TESTS_PROPERTY_SWEEP_H
#define ADZE_TESTS_PROPERTY_SWEEP_H

#include "Check.h"

namespace property {

/// Runs check(seed, folder) for each of the seeds by conformance::forEach. The
/// seed that ends a process or takes too long is reported as failed.
conformance::Error
sweep(uint64_t first, size_t count, unsigned jobs,
      const std::function<Finding(uint64_t, const std::string &)> &check,
      const std::function<void(uint64_t, const Finding &)> &done);

} // namespace property

#endif // ADZE_TESTS_PROPERTY_SWEEP_H
