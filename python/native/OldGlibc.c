/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * What libstdc++ and LLVM take from glibc 2.36, so that the wheel runs with older
 * ones.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

__attribute__((visibility("hidden"))) uint32_t arc4random(void) {
  uint32_t value;
  while (getrandom(&value, sizeof(value), 0) != sizeof(value))
    ;
  return value;
}
