// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The library's entry points: the factory by which ONNX Runtime creates
// providers.
#include "AdzeCommit.h"
#include "Context.h"
#include "Provider.h"

namespace adze::ep {
namespace {

/// A factory, one for each registration.
struct Factory : OrtEpFactory {
  explicit Factory(const Api &api) : OrtEpFactory{}, api(api) {
    ort_version_supported = kStructVersion;
    GetName = [](const OrtEpFactory *) { return kName; };
    GetVendor = [](const OrtEpFactory *) { return "Adze"; };
    GetVendorId = [](const OrtEpFactory *) -> uint32_t { return 0; };
    GetVersion = [](const OrtEpFactory *) { return ADZE_VERSION; };
    GetSupportedDevices = findDevices;
    CreateEp = createProvider;
    ReleaseEp = [](OrtEpFactory *, OrtEp *provider) {
      delete static_cast<Provider *>(provider);
    };
    ValidateCompiledModelCompatibilityInfo =
        [](OrtEpFactory *, const OrtHardwareDevice *const *, size_t,
           const char *info, OrtCompiledModelCompatibility *result) {
          *result = checkCompatibility(info);
          return static_cast<OrtStatus *>(nullptr);
        };
    // ONNX Runtime calls this function without a null check.
    CreateDataTransfer = [](OrtEpFactory *, void **transfer) {
      *transfer = nullptr; // tensors are in the CPU's memory
      return static_cast<OrtStatus *>(nullptr);
    };
    IsStreamAware = [](const OrtEpFactory *) { return false; };
  }

  static OrtStatus *findDevices(OrtEpFactory *self,
                                const OrtHardwareDevice *const *devices,
                                size_t count, OrtEpDevice **found,
                                size_t capacity, size_t *numFound) {
    const Api &api = static_cast<Factory *>(self)->api;
    return guarded(api, [&] {
      *numFound = 0;
      for (size_t i = 0; i < count && *numFound < capacity; ++i) {
        if (api.ort.HardwareDevice_Type(devices[i]) !=
            OrtHardwareDeviceType_CPU)
          continue;
        check(api, api.ep.CreateEpDevice(self, devices[i], nullptr, nullptr,
                                         &found[*numFound]));
        ++*numFound;
      }
    });
  }

  static OrtStatus *createProvider(OrtEpFactory *self,
                                   const OrtHardwareDevice *const *,
                                   const OrtKeyValuePairs *const *, size_t,
                                   const OrtSessionOptions *session,
                                   const OrtLogger *logger, OrtEp **provider) {
    const Api &api = static_cast<Factory *>(self)->api;
    return guarded(api,
                   [&] { *provider = new Provider(api, session, logger); });
  }

  Api api;
};

} // namespace
} // namespace adze::ep

#define ADZE_EP_EXPORT extern "C" __attribute__((visibility("default")))

ADZE_EP_EXPORT OrtStatus *
CreateEpFactories(const char *, const OrtApiBase *base, const OrtLogger *,
                  OrtEpFactory **factories, size_t capacity, size_t *count) {
  using namespace adze::ep;
  *count = 0;
  Api api;
  std::string problem = loadApi(*base, api);
  if (problem.empty() && !capacity)
    problem = "expected capacity for a factory, but got none";
  if (!problem.empty()) // without a table no status can be created
    return api.ort.CreateStatus
               ? makeStatus(api, ORT_NOT_IMPLEMENTED, problem.c_str())
               : nullptr;
  return guarded(api, [&] {
    factories[0] = new Factory(api);
    *count = 1;
  });
}

ADZE_EP_EXPORT OrtStatus *ReleaseEpFactory(OrtEpFactory *factory) {
  delete static_cast<adze::ep::Factory *>(factory);
  return nullptr;
}
