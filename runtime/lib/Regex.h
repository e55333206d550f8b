/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Regular expressions in RE2's syntax, without flags, back references and
 * Unicode classes. A match is leftmost-longest, so lazy quantifiers have no
 * effect. The time of a match is linear in the text.
 * */
#ifndef ADZE_REGEX_H
#define ADZE_REGEX_H

#include "Runtime.h"

typedef struct rt_regex rt_regex;

adze_status rt_regex_compile(const char *pattern, size_t length,
                             rt_regex **regex);
void rt_regex_free(rt_regex *regex);

typedef struct {
  size_t begin, end;
} rt_regex_range;

/* `regex` has buffers for one match at a time. Returns true if all of the text
 * matches. */
bool rt_regex_match(rt_regex *regex, const char *text, size_t length);
/* Finds a match that begins at `from` or after it; returns false if there is
 * none. The character before `from` is visible to \b and ^. */
bool rt_regex_search(rt_regex *regex, const char *text, size_t length,
                     size_t from, rt_regex_range *match);

/* Returns the next code point of UTF-8; U+FFFD for an invalid byte. */
uint32_t rt_next_char(const unsigned char **at, const unsigned char *end);

#endif /* ADZE_REGEX_H */
