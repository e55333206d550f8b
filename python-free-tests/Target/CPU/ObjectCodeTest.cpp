// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Optimization of LLVM IR.
#include "Target/CPU/CpuTarget.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "gmock/gmock.h"

namespace {

/// Returns the bytes of object code of a function of `count` loops, each of
/// which adds to the elements of a slice and contains a loop of one iteration,
/// as on the reference path.
size_t getBytes(int count) {
  std::string text =
      "define void @f(ptr noalias %x, ptr noalias %y, i64 %n) {\n"
      "entry:\n  br label %h0\n";
  for (int k = 0; k < count; ++k) {
    std::string id = std::to_string(k);
    auto at = [&](const char *name) { return "%" + (name + id); };
    std::string before = k ? "%h" + std::to_string(k - 1) : "%entry";
    text += "h" + id + ":\n  " + at("i") + " = phi i64 [0, " + before + "], [" +
            at("next") + ", " + at("l") + "]\n  " + at("c") +
            " = icmp slt i64 " + at("i") + ", %n\n  br i1 " + at("c") +
            ", label " + at("o") + ", label %h" + std::to_string(k + 1) + "\n";
    text += "o" + id + ":\n  br label " + at("g") + "\n";
    text += "g" + id + ":\n  " + at("j") + " = phi i64 [0, " + at("o") +
            "], [" + at("jn") + ", " + at("b") + "]\n  " + at("d") +
            " = icmp slt i64 " + at("j") + ", 1\n  br i1 " + at("d") +
            ", label " + at("b") + ", label " + at("l") + "\n";
    text +=
        "b" + id + ":\n  " + at("p") + " = getelementptr float, ptr %x, i64 " +
        at("i") + "\n  " + at("v") + " = load float, ptr " + at("p") + "\n  " +
        at("w") + " = fadd float " + at("v") + ", " + id + ".5\n  " + at("k") +
        " = add i64 " + at("i") + ", " + std::to_string(k * 1000) + "\n  " +
        at("q") + " = getelementptr float, ptr %y, i64 " + at("k") +
        "\n  store float " + at("w") + ", ptr " + at("q") + "\n  " + at("jn") +
        " = add i64 " + at("j") + ", 1\n  br label " + at("g") + "\n";
    text += "l" + id + ":\n  " + at("next") + " = add i64 " + at("i") +
            ", 1\n  br label " + at("h") + "\n";
  }
  text += "h" + std::to_string(count) + ":\n  ret void\n}\n";
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(text, error, context);
  EXPECT_TRUE(module) << error.getMessage().str() << error.getLineNo();
  auto target = llvm::cantFail(
      adze::cpu::CpuTarget::resolve("x86_64-linux-gnu", "x86-64-v3"));
  llvm::SmallVector<char> object;
  llvm::cantFail(adze::cpu::emitObject(*module, target, 2, object));
  return object.size();
}

/// Hundreds of loops are not unrolled; a few are.
TEST(ObjectCodeTest, ManyLoopsStayShort) {
  size_t few = getBytes(20), many = getBytes(100);
  EXPECT_LT(many, few * 7 / 2) << few << " bytes of 20 loops";
}

/// Returns the text of a module after code generation for Zen 4 at O<level>.
std::string getOptimized(const std::string &text, unsigned level) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(text, error, context);
  EXPECT_TRUE(module) << error.getMessage().str() << error.getLineNo();
  auto target = llvm::cantFail(
      adze::cpu::CpuTarget::resolve("x86_64-linux-gnu", "znver4"));
  llvm::SmallVector<char> object;
  llvm::cantFail(adze::cpu::emitObject(*module, target, level, object));
  std::string result;
  llvm::raw_string_ostream(result) << *module;
  return result;
}

/// Returns a loop over 1024 elements of `type`, with step `step`, that adds x
/// to y. `index` computes %k from the loop variable, %i.
std::string getLoop(const std::string &type, int step,
                    const std::string &index = "%k = add i64 %i, 0") {
  return "declare i64 @llvm.smin.i64(i64, i64)\n"
         "define void @f(ptr noalias %x, ptr noalias %y) {\n"
         "entry:\n  br label %head\n"
         "head:\n  %i = phi i64 [0, %entry], [%next, %body]\n"
         "  %more = icmp slt i64 %i, 1024\n"
         "  br i1 %more, label %body, label %done\n"
         "body:\n  " +
         index +
         "\n  %p = getelementptr float, ptr %x, i64 %k\n"
         "  %q = getelementptr float, ptr %y, i64 %i\n"
         "  %a = load " +
         type + ", ptr %p, align 4\n  %b = load " + type +
         ", ptr %q, align 4\n  %c = fadd " + type + " %a, %b\n  store " + type +
         " %c, ptr %q, align 4\n"
         "  %next = add i64 %i, " +
         std::to_string(step) +
         "\n  br label %head\n"
         "done:\n  ret void\n}\n";
}

