/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Tokenizer of com.microsoft.
 */
#ifndef ADZE_TOKENS_H
#define ADZE_TOKENS_H

#include "Calls.h"

/* Inputs: strings; regular expressions; how they are used (below), whether to
 * add begin and end marks, the least number of characters; the padding. The
 * result has one more dim, whose size is the largest number of tokens of a
 * string. */
adze_status rt_tokenize(rt_call *call);

enum { RT_SEPARATORS = 0, RT_TOKENS = 1, RT_CHARACTERS = 2 };

#endif /* ADZE_TOKENS_H */
