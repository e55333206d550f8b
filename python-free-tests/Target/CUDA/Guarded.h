// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Memory of arguments of emulated kernels.
#ifndef ADZE_TESTS_TARGET_CUDA_GUARDED_H
#define ADZE_TESTS_TARGET_CUDA_GUARDED_H

#include <cstddef>
#include <sys/mman.h>

namespace adze::test {

/// Bytes between two pages that fault.
class Guarded {
public:
  Guarded(size_t bytes, bool atEnd) : bytes(bytes) {
    size_t pages = (bytes + kPage - 1) / kPage + 1;
    all = (pages + 1) * kPage;
    base = static_cast<char *>(
        mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base + kPage, all - 2 * kPage, PROT_READ | PROT_WRITE);
    data = atEnd ? base + all - kPage - bytes : base + kPage;
  }
  Guarded(Guarded &&o)
      : bytes(o.bytes), all(o.all), base(o.base), data(o.data) {
    o.base = nullptr;
  }
  ~Guarded() {
    if (base)
      munmap(base, all);
  }
  static constexpr size_t kPage = 4096;
  size_t bytes, all;
  char *base, *data;
};

} // namespace adze::test

#endif // ADZE_TESTS_TARGET_CUDA_GUARDED_H