size_t count(const std::string &text, const std::string &what) {
  return llvm::StringRef(text).count(what);
}

/// Loops over vectors are unrolled where time is spent, and nowhere else.
TEST(ObjectCodeTest, VectorsAreUnrolledAtO2Alone) {
  std::string loop = getLoop("<16 x float>", 16);
  EXPECT_GT(count(getOptimized(loop, 2), "fadd <16 x float>"), 1u);
  EXPECT_EQ(count(getOptimized(loop, 1), "fadd <16 x float>"), 1u);
}

/// Loops over scalars, as on the reference path, are vectorized.
TEST(ObjectCodeTest, ScalarsBecomeVectors) {
  std::string code = getOptimized(getLoop("float", 1), 2);
  EXPECT_GE(count(code, "fadd <16 x float>"), 1u) << code;
}

/// Code that accesses vectors only by masks is simplified, as other code with
/// vectors is: the passes for scalars would inline the call.
TEST(ObjectCodeTest, MaskedAccessesAreVectors) {
  const char *text = R"(
declare <16 x float> @llvm.masked.load.v16f32.p0(ptr, <16 x i1>, <16 x float>)
declare void @llvm.masked.store.v16f32.p0(<16 x float>, ptr, <16 x i1>)
define internal <16 x float> @twice(<16 x float> %a) {
  %b = fadd <16 x float> %a, %a
  ret <16 x float> %b
}
define void @f(ptr noalias %x, <16 x i1> %mask) {
entry:
  br label %head
head:
  %i = phi i64 [0, %entry], [%next, %body]
  %more = icmp slt i64 %i, 256
  br i1 %more, label %body, label %done
body:
  %p = getelementptr float, ptr %x, i64 %i
  %a = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %p, <16 x i1> %mask, <16 x float> zeroinitializer)
  %b = call <16 x float> @twice(<16 x float> %a)
  call void @llvm.masked.store.v16f32.p0(<16 x float> %b, ptr align 4 %p, <16 x i1> %mask)
  %next = add i64 %i, 16
  br label %head
done:
  ret void
}
)";
  std::string code = getOptimized(text, 2);
  EXPECT_GE(count(code, "call <16 x float> @twice"), 1u) << code;
}

/// Scalar code without loops stays as it is, as it runs once; the same code in
/// a loop is optimized.
TEST(ObjectCodeTest, StraightCodeIsNotOptimized) {
  std::string text = "define i64 @f(i64 %n) {\nentry:\n  br label %body\n"
                     "body:\n  %i = phi i64 [0, %entry], [%s, %LATCH]\n"
                     "  %a = mul i64 %n, 6\n  %b = mul i64 %n, 6\n"
                     "  %s = add i64 %a, %b\n"
                     "  %c = icmp slt i64 %s, %i\n"
                     "  br i1 %c, label %LATCH, label %done\n"
                     "done:\n  ret i64 %s\n}\n";
  auto replace = [&](std::string from, std::string to) {
    for (size_t at; (at = text.find(from)) != std::string::npos;)
      text.replace(at, from.size(), to);
  };
  std::string loop = text;
  replace(", [%s, %LATCH]", "");
  replace("%LATCH", "%done");
  EXPECT_EQ(count(getOptimized(text, 2), "mul i64 %n, 6"), 2u);
  std::swap(text, loop);
  replace("%LATCH", "%body");
  EXPECT_LT(count(getOptimized(text, 2), "mul i64 %n"), 2u);
}

/// By the range of the variable, its bound has no effect: equal rows of a last
/// block are computed once.
TEST(ObjectCodeTest, RangesOfIndicesAreKnown) {
  std::string bound = "%k = call i64 @llvm.smin.i64(i64 %i, i64 1024)";
  for (unsigned level : {1, 2}) {
    std::string code = getOptimized(getLoop("<16 x float>", 16, bound), level);
    EXPECT_EQ(count(code, "call i64 @llvm.smin"), 0u) << code;
  }
  // A bound within the range stays.
  bound = "%k = call i64 @llvm.smin.i64(i64 %i, i64 500)";
  std::string code = getOptimized(getLoop("<16 x float>", 16, bound), 1);
  EXPECT_EQ(count(code, "call i64 @llvm.smin"), 1u) << code;
}

