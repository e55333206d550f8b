/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Ends with status 1 and no message when its allocation fails: a failure that
 * check-allocations.sh must detect.
 */
#include <stdlib.h>

int main(void) {
  char *volatile data = malloc(8);
  int status = data ? 0 : 1;
  free(data);
  return status;
}
