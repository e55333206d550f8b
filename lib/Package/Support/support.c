/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Functions that compiled code calls and that LLVM's libc and compiler-rt do
 * not offer. A module has no undefined symbol, so each must be defined here.
 * Compiled freestanding for every target when Adze is built. */

#if defined(__x86_64__)
#define HAVE_LLVM_LIBC 1
#endif

typedef __SIZE_TYPE__ size;

/* LLVM's libc writes errno and never reads it back; nobody else sees this. */
int *__errno_location(void) {
  static int ignored;
  return &ignored;
}

_Noreturn void __stack_chk_fail(void) { __builtin_trap(); }

#if HAVE_LLVM_LIBC
double exp(double);
double expm1(double);
double log(double);
double log1p(double);
double sqrt(double);

static double magnitude(double x) { return __builtin_fabs(x); }

/* Near 0 by expm1, so that small arguments keep their relative accuracy. */
double sinh(double x) {
  double a = magnitude(x), r;
  if (a < 22.0) {
    double m = expm1(a);
    r = a < 1e-9 ? a : 0.5 * (m + m / (m + 1.0));
  } else {
    double half = exp(0.5 * a); /* exp(a) alone overflows before sinh does */
    r = (0.5 * half) * half;
  }
  return __builtin_copysign(r, x);
}

double cosh(double x) {
  double a = magnitude(x);
  if (a < 22.0) {
    double e = exp(a);
    return 0.5 * (e + 1.0 / e);
  }
  double half = exp(0.5 * a);
  return (0.5 * half) * half;
}

double tanh(double x) {
  double a = magnitude(x), r;
  if (a < 22.0) {
    double m = expm1(2.0 * a);
    r = m / (m + 2.0);
  } else {
    r = a == a ? 1.0 : x;
  }
  return __builtin_copysign(r, x);
}

double asinh(double x) {
  double a = magnitude(x), r;
  if (a > 0x1p28)
    r = log(a) + 0x1.62e42fefa39efp-1;
  else
    r = log1p(a + a * a / (1.0 + sqrt(a * a + 1.0)));
  return __builtin_copysign(r, x);
}

double acosh(double x) {
  if (x > 0x1p28)
    return log(x) + 0x1.62e42fefa39efp-1;
  double t = x - 1.0;
  return log1p(t + sqrt(2.0 * t + t * t));
}

double atanh(double x) {
  double a = magnitude(x);
  return __builtin_copysign(0.5 * log1p(2.0 * a / (1.0 - a)), x);
}

#define TWO_OVER_SQRT_PI 0x1.20dd750429b6dp+0
#define ONE_OVER_SQRT_PI 0x1.20dd750429b6dp-1

/* exp(-x*x) with the square's rounding error put back: x*x may exceed 100. */
static double exp_minus_square(double x) {
  double square = x * x;
  double rest = __builtin_fma(x, x, -square);
  return exp(-square) * (1.0 - rest);
}

/* 2/sqrt(pi) exp(-x^2) sum 2^n x^(2n+1) / (2n+1)!!: all terms positive. */
static double erf_series(double a) {
  double term = a, sum = a;
  for (int n = 1; n < 200 && term > sum * 0x1p-56; ++n) {
    term *= 2.0 * a * a / (2 * n + 1);
    sum += term;
  }
  return TWO_OVER_SQRT_PI * exp_minus_square(a) * sum;
}

/* The continued fraction x + (1/2)/(x + (2/2)/(x + (3/2)/...)) from its end. */
static double erfc_fraction(double a) {
  double fraction = a;
  for (int n = a < 3.0 ? 200 : 60; n > 0; --n)
    fraction = a + 0.5 * n / fraction;
  return ONE_OVER_SQRT_PI * exp_minus_square(a) / fraction;
}

double erf(double x) {
  double a = magnitude(x);
  if (!(a < 6.0))
    return a == a ? __builtin_copysign(1.0, x) : x;
  double r = a < 1.25 ? erf_series(a) : 1.0 - erfc_fraction(a);
  return __builtin_copysign(r, x);
}

double erfc(double x) {
  if (x != x)
    return x;
  if (x < 0.5)
    return 1.0 - erf(x);
  if (x > 27.3)
    return 0.0;
  return x < 1.25 ? 1.0 - erf_series(x) : erfc_fraction(x);
}

float erfcf(float x) { return (float)erfc(x); }

#else /* No libc for this target: what the code generator itself calls. */

void *memcpy(void *restrict to, const void *restrict from, size n) {
  char *t = to;
  const char *f = from;
  for (size i = 0; i < n; ++i)
    t[i] = f[i];
  return to;
}

void *memmove(void *to, const void *from, size n) {
  char *t = to;
  const char *f = from;
  if (t <= f || t >= f + n)
    return memcpy(to, from, n);
  while (n--)
    t[n] = f[n];
  return to;
}

void *memset(void *to, int value, size n) {
  char *t = to;
  for (size i = 0; i < n; ++i)
    t[i] = (char)value;
  return to;
}

#endif
