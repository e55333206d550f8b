/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Elements of any number type, one at a time.
 */
#include "Numbers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- Floats of 16 bits --------------------------------------------------- */

/* Rounds to nearest even. */
uint16_t rt_to_half(float value) {
  uint32_t bits = rt_bits_of_float(value), sign = bits >> 16 & 0x8000u;
  bits &= 0x7FFFFFFFu;
  if (bits > 0x7F800000u)
    return (uint16_t)(sign | 0x7E00u);
  if (bits >= 0x477FF000u) /* 65520 and more */
    return (uint16_t)(sign | 0x7C00u);
  if (bits < 0x38800000u) { /* subnormal: in units of 2^-24 */
    float scaled = rt_float_of_bits(bits) + 0.5f; /* ulp of 0.5 is 2^-24 */
    return (uint16_t)(sign |
                      (rt_bits_of_float(scaled) - rt_bits_of_float(0.5f)));
  }
  bits += 0xFFFu + (bits >> 13 & 1u);
  return (uint16_t)(sign | (bits - 0x38000000u) >> 13);
}

uint16_t rt_to_bfloat(float value) {
  uint32_t bits = rt_bits_of_float(value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u)
    return (uint16_t)(bits >> 16 | 0x40u);
  return (uint16_t)((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}

/* ---- Reading ------------------------------------------------------------- */

static int64_t read_signed(const void *data, uint64_t index, int bits) {
  switch (bits) {
  case 8:
    return ((const int8_t *)data)[index];
  case 16:
    return ((const int16_t *)data)[index];
  case 32:
    return ((const int32_t *)data)[index];
  default:
    return ((const int64_t *)data)[index];
  }
}

static uint64_t read_unsigned(const void *data, uint64_t index, int bits) {
  switch (bits) {
  case 8:
    return ((const uint8_t *)data)[index];
  case 16:
    return ((const uint16_t *)data)[index];
  case 32:
    return ((const uint32_t *)data)[index];
  default:
    return ((const uint64_t *)data)[index];
  }
}

rt_number rt_read_number(DLDataType dtype, const void *data, uint64_t index) {
  rt_number number = {RT_NO_NUMBER, 0, 0, 0};
  if (dtype.bits < 8)
    return number;
  if (dtype.code == kDLInt) {
    number.form = RT_SIGNED;
    number.i = read_signed(data, index, dtype.bits);
  } else if (dtype.code == kDLUInt || dtype.code == kDLBool) {
    number.form = RT_UNSIGNED;
    number.u = read_unsigned(data, index, dtype.bits);
  } else if (dtype.code == kDLBfloat) {
    number.form = RT_FLOAT;
    number.f = rt_from_bfloat((uint16_t)read_unsigned(data, index, 16));
  } else if (dtype.code == kDLFloat) {
    number.form = RT_FLOAT;
    number.f = dtype.bits == 64 ? ((const double *)data)[index]
               : dtype.bits == 32
                   ? ((const float *)data)[index]
                   : rt_from_half((uint16_t)read_unsigned(data, index, 16));
  }
  return number;
}

int rt_compare_numbers(rt_number x, rt_number y) {
  if (x.form == RT_SIGNED)
    return (x.i > y.i) - (x.i < y.i);
  if (x.form == RT_UNSIGNED)
    return (x.u > y.u) - (x.u < y.u);
  bool no_x = x.f != x.f, no_y = y.f != y.f;
  if (no_x || no_y)
    return no_x - no_y;
  return (x.f > y.f) - (x.f < y.f);
}

/* Returns the bits of a float as an integer with the same order. */
static uint64_t key_of_bits(uint64_t bits, uint64_t sign) {
  return bits & sign ? ~bits & (sign - 1 + sign) : bits | sign;
}

uint64_t rt_read_key(DLDataType dtype, const void *data, uint64_t index) {
  rt_number number = rt_read_number(dtype, data, index);
  if (number.form == RT_SIGNED)
    return (uint64_t)number.i ^ (uint64_t)1 << 63;
  if (number.form != RT_FLOAT)
    return number.u;
  if (number.f != number.f)
    return UINT64_MAX;
  double value = number.f == 0 ? 0 : number.f; /* +0 and -0 are one number */
  if (dtype.bits <= 32)
    return key_of_bits(rt_bits_of_float((float)value), (uint64_t)1 << 31);
  uint64_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return key_of_bits(bits, (uint64_t)1 << 63);
}

/* ---- Writing ------------------------------------------------------------- */

static bool ends(const char *text, const char *end) {
  while (*end == ' ')
    ++end;
  return end != text && !*end;
}

static bool write_float(DLDataType dtype, void *data, uint64_t index,
                        const char *text) {
  char *end;
  double value = strtod(text, &end);
  if (!ends(text, end))
    return false;
  if (dtype.code == kDLBfloat)
    ((uint16_t *)data)[index] = rt_to_bfloat((float)value);
  else if (dtype.bits == 64)
    ((double *)data)[index] = value;
  else if (dtype.bits == 32)
    /* Rounds once. */
    ((float *)data)[index] = strtof(text, &end);
  else
    ((uint16_t *)data)[index] = rt_to_half((float)value);
  return true;
}

static bool write_integer(DLDataType dtype, void *data, uint64_t index,
                          const char *text) {
  char *end;
  errno = 0;
  bool is_signed = dtype.code == kDLInt;
  uint64_t bits =
      is_signed ? (uint64_t)strtoll(text, &end, 10) : strtoull(text, &end, 10);
  if (errno || !ends(text, end) || (!is_signed && strchr(text, '-')))
    return false;
  switch (dtype.bits) {
  case 8:
    ((uint8_t *)data)[index] = (uint8_t)bits;
    break;
  case 16:
    ((uint16_t *)data)[index] = (uint16_t)bits;
    break;
  case 32:
    ((uint32_t *)data)[index] = (uint32_t)bits;
    break;
  default:
    ((uint64_t *)data)[index] = bits;
  }
  /* The stored number must equal the parsed one. */
  rt_number stored = rt_read_number(dtype, data, index);
  return is_signed ? stored.i == (int64_t)bits : stored.u == bits;
}

bool rt_write_number(DLDataType dtype, void *data, uint64_t index,
                     const char *text) {
  if (dtype.bits < 8)
    return false;
  if (dtype.code == kDLBool) {
    bool is_true = !strcasecmp(text, "true") || !strcmp(text, "1");
    ((uint8_t *)data)[index] = is_true;
    return is_true || !strcasecmp(text, "false") || !strcmp(text, "0");
  }
  if (dtype.code == kDLInt || dtype.code == kDLUInt)
    return write_integer(dtype, data, index, text);
  if ((dtype.code == kDLFloat && dtype.bits >= 16) || dtype.code == kDLBfloat)
    return write_float(dtype, data, index, text);
  return false;
}
