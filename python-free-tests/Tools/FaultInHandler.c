/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * A library for LD_PRELOAD: the crash handler crashes in its first step, which
 * sets its time limit.
 */
#include <signal.h>
#include <unistd.h>

unsigned alarm(unsigned seconds) {
  (void)seconds;
  raise(SIGSEGV);
  return 0;
}
