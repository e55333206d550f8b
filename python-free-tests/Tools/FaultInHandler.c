/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * A library for LD_PRELOAD: the handler of a crash crashes at its first step,
 * which is to limit its time.
 */
#include <signal.h>
#include <unistd.h>

unsigned alarm(unsigned seconds) {
  (void)seconds;
  raise(SIGSEGV);
  return 0;
}
