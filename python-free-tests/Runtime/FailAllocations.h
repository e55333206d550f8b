/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Makes a selected allocation of the program's own objects fail. The link
 * option --wrap redirects their calls of the C library to FailAllocations.c.
 */
#ifndef ADZE_TEST_RUNTIME_FAIL_ALLOCATIONS_H
#define ADZE_TEST_RUNTIME_FAIL_ALLOCATIONS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Allocation number `at` from now on fails, counted from 1; all later ones fail
 * as well if `also_later`. */
void fail_allocations(long at, bool also_later);
/* Ends the failures. Returns how many allocations failed. */
long fail_no_more(void);
/* Returns the number of allocations since fail_allocations. */
long fail_counted(void);

#ifdef __cplusplus
}
#endif
#endif /* ADZE_TEST_RUNTIME_FAIL_ALLOCATIONS_H */
