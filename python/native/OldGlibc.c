/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Functions of glibc 2.36 that libstdc++ and LLVM use, so that the wheel runs
 * with older versions.
 * */
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

__attribute__((visibility("hidden"))) uint32_t arc4random(void) {
  uint32_t value;
  while (getrandom(&value, sizeof(value), 0) != sizeof(value))
    ;
  return value;
}
