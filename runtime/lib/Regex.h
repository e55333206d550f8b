/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Regular expressions in RE2's syntax, without flags, back references and
 * Unicode classes. What is asked is only whether all of a text matches, so
 * greediness has no meaning. Time is linear in the text.
 */
#ifndef ADZE_REGEX_H
#define ADZE_REGEX_H

#include "Runtime.h"

typedef struct rt_regex rt_regex;

adze_status rt_regex_compile(const char *pattern, size_t length,
                             rt_regex **regex);
void rt_regex_free(rt_regex *regex);
/* `regex` has room for one match at a time. */
adze_status rt_regex_match(rt_regex *regex, const char *text, size_t length,
                           bool *matches);

#endif /* ADZE_REGEX_H */
