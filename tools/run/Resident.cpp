// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Runs whose tensors stay on a CUDA device. The driver is loaded by dlopen, as
// in the run time, so that the build needs no toolkit.

#include "Resident.h"

#include <dlfcn.h>

namespace adze::run {

/// The functions and objects of the driver. A function returns 0 on success.
struct Resident::Driver {
  using Handle = void *;
  using Address = uint64_t;

  int (*init)(unsigned);
  int (*getErrorString)(int, const char **);
  int (*getDevice)(int *, int);
  int (*retainContext)(Handle *, int);
  int (*releaseContext)(int);
  int (*pushContext)(Handle);
  int (*popContext)(Handle *);
  int (*allocate)(Address *, size_t);
  int (*free)(Address);
  int (*copy)(Address, Address, size_t, Handle);
  int (*createStream)(Handle *, unsigned);
  int (*destroyStream)(Handle);
  int (*wait)(Handle);
  int (*createEvent)(Handle *, unsigned);
  int (*destroyEvent)(Handle);
  int (*record)(Handle, Handle);
  int (*waitForEvent)(Handle);
  int (*getElapsed)(float *, Handle, Handle);

  void *library = nullptr;
  int device = 0;
  Handle context = nullptr, stream = nullptr, begin = nullptr, end = nullptr;
  std::vector<Address> memory;

  ~Driver();
  Error load();
  Error open(int ordinal);
  Error check(int result, const char *what) const;
};

Error Resident::Driver::check(int result, const char *what) const {
  const char *text = nullptr;
  if (!result)
    return {};
  if (getErrorString(result, &text) || !text)
    text = "unknown error";
  return std::string("CUDA driver: ") + what + ": " + text;
}

Error Resident::Driver::load() {
  library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return std::string("no CUDA driver was found (") + dlerror() + ")";
  const std::pair<void *, const char *> symbols[] = {
      {&init, "cuInit"},
      {&getErrorString, "cuGetErrorString"},
      {&getDevice, "cuDeviceGet"},
      {&retainContext, "cuDevicePrimaryCtxRetain"},
      {&releaseContext, "cuDevicePrimaryCtxRelease_v2"},
      {&pushContext, "cuCtxPushCurrent_v2"},
      {&popContext, "cuCtxPopCurrent_v2"},
      {&allocate, "cuMemAlloc_v2"},
      {&free, "cuMemFree_v2"},
      {&copy, "cuMemcpyAsync"},
      {&createStream, "cuStreamCreate"},
      {&destroyStream, "cuStreamDestroy_v2"},
      {&wait, "cuStreamSynchronize"},
      {&createEvent, "cuEventCreate"},
      {&destroyEvent, "cuEventDestroy_v2"},
      {&record, "cuEventRecord"},
      {&waitForEvent, "cuEventSynchronize"},
      {&getElapsed, "cuEventElapsedTime"}};
  for (auto [place, name] : symbols) {
    void *symbol = dlsym(library, name);
    if (!symbol)
      return std::string("the CUDA driver has no ") + name;
    *static_cast<void **>(place) = symbol;
  }
  return {};
}

Error Resident::Driver::open(int ordinal) {
  RUN_TRY(load());
  RUN_TRY(check(init(0), "cuInit"));
  RUN_TRY(check(getDevice(&device, ordinal), "cuDeviceGet"));
  RUN_TRY(check(retainContext(&context, device), "cuDevicePrimaryCtxRetain"));
  RUN_TRY(check(pushContext(context), "cuCtxPushCurrent"));
  constexpr unsigned nonBlocking = 1;
  RUN_TRY(check(createStream(&stream, nonBlocking), "cuStreamCreate"));
  RUN_TRY(check(createEvent(&begin, 0), "cuEventCreate"));
  return check(createEvent(&end, 0), "cuEventCreate");
}

Resident::Driver::~Driver() {
  for (Address address : memory)
    free(address);
  for (Handle event : {begin, end})
    if (event)
      destroyEvent(event);
  if (stream)
    destroyStream(stream);
  if (context) {
    popContext(&context);
    releaseContext(device);
  }
  if (library)
    dlclose(library);
}

Resident::Resident() : driver(std::make_unique<Driver>()) {}
Resident::~Resident() = default;

Error Resident::place(const std::vector<DLTensor> &tensors, bool copies,
                      std::vector<DLTensor> &placed) {
  for (DLTensor tensor : tensors) {
    size_t bytes = (static_cast<size_t>(tensor.dtype.bits) + 7) / 8;
    for (int32_t d = 0; d < tensor.ndim; ++d)
      bytes *= static_cast<size_t>(tensor.shape[d]);
    Driver::Address address = 0;
    RUN_TRY(driver->check(driver->allocate(&address, bytes ? bytes : 1),
                          "cuMemAlloc"));
    driver->memory.push_back(address);
    auto source = reinterpret_cast<Driver::Address>(
        static_cast<char *>(tensor.data) + tensor.byte_offset);
    if (copies && bytes)
      RUN_TRY(
          driver->check(driver->copy(address, source, bytes, driver->stream),
                        "cuMemcpyAsync"));
    tensor.data = reinterpret_cast<void *>(address);
    tensor.byte_offset = 0;
    tensor.device = {kDLCUDA, ordinal};
    placed.push_back(tensor);
  }
  return {};
}

Error Resident::create(int32_t number, const std::vector<DLTensor> &in,
                       const std::vector<DLTensor> &out) {
  ordinal = number;
  RUN_TRY(driver->open(ordinal));
  RUN_TRY(place(in, /*copies=*/true, inputs));
  RUN_TRY(place(out, /*copies=*/false, outputs));
  return driver->check(driver->wait(driver->stream), "cuStreamSynchronize");
}

Error Resident::run(adze_context *context, double &ms) {
  std::vector<const DLTensor *> in;
  std::vector<DLTensor *> out;
  for (const DLTensor &tensor : inputs)
    in.push_back(&tensor);
  for (DLTensor &tensor : outputs)
    out.push_back(&tensor);
  RUN_TRY(driver->check(driver->record(driver->begin, driver->stream),
                        "cuEventRecord"));
  RUN_TRY(take(adze_run_async(
      context, in.data(), static_cast<int32_t>(in.size()), out.data(),
      static_cast<int32_t>(out.size()), driver->stream)));
  RUN_TRY(driver->check(driver->record(driver->end, driver->stream),
                        "cuEventRecord"));
  float elapsed = 0;
  Error error =
      driver->check(driver->waitForEvent(driver->end), "cuEventSynchronize");
  if (error.empty())
    error =
        driver->check(driver->getElapsed(&elapsed, driver->begin, driver->end),
                      "cuEventElapsedTime");
  ms = elapsed;
  return error;
}

} // namespace adze::run
