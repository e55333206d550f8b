// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The host program in the text of a module in the LLVM dialect.
#include "HostText.h"
#include "Dialect/Host/IR/Host.h"
#include "Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace adze {

static constexpr llvm::StringLiteral kProgramAttribute = "adze.host_program";

static bool isHostProgram(func::FuncOp function) {
  return function->hasAttr(host::numInputsAttr);
}

void keepHostProgram(ModuleOp module) {
  OwningOpRef<ModuleOp> apart = ModuleOp::create(module.getLoc());
  for (auto function : module.getOps<func::FuncOp>())
    if (isHostProgram(function))
      apart->push_back(function.clone());
  std::string text;
  llvm::raw_string_ostream os(text);
  // Its kernels are in the other module, so it cannot be verified alone.
  apart->print(os, OpPrintingFlags().enableDebugInfo(true).assumeVerified());
  module->setAttr(kProgramAttribute,
                  StringAttr::get(module.getContext(), text));
}

LogicalResult restoreHostProgram(ModuleOp module, Attribute target) {
  auto text = module->getAttrOfType<StringAttr>(kProgramAttribute);
  if (!text)
    return success();
  if (!isa<tile::CpuTargetAttr>(target))
    return emitError(module.getLoc())
           << "unsupported: code of the LLVM dialect for a GPU; the text of an "
              "earlier stage (--emit=tile) can be compiled for it";
  module->removeAttr(kProgramAttribute);
  ParserConfig config(module.getContext(), /*verifyAfterParse=*/false);
  auto apart =
      parseSourceString<ModuleOp>(text.getValue(), config, kProgramAttribute);
  if (!apart)
    return emitError(module.getLoc())
           << "expected the text of a host program in '" << kProgramAttribute
           << "'";
  for (auto function :
       llvm::make_early_inc_range(apart->getOps<func::FuncOp>())) {
    function->setAttr(host::loweredAttr, UnitAttr::get(module.getContext()));
    function->moveBefore(module.getBody(), module.getBody()->begin());
  }
  return verify(module);
}

} // namespace adze
