/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * A library for LD_PRELOAD that makes allocation number ADZE_FAIL_ALLOCATION
 * since the beginning of main fail, in the program as well as in its libraries;
 * all later ones fail as well where ADZE_FAIL_LATER is set. Without the number
 * it writes how many allocations there were to the file ADZE_COUNT_ALLOCATIONS.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The C library's own names of what is replaced here. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *data, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static atomic_long counted;
static long fails_at;
static bool fails_later;

static int (*real_main)(int, char **, char **);

/* Nothing can handle a failure in the constructors before main. */
static int begin(int argc, char **argv, char **environment) {
  const char *number = getenv("ADZE_FAIL_ALLOCATION");
  fails_later = getenv("ADZE_FAIL_LATER") != NULL;
  counted = 0;
  fails_at = number ? atol(number) : 0;
  return real_main(argc, argv, environment);
}

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv,
                      void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end);
int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv,
                      void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end) {
  int (*start)(int (*)(int, char **, char **), int, char **, void (*)(void),
               void (*)(void), void (*)(void), void *);
  void *found = dlsym(RTLD_NEXT, "__libc_start_main");
  memcpy(&start, &found, sizeof(start));
  real_main = main;
  return start(begin, argc, argv, init, fini, rtld_fini, stack_end);
}

__attribute__((destructor)) static void end(void) {
  const char *path = getenv("ADZE_COUNT_ALLOCATIONS");
  int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644) : -1;
  if (fd < 0)
    return;
  char text[24];
  size_t at = sizeof(text);
  text[--at] = '\n';
  for (long rest = counted; rest || at == sizeof(text) - 1; rest /= 10)
    text[--at] = (char)('0' + rest % 10);
  if (write(fd, text + at, sizeof(text) - at) < 0)
    _exit(99);
  close(fd);
}

static bool fails(void) {
  long number = ++counted;
  if (!fails_at || (fails_later ? number < fails_at : number != fails_at))
    return false;
  errno = ENOMEM;
  return true;
}

void *malloc(size_t bytes) { return fails() ? NULL : __libc_malloc(bytes); }
void *calloc(size_t count, size_t bytes) {
  return fails() ? NULL : __libc_calloc(count, bytes);
}
void *realloc(void *data, size_t bytes) {
  return fails() ? NULL : __libc_realloc(data, bytes);
}
void *aligned_alloc(size_t alignment, size_t bytes) {
  return fails() ? NULL : __libc_memalign(alignment, bytes);
}
int posix_memalign(void **data, size_t alignment, size_t bytes) {
  void *made = fails() ? NULL : __libc_memalign(alignment, bytes);
  if (!made)
    return ENOMEM;
  *data = made;
  return 0;
}
