// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Writes the note of the module given by its path, in place.

#include "Stamp.h"

#include <cstdio>

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s MODULE.so\n", argv[0]);
    return 2;
  }
  adze::test::Bytes file = adze::test::readFile(argv[1]);
  if (file.empty() || !adze::test::stamp(file)) {
    std::fprintf(stderr, "%s: no note to stamp\n", argv[1]);
    return 1;
  }
  adze::test::writeFile(argv[1], file);
  return 0;
}
