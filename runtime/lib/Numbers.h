/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Elements of any number type, one at a time.
 */
#ifndef ADZE_NUMBERS_H
#define ADZE_NUMBERS_H

#include "NarrowFloats.h"
#include "Runtime.h"

typedef enum { RT_NO_NUMBER, RT_SIGNED, RT_UNSIGNED, RT_FLOAT } rt_number_form;

typedef struct {
  rt_number_form form;
  int64_t i;
  uint64_t u;
  double f;
} rt_number;

/* Returns RT_NO_NUMBER for 8-bit floats and types of less than 8 bits. A bool
 * is unsigned. */
rt_number rt_read_number(DLDataType dtype, const void *data, uint64_t index);
/* Conversions to f16 and bf16, which round to nearest even. */
uint16_t rt_to_half(float value);
uint16_t rt_to_bfloat(float value);
/* Parses all of `text`; returns false if it is not a number of that type. */
bool rt_write_number(DLDataType dtype, void *data, uint64_t index,
                     const char *text);
/* Returns -1, 0, or 1. NaN equals itself and is greater than all other
   numbers. */
int rt_compare_numbers(rt_number x, rt_number y);
/* Returns an integer with the same order, for any type that can be read. */
uint64_t rt_read_key(DLDataType dtype, const void *data, uint64_t index);

#endif /* ADZE_NUMBERS_H */
