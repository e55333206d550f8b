/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Loads the CUDA driver at run time.
 * */
#include "CudaDriver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static cu_driver driver;
static bool loaded;
static char load_error[256];
static pthread_once_t load_once = PTHREAD_ONCE_INIT;

static bool find(void *library, const char *symbol, void *function) {
  void *address = dlsym(library, symbol);
  if (!address) {
    snprintf(load_error, sizeof(load_error), "the driver has no '%s'", symbol);
    return false;
  }
  memcpy(function, &address, sizeof(address));
  return true;
}

static void find_newer(void *library, const char *symbol, void *function) {
  void *address = dlsym(library, symbol);
  memcpy(function, &address, sizeof(address));
}

static void load(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *reason = dlerror();
    snprintf(load_error, sizeof(load_error), "%s", reason ? reason : "");
    return;
  }
#define X(name, symbol, parameters)                                            \
  if (!find(library, symbol, &driver.name))                                    \
    return;
  CU_FUNCTIONS(X)
#undef X
#define X(name, symbol, parameters) find_newer(library, symbol, &driver.name);
  CU_NEWER_FUNCTIONS(X)
#undef X
  int version = 0;
  if (driver.driver_version && !driver.driver_version(&version))
    driver.overlaps = version >= CU_VERSION_OVERLAPS;
  cu_result result = driver.init(0);
  if (result) {
    const char *name = NULL;
    driver.error_name(result, &name);
    snprintf(load_error, sizeof(load_error), "cuInit: %s",
             name ? name : "unknown error");
    return;
  }
  loaded = true;
}

const cu_driver *rt_cuda_driver(const char **reason) {
  pthread_once(&load_once, load);
  *reason = load_error;
  return loaded ? &driver : NULL;
}

adze_status rt_cuda_error(const cu_driver *cu, cu_result result,
                          const char *what) {
  enum { CU_OUT_OF_MEMORY = 2 };
  const char *name = NULL, *text = NULL;
  cu->error_name(result, &name);
  cu->error_string(result, &text);
  return rt_error(result == CU_OUT_OF_MEMORY ? ADZE_OUT_OF_MEMORY
                                             : ADZE_DEVICE_ERROR,
                  "CUDA driver: %s: %s (%s)", what, name ? name : "?",
                  text ? text : "unknown error");
}
