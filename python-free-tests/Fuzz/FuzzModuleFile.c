/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * libFuzzer target: arbitrary bytes as the file of a module, up to where it
 * would be passed to dlopen. adze_module_open_memory must reject each file that
 * the checks reject; a file that passes them is not loaded, as its contents are
 * arbitrary.
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
  /* The checksum would reject nearly all mutations, so later checks are called
   * without it. */
  adze_code code = ADZE_OK;
  for (int verify = 0; verify < 2; ++verify) {
    adze_module_note note;
    adze_status status = rt_check_module_file(fd, "module.so", verify, &note);
    if (status && !*adze_status_message(status))
      abort(); /* a rejection has a reason */
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
