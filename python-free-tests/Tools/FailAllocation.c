/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * A library for LD_PRELOAD that makes allocation number ADZE_FAIL_ALLOCATION
 * since the beginning of main fail, in the program as well as in its libraries;
 * all later ones fail as well where ADZE_FAIL_LATER is set. Without the number
 * it writes how many allocations there were to the file ADZE_COUNT_ALLOCATIONS.
 *
 * ADZE_FAIL_EACH=FIRST:STEP:FOLDER makes allocations FIRST, FIRST + STEP, ..
 * fail, each in a child process that is forked there and goes on from there, up
 * to ADZE_FAIL_MOST of them where that is set.
 * A child has two minutes, writes to FOLDER/out, and makes ADZE_FAIL_OUTPUT, if
 * that is set: with status 0 the same as FOLDER/whole, else none. A line of
 * FOLDER/ends says how each one ended: its number, and "complete", "message" or
 * what was wrong; "not forked" where a child would lack threads, or share
 * the output that has begun.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The C library's internal names of the replaced functions. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *data, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static atomic_long counted;
static long fails_at;
static bool fails_later;

/* The variables of ADZE_FAIL_EACH. */
static long next_child, child_step, children_left;
static int ends = -1;
static char out_path[4096], whole_path[4096];
static const char *output;

static int (*real_main)(int, char **, char **);

/* Failures in constructors before main cannot be handled. */
static int begin(int argc, char **argv, char **environment) {
  const char *number = getenv("ADZE_FAIL_ALLOCATION");
  fails_later = getenv("ADZE_FAIL_LATER") != NULL;
  counted = 0;
  fails_at = number ? atol(number) : 0;
  const char *each = getenv("ADZE_FAIL_EACH");
  char folder[4000];
  if (each &&
      sscanf(each, "%ld:%ld:%3999s", &next_child, &child_step, folder) == 3) {
    char path[4096];
    snprintf(path, sizeof(path), "%s/ends", folder);
    snprintf(out_path, sizeof(out_path), "%s/out", folder);
    snprintf(whole_path, sizeof(whole_path), "%s/whole", folder);
    output = getenv("ADZE_FAIL_OUTPUT");
    const char *most = getenv("ADZE_FAIL_MOST");
    children_left = most ? atol(most) : LONG_MAX;
    ends = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    counted = 0;
  }
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

static bool has_size(const char *path) {
  struct stat found;
  return stat(path, &found) == 0 && found.st_size > 0;
}

static bool are_equal(const char *path, const char *other) {
  int fds[2] = {open(path, O_RDONLY), open(other, O_RDONLY)};
  bool equal = fds[0] >= 0 && fds[1] >= 0;
  for (ssize_t count = 1; equal && count > 0;) {
    char blocks[2][4096];
    count = read(fds[0], blocks[0], sizeof(blocks[0]));
    equal = count >= 0 && read(fds[1], blocks[1], sizeof(blocks[1])) == count &&
            memcmp(blocks[0], blocks[1], (size_t)count) == 0;
  }
  for (int i = 0; i < 2; ++i)
    if (fds[i] >= 0)
      close(fds[i]);
  return equal;
}

/* A forked child has only the thread that forks, and would wait for others
 * without end. */
static bool has_one_thread(void) {
  struct stat tasks;
  return stat("/proc/self/task", &tasks) != 0 || tasks.st_nlink == 3;
}

/* Returns true if a temporary file of the output exists: OUTPUT.tmp-... A child
 * would write, rename or remove the file that its parent writes. */
static bool has_begun(void) {
  char folder[4096];
  const char *slash = output ? strrchr(output, '/') : NULL;
  if (!slash || (size_t)(slash - output) >= sizeof(folder))
    return false;
  memcpy(folder, output, (size_t)(slash - output));
  folder[slash - output] = '\0';
  DIR *entries = opendir(slash == output ? "/" : folder);
  size_t length = strlen(slash + 1);
  bool found = false;
  for (struct dirent *entry; entries && !found && (entry = readdir(entries));)
    found = strncmp(entry->d_name, slash + 1, length) == 0 &&
            strncmp(entry->d_name + length, ".tmp-", 5) == 0;
  if (entries)
    closedir(entries);
  return found;
}

/* `was_made`: the output existed before the allocation. */
static const char *judge(int status, bool was_made) {
  bool made = output && access(output, F_OK) == 0;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    return !output || (made && are_equal(output, whole_path))
               ? "complete"
               : "another output";
  if (!WIFEXITED(status) ||
      (WEXITSTATUS(status) != 1 && WEXITSTATUS(status) != 70))
    return "a signal or another status";
  if (!has_size(out_path))
    return "no message";
  return made && !was_made ? "an output in spite of an error" : "message";
}

/* True in the child, in which the allocation fails. */
static bool fork_child(long number) {
  next_child = --children_left > 0 ? next_child + child_step : 0;
  if (!has_one_thread() || has_begun()) {
    dprintf(ends, "%ld not forked\n", number);
    return false;
  }
  int log = open(out_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  bool was_made = output && access(output, F_OK) == 0;
  pid_t child = fork();
  if (child == 0) {
    close(ends);
    ends = -1;
    next_child = 0;
    unsetenv("LD_PRELOAD"); /* programs that it starts when it crashes */
    dup2(log, 1);
    dup2(log, 2);
    alarm(120);
    return true;
  }
  close(log);
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  dprintf(ends, "%ld %s %#x\n", number,
          child < 0 ? "no process" : judge(status, was_made), (unsigned)status);
  if (output && !was_made)
    unlink(output);
  return false;
}

static bool fails(void) {
  static bool is_forking; /* allocations of the call do not count */
  if (is_forking)
    return false;
  long number = ++counted;
  if (ends >= 0 && number == next_child) {
    is_forking = true;
    bool is_child = fork_child(number);
    is_forking = false;
    if (is_child)
      errno = ENOMEM;
    return is_child;
  }
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
