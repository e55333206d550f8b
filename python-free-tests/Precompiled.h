// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Precompiled for tests that include nothing of LLVM: GoogleTest takes half of the
// compile time of such a file.
#include <gtest/gtest.h>
