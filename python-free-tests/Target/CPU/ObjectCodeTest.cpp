// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What becomes of LLVM IR.
#include "Target/CPU/CpuTarget.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "gmock/gmock.h"

namespace {

/// Bytes of object code of a function of `count` loops, each of which adds to
/// the elements of a piece; inside of it is a loop of one iteration, as the
/// reference path leaves them.
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

/// Loops by the hundred are not made many times longer; a few are.
TEST(ObjectCodeTest, ManyLoopsStayShort) {
  size_t few = getBytes(20), many = getBytes(100);
  EXPECT_LT(many, few * 7 / 2) << few << " bytes of 20 loops";
}

} // namespace
