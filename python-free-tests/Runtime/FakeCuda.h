// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Queries of the fake CUDA driver.
#ifndef ADZE_TEST_FAKE_CUDA_H
#define ADZE_TEST_FAKE_CUDA_H

#include <cstdint>
#include <dlfcn.h>

namespace adze::test {

/// Returns a counter of the fake driver; -1 with the real one.
inline int64_t fakeCount(const char *name) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  auto *call =
      library ? reinterpret_cast<int64_t (*)()>(dlsym(library, name)) : nullptr;
  return call ? call() : -1;
}

/// Returns the host address of an address on a device of the fake driver;
/// `data` itself for other addresses.
inline const void *fakeStorage(const void *data) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  using Storage = const void *(*)(const void *);
  auto call =
      library ? reinterpret_cast<Storage>(dlsym(library, "fake_cuda_storage"))
              : nullptr;
  const void *storage = call ? call(data) : nullptr;
  return storage ? storage : data;
}

} // namespace adze::test

#endif // ADZE_TEST_FAKE_CUDA_H
