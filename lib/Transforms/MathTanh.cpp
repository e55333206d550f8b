// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The hyperbolic tangent in f32.
#include "MathArithmetic.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace adze;

namespace {
/// Four intervals a power of two from 2^-4 to 12, one below and one above; by
/// the low bits of the exponent and the first two of the mantissa.
constexpr unsigned intervals = 32;
/// The middle of each, and tanh there by powers of what t is off it. The error
/// is 2^-26.
constexpr float middles[intervals] = {
    2.25f,      2.75f,      3.25f,      3.75f,      4.5f,      5.5f,
    6.5f,       7.5f,       9.0f,       11.0f,      12.0f,     0.0f,
    0.0703125f, 0.0859375f, 0.1015625f, 0.1171875f, 0.140625f, 0.171875f,
    0.203125f,  0.234375f,  0.28125f,   0.34375f,   0.40625f,  0.46875f,
    0.5625f,    0.6875f,    0.8125f,    0.9375f,    1.125f,    1.375f,
    1.625f,     1.875f};
constexpr float tanhNear[6][intervals] = {
    {0.9780261f,  0.99185973f, 0.99699765f, 0.99889445f, 0.9997532f,
     0.9999666f,  0.99999547f, 0.9999994f,  0.99999994f, 1.0f,
     1.0f,        0.0f,        0.07019686f, 0.08572657f, 0.10121473f,
     0.11665399f, 0.1397053f,  0.17020231f, 0.20037672f, 0.2301757f,
     0.2740616f,  0.33082113f, 0.38528398f, 0.43718877f, 0.50983f,
     0.59637356f, 0.6709671f,  0.7340715f,  0.8093011f,  0.8798267f,
     0.92534626f, 0.95404524f},
    {0.043464914f,  0.016214292f,   0.005995718f,  0.0022098934f,
     4.93536e-04f,  6.680712e-05f,  9.041622e-06f, 1.2236553e-06f,
     6.108314e-08f, 1.1187765e-09f, 0.0f,          1.0f,
     0.9950724f,    0.9926509f,     0.9897556f,    0.98639184f,
     0.9804824f,    0.9710312f,     0.9598492f,    0.94701916f,
     0.9248902f,    0.8905574f,     0.85155624f,   0.80886596f,
     0.7400734f,    0.6443386f,     0.5498032f,    0.461139f,
     0.34503177f,   0.22590497f,    0.14373437f,   0.08979764f},
    {-0.04250824f,   -0.0160811f,     -0.0059771794f, -0.0022072394f,
     -4.926096e-04f, -6.669517e-05f,  -9.026718e-06f, -1.2216426e-06f,
     -5.922013e-08f, -1.0846538e-09f, 0.0f,           0.0f,
     -0.06985096f,   -0.08509656f,    -0.10017785f,   -0.11506654f,
     -0.1369786f,    -0.16527174f,    -0.19233142f,   -0.2179808f,
     -0.25347686f,   -0.29461515f,    -0.32809094f,   -0.3536271f,
     -0.3773113f,    -0.3842664f,     -0.36889988f,   -0.33850914f,
     -0.27923712f,   -0.19875874f,    -0.13300462f,   -0.085671104f},
    {0.02708783f,   0.0105461115f, 0.003960903f, 0.0014682558f,  3.282986e-04f,
     4.446749e-05f, 6.018701e-06f, 8.14555e-07f, 3.9592624e-08f, 7.2516604e-10f,
     0.0f,          -0.333333f,    -0.32678747f, -0.3235886f,    -0.31977907f,
     -0.3153743f,   -0.30769086f,  -0.29554743f, -0.281411f,     -0.26549917f,
     -0.2388286f,   -0.19938765f,  -0.157444f,   -0.11502027f,   -0.054327443f,
     0.014386249f,  0.064251676f,  0.09477681f,  0.11097621f,    0.09957207f,
     0.07516428f,   0.05180183f},
    {-0.012390312f,   -0.005151129f,   -0.0019794994f, -7.3987315e-04f,
     -1.7255111e-04f, -2.3398497e-05f, -3.16749e-06f,  -4.2868865e-07f,
     -2.4721224e-08f, -4.5278584e-10f, 0.0f,           0.0f,
     0.04622074f,     0.0561028f,      0.06575566f,    0.07514139f,
     0.08862792f,     0.10537287f,     0.12047574f,    0.13374698f,
     0.14984092f,     0.16406152f,     0.16992728f,    0.16807866f,
     0.15324953f,     0.11944109f,     0.0798982f,     0.04336298f,
     0.003700618f,    -0.021095155f,   -0.025121236f,  -0.02084893f},
    {0.0039761574f, 0.0019167351f,  7.715054e-04f,  2.930619e-04f,
     6.870217e-05f, 9.334279e-06f,  1.2639256e-06f, 1.7106603e-07f,
     9.798152e-09f, 1.7945778e-10f, 0.0f,           0.13304277f,
     0.12780158f,   0.12511903f,    0.12194227f,    0.118281394f,
     0.11198982f,   0.10217924f,    0.09101267f,    0.07877812f,
     0.05917253f,   0.032050703f,   0.0060043093f,  -0.017101431f,
     -0.043341458f, -0.061518203f,  -0.06266447f,   -0.053074505f,
     -0.0321104f,   -0.009554645f,  0.0013786338f,  0.0045959004f}};

/// For AVX-512, which chooses one of 32 numbers by an instruction; less than
/// 1.5 ulp. From 12 on it is 1.
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

/// Elsewhere an odd polynomial, from 5/8 on 1 - 2 / (e^2t + 1); less than 1.5
/// ulp.
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
