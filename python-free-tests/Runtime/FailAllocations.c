/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * The allocation functions of the C library, with failures on request.
 */
#include "FailAllocations.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

static atomic_bool armed, later;
static atomic_long fails_at, counted, failed;

void fail_allocations(long at, bool also_later) {
  fails_at = at;
  later = also_later;
  counted = failed = 0;
  armed = true;
}

long fail_no_more(void) {
  armed = false;
  return failed;
}

long fail_counted(void) { return counted; }

/* Counts one allocation; returns true if it must fail. */
static bool fail_this_allocation(void) {
  if (!armed)
    return false;
  long number = ++counted;
  if (number != fails_at && !(later && number > fails_at))
    return false;
  ++failed;
  errno = ENOMEM;
  return true;
}

#define WRAP(type, name, parameters, arguments, failure)                       \
  type __real_##name parameters;                                               \
  type __wrap_##name parameters;                                               \
  type __wrap_##name parameters {                                              \
    return fail_this_allocation() ? (failure) : __real_##name arguments;       \
  }

WRAP(void *, malloc, (size_t bytes), (bytes), NULL)
WRAP(void *, calloc, (size_t count, size_t bytes), (count, bytes), NULL)
WRAP(void *, realloc, (void *data, size_t bytes), (data, bytes), NULL)
WRAP(int, posix_memalign, (void **data, size_t alignment, size_t bytes),
     (data, alignment, bytes), ENOMEM)
WRAP(char *, strdup, (const char *text), (text), NULL)
WRAP(char *, realpath, (const char *path, char *resolved), (path, resolved),
     NULL)
WRAP(int, memfd_create, (const char *name, unsigned flags), (name, flags), -1)
WRAP(void *, mmap,
     (void *at, size_t bytes, int protection, int flags, int fd, off_t offset),
     (at, bytes, protection, flags, fd, offset), MAP_FAILED)
WRAP(int, pthread_create,
     (pthread_t * thread, const pthread_attr_t *attributes,
      void *(*run)(void *), void *data),
     (thread, attributes, run, data), EAGAIN)
