/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Statuses: a code and a message on the heap. Out of memory has a static
 * status, so it needs no allocation.
 * */
#include "Runtime.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct adze_status_object {
  adze_code code;
  char message[];
};

static const struct {
  adze_code code;
  char message[16];
} no_memory = {ADZE_OUT_OF_MEMORY, "out of memory"};

static adze_status static_out_of_memory(void) {
  return (adze_status)(uintptr_t)&no_memory;
}

adze_status rt_error(adze_code code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  size_t size = length < 0 ? 1 : (size_t)length + 1;
  adze_status status = malloc(sizeof(*status) + size);
  if (status) {
    status->code = code;
    status->message[0] = 0;
    vsnprintf(status->message, size, format, again);
  } else {
    status = static_out_of_memory();
  }
  va_end(again);
  return status;
}

adze_status rt_out_of_memory(uint64_t bytes) {
  return rt_error(ADZE_OUT_OF_MEMORY, "out of memory: no %llu bytes",
                  (unsigned long long)bytes);
}

adze_code rt_errno_code(int error) {
  return error == ENOMEM ? ADZE_OUT_OF_MEMORY : ADZE_IO_ERROR;
}

adze_status adze_status_create(adze_code code, const char *message) {
  return rt_error(code, "%s", message ? message : "");
}

adze_code adze_status_code(adze_status status) {
  return status ? status->code : ADZE_OK;
}

const char *adze_status_message(adze_status status) {
  return status ? status->message : "";
}

void adze_status_free(adze_status status) {
  if (status != static_out_of_memory())
    free(status);
}

uint32_t adze_abi_version(void) { return ADZE_MODULE_ABI; }
