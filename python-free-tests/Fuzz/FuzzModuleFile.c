/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * libFuzzer target: any bytes as a module's file, up to where it would be given
 * to dlopen. A file that the checks refuse is refused by
 * adze_module_open_memory as well; one that they pass is not loaded, for it may
 * be anything.
 */
#include "Runtime.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int fd = memfd_create("module.so", MFD_CLOEXEC);
  if (fd < 0 || write(fd, data, size) != (ssize_t)size)
    abort();
  /* The checksum would refuse nearly all that the fuzzer makes, so what lies
   * behind it is reached without. */
  adze_code code = ADZE_OK;
  for (int verify = 0; verify < 2; ++verify) {
    adze_module_note note;
    adze_status status = rt_check_module_file(fd, "module.so", verify, &note);
    if (status && !*adze_status_message(status))
      abort(); /* a refusal has a reason */
    code = adze_status_code(status);
    adze_status_free(status);
  }
  if (code) {
    adze_module *module;
    adze_status status = adze_module_open_memory(data, size, NULL, &module);
    if (adze_status_code(status) != code)
      abort();
    adze_status_free(status);
  }
  adze_module_weights_note weights;
  bool found;
  adze_status_free(rt_read_weights_note(fd, "module.so", &weights, &found));
  close(fd);
  return 0;
}
