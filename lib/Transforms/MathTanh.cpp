// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The hyperbolic tangent in f32.
#include "MathArithmetic.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace adze;

namespace {
/// Four intervals for each power of two from 2^-4 to 12, one below and one
/// above, selected by the low bits of the exponent and the first two of the
/// mantissa.
constexpr unsigned intervals = 32;
/// The approximate middles of the intervals, and tanh as a polynomial of the
/// distance of t from them. These are points where the constant term is a float
/// up to thousandths of an ulp (Gal's accurate tables), as its rounding would
/// bias the whole interval.
constexpr float middles[intervals] = {
    2.2499242f,  2.7499347f,  3.249924f,   3.750059f,   4.5000744f,
    5.5001907f,  6.4998093f,  7.5001907f,  8.999619f,   11.0f,
    12.0f,       0.0f,        0.07031355f, 0.08593949f, 0.10156195f,
    0.11718932f, 0.14062054f, 0.17187478f, 0.20312016f, 0.23437345f,
    0.28124958f, 0.34375754f, 0.4062405f,  0.46874678f, 0.56250656f,
    0.68751323f, 0.81250894f, 0.9375091f,  1.12497f,    1.3750027f,
    1.6250238f,  1.8750316f};
constexpr float tanhNear[6][intervals] = {
    {0.9780228f,  0.99185866f, 0.9969972f,  0.9988946f,  0.99975324f,
     0.9999666f,  0.99999547f, 0.9999994f,  0.99999994f, 1.0f,
     1.0f,        0.0f,        0.0701979f,  0.08572854f, 0.101214185f,
     0.11665578f, 0.13970093f, 0.17020209f, 0.20037207f, 0.23017424f,
     0.2740612f,  0.33082783f, 0.38527587f, 0.43718618f, 0.5098348f,
     0.5963821f,  0.670972f,   0.7340757f,  0.8092907f,  0.8798273f,
     0.92534965f, 0.9540481f},
    {0.043471362f,  0.016216392f,   0.005996626f,  0.0022096331f,
     4.93455e-04f,  6.678068e-05f,  9.044956e-06f, 1.2232412e-06f,
     6.112569e-08f, 1.1187765e-09f, 0.0f,          1.0f,
     0.99507225f,   0.9926506f,     0.9897557f,    0.9863914f,
     0.98048365f,   0.97103125f,    0.959851f,     0.9470198f,
     0.92489046f,   0.89055294f,    0.8515625f,    0.8088682f,
     0.74006844f,   0.6443284f,     0.5497966f,    0.46113282f,
     0.34504855f,   0.22590388f,    0.14372802f,   0.08979223f},
    {-0.04251441f,   -0.01608317f,    -0.0059780837f, -0.0022069882f,
     -4.925388e-04f, -6.687764e-05f,  -8.912125e-06f, -1.4700094e-06f,
     5.6838655e-08f, -1.0846538e-09f, 0.0f,           0.0f,
     -0.06985273f,   -0.085097596f,   -0.100176096f,  -0.115067735f,
     -0.13697371f,   -0.16527109f,    -0.19232717f,   -0.21798012f,
     -0.2534763f,    -0.29461947f,    -0.32808653f,   -0.35362545f,
     -0.3773124f,    -0.3842659f,     -0.36889797f,   -0.33850667f,
     -0.27924713f,   -0.19875798f,    -0.13299927f,   -0.08566625f},
    {0.027091455f,   0.010547585f,   0.003961581f,  0.0014681133f,
     3.2837107e-04f, 4.446536e-05f,  6.022707e-06f, 8.1302096e-07f,
     3.955225e-08f,  7.2516604e-10f, 0.0f,          -0.333333f,
     -0.32680854f,   -0.32356733f,   -0.31975552f,  -0.3153647f,
     -0.30768177f,   -0.29554236f,   -0.2814118f,   -0.2655045f,
     -0.23882717f,   -0.19938172f,   -0.1574508f,   -0.11502041f,
     -0.05432341f,   0.014392513f,   0.06425492f,   0.09477828f,
     0.11097558f,    0.09957145f,    0.07516165f,   0.051799096f},
    {-0.012391705f,
     -0.0051517067f,
     -0.001979783f,
     -7.396815e-04f,
     -1.7251787e-04f,
     -2.2724327e-05f,
     -3.5464159e-06f,
     3.6774077e-07f,
     -1.1762367e-07f,
     -4.5278584e-10f,
     0.0f,
     0.0f,
     0.056057192f,
     0.044385117f,
     0.049780592f,
     0.068191774f,
     0.08609839f,
     0.10387874f,
     0.11993933f,
     0.13556269f,
     0.14963439f,
     0.16391346f,
     0.16998991f,
     0.16762905f,
     0.15325715f,
     0.11945396f,
     0.0798571f,
     0.04338335f,
     0.0037050557f,
     -0.021092262f,
     -0.025119131f,
     -0.020845385f},
    {0.0039778585f, 0.0019151056f,  7.705389e-04f,  2.926549e-04f,
     6.8306e-05f,   9.2850105e-06f, 1.2594169e-06f, 1.7614366e-07f,
     9.931567e-09f, 1.7945778e-10f, 0.0f,           0.13304277f,
     0.40658206f,   -0.14888728f,   -0.18816781f,   -0.0010483041f,
     0.07717497f,   0.08521343f,    0.086014f,      0.093582004f,
     0.057789348f,  0.031236796f,   0.006271398f,   -0.018755553f,
     -0.043344595f, -0.061506387f,  -0.06274384f,   -0.053051498f,
     -0.03210097f,  -0.009534676f,  0.0013905597f,  0.0046010897f}};

/// Computes tanh for AVX-512, which selects one of 32 numbers by an
/// instruction; the error is less than 1 ulp, and 0.1 ulp on average in an
/// interval. From 12 on, the result is 1.
Value chooseTanh(const Arithmetic &a, Value x) {
  Value t = a.atMost(a.abs(x), 12.0f);
  Value index = a.sar(a.asBits(a.atLeast(t, 0.9375f / 16)), 21);
  auto pick = [&](ArrayRef<float> numbers) {
    SmallVector<int32_t> bits;
    for (float number : numbers)
      bits.push_back(llvm::bit_cast<int32_t>(number));
    return a.asReal(a.chooseOf32(bits, index));
  };
  Value off = a.sub(t, pick(middles)), y = pick(tanhNear[5]);
  for (unsigned power = 5; power-- > 0;)
    y = a.fma(y, off, pick(tanhNear[power]));
  return a.withSign(a.atMost(y, 1.0f), x);
}
} // namespace

/// On other CPUs, uses an odd polynomial, and from 5/8 on 1 - 2 / (e^2t + 1);
/// the error is less than 1.5 ulp.
Value adze::approximateTanh(const Arithmetic &a, Value x) {
  if (a.hasScale())
    return chooseTanh(a, x);
  Value t = a.abs(x), square = a.mul(x, x);
  Value p = a.polynomial(square, {2.1475369576e-03f, -8.1826737151e-03f,
                                  2.1702967584e-02f, -5.3947202861e-02f,
                                  1.3333210349e-01f, -3.3333331347e-01f});
  Value low = a.fma(a.mul(t, square), p, t);
  Value power = expInRange(a, a.atMost(a.add(t, t), 40.0f), PowerSize::small);
  Value one = a.real(1.0f);
  Value high = a.sub(
      one, arith::DivFOp::create(a.b, a.loc, a.real(2.0f), a.add(power, one)));
  Value isLow = a.is(arith::CmpFPredicate::OLT, t, a.real(0.625f));
  return a.withSign(a.select(isLow, low, high), x);
}