static void compileAtAllLevels(const char *text) {
  auto target = llvm::cantFail(
      adze::cpu::CpuTarget::resolve("x86_64-linux-gnu", "sapphirerapids"));
  for (unsigned level : {0, 1, 2}) {
    llvm::LLVMContext context;
    llvm::SMDiagnostic error;
    auto module = llvm::parseAssemblyString(text, error, context);
    ASSERT_TRUE(module) << error.getMessage().str() << error.getLineNo();
    llvm::SmallVector<char> object;
    llvm::cantFail(adze::cpu::emitObject(*module, target, level, object));
    EXPECT_FALSE(object.empty());
  }
}

/// Unoptimized code also selects zeros of bf16 on CPUs with AVX512-FP16.
TEST(ObjectCodeTest, BrainFloatZerosAreSelectedAtAnyLevel) {
  const char *text = R"(
declare <4 x bfloat> @llvm.masked.load.v4bf16.p0(ptr, <4 x i1>, <4 x bfloat>)
declare void @llvm.masked.store.v4bf16.p0(<4 x bfloat>, ptr, <4 x i1>)
define void @f(ptr %x, ptr %y) {
  %next = getelementptr bfloat, ptr %x, i64 4
  %a = load <4 x bfloat>, ptr %x, align 2
  %b = call <4 x bfloat> @llvm.masked.load.v4bf16.p0(ptr align 2 %next, <4 x i1> <i1 true, i1 false, i1 false, i1 false>, <4 x bfloat> zeroinitializer)
  %even = shufflevector <4 x bfloat> %a, <4 x bfloat> %b, <4 x i32> <i32 0, i32 2, i32 4, i32 6>
  %low = select <4 x i1> <i1 false, i1 false, i1 true, i1 true>, <4 x bfloat> %even, <4 x bfloat> zeroinitializer
  call void @llvm.masked.store.v4bf16.p0(<4 x bfloat> %low, ptr align 2 %y, <4 x i1> <i1 true, i1 true, i1 true, i1 false>)
  ret void
}
)";
  compileAtAllLevels(text);
}

/// Unoptimized code also passes tile registers from block to block.
TEST(ObjectCodeTest, TilesAreHandedOnAtAnyLevel) {
  const char *text = R"(
declare x86_amx @llvm.x86.tilezero.internal(i16, i16)
declare x86_amx @llvm.x86.tileloadd64.internal(i16, i16, ptr, i64)
declare x86_amx @llvm.x86.tdpbf16ps.internal(i16, i16, i16, x86_amx, x86_amx, x86_amx)
declare void @llvm.x86.tilestored64.internal(i16, i16, ptr, i64, x86_amx)
define void @f(ptr %x, ptr %y, i64 %n) {
entry:
  %zero = call x86_amx @llvm.x86.tilezero.internal(i16 16, i16 64)
  br label %outer
outer:
  %j = phi i64 [0, %entry], [%after, %last]
  %whole = phi x86_amx [%zero, %entry], [%sum, %last]
  br label %head
head:
  %i = phi i64 [0, %outer], [%next, %body]
  %sum = phi x86_amx [%whole, %outer], [%more, %body]
  %goes = icmp slt i64 %i, %n
  br i1 %goes, label %body, label %last
body:
  %a = call x86_amx @llvm.x86.tileloadd64.internal(i16 16, i16 64, ptr %x, i64 %i)
  %b = call x86_amx @llvm.x86.tileloadd64.internal(i16 16, i16 64, ptr %y, i64 64)
  %more = call x86_amx @llvm.x86.tdpbf16ps.internal(i16 16, i16 64, i16 64, x86_amx %sum, x86_amx %a, x86_amx %b)
  %next = add i64 %i, 64
  br label %head
last:
  %after = add i64 %j, 1
  %ends = icmp eq i64 %after, %n
  br i1 %ends, label %done, label %outer
done:
  call void @llvm.x86.tilestored64.internal(i16 16, i16 64, ptr %y, i64 64, x86_amx %sum)
  ret void
}
)";
  compileAtAllLevels(text);
}

} // namespace
