// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Types of values as in the tables of modules, for several tests.
#ifndef ADZE_TEST_RUNTIME_VALUE_TYPES_H
#define ADZE_TEST_RUNTIME_VALUE_TYPES_H

#include "adze.h"
#include "adze_module.h"

namespace adze::test {

constexpr int64_t kString = ADZE_VALUE_TYPE(kDLInt, 64, ADZE_STRINGS);
constexpr int64_t kSequence = ADZE_VALUE_TYPE(kDLInt, 64, ADZE_SEQUENCE);
constexpr int64_t kFloat = ADZE_VALUE_TYPE(kDLFloat, 32, ADZE_TENSOR);
constexpr int64_t kInt = ADZE_VALUE_TYPE(kDLInt, 64, ADZE_TENSOR);

} // namespace adze::test

#endif // ADZE_TEST_RUNTIME_VALUE_TYPES_H
