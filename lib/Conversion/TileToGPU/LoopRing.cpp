// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Copies operands of the products in the body of a loop ahead of their use.
#include "LoopRing.h"
#include "DeviceBuilder.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace adze::togpu {

/// Returns true if all scalars of the body can be computed for any iteration.
static bool hasPureScalars(scf::ForOp loop) {
  return llvm::all_of(loop.getRegionIterArgs(), isTile) &&
         llvm::all_of(loop.getBody()->without_terminator(), [](Operation &op) {
           return llvm::any_of(op.getResults(), isTile) || isScalar(op);
         });
}

LoopRing::LoopRing(KernelLowering &lowering, scf::ForOp loop)
    : lowering(lowering), loop(loop) {
  if (loop.getBody()->getOps<tile::DotOp>().empty() || !hasPureScalars(loop))
    return;
  lowering.lowerScalars(loop, lowering.map.lookup(loop.getLowerBound()));
  for (auto dot : loop.getBody()->getOps<tile::DotOp>())
    if (lowering.plan.getUnit(dot) && findOperands(dot))
      dots.push_back(dot);
  if (!isEmpty())
    chooseStages();
  lowering.forget(*loop.getBody());
}

/// Describes the operands of a product, of which all of the depth is in shared
/// memory at a time; returns false if one is in none of the places.
bool LoopRing::findOperands(tile::DotOp dot) {
  int64_t depth = tileType(dot.getLhs()).getDimSize(1);
  std::array<Operand, 2> operands;
  bool areCopied = false;
  for (unsigned number : {0, 1}) {
    Operand &operand = operands[number];
    operand = lowering.describeOperand(dot, number, depth);
    if (operand.isWhole()) { // from a product, or carried by the loop
      if (!lowering.plan.isInRegisters(dot, number))
        return false;
      operand.place = OperandPlace::Registers;
    } else if (!loop->isAncestor(operand.tile.getDefiningOp())) {
      operand.place = OperandPlace::Kept;
    } else {
      if (!lowering.mayCopy(operand))
        return false;
      operand.place = OperandPlace::Ahead;
      areCopied = true;
    }
  }
  if (areCopied)
    lowering.dotOperands[dot] = operands;
  return areCopied;
}

/// Allocates the operands: two stages if a multiprocessor has room for two
/// blocks of threads with them, or else one, whose operands are copied while
/// another product is computed.
void LoopRing::chooseStages() {
  constexpr int64_t most = 2, blocks = 2;
  int64_t least = dots.size() > 1 ? 1 : most;
  auto allocate = [&](OperandPlace place) {
    for (tile::DotOp dot : dots)
      for (Operand &operand : lowering.dotOperands[dot])
        if (operand.place == place)
          lowering.allocate(operand);
  };
  allocate(OperandPlace::Kept);
  int64_t stage = 0;
  for (tile::DotOp dot : dots)
    for (Operand &operand : lowering.dotOperands[dot])
      if (operand.place == OperandPlace::Ahead)
        stage += tileType(operand.tile).getNumElements() *
                 bytesOf(operand.shared.elementType);
  int64_t left = lowering.plan.getSharedBytes() / blocks - lowering.sharedBytes;
  stages = std::clamp<int64_t>(left / stage, least, most);
  for (tile::DotOp dot : dots)
    for (Operand &operand : lowering.dotOperands[dot])
      operand.stages = operand.place == OperandPlace::Ahead ? stages : 1;
  allocate(OperandPlace::Ahead);
}

/// Returns the induction variable of a later iteration.
Value LoopRing::getIteration(int64_t ahead) {
  Value step = lowering.map.lookup(loop.getStep());
  return lowering.add(at, lowering.multiplyBy(step, ahead));
}

/// Copies the operands of a product for the iteration with this induction
/// variable, if there is one.
void LoopRing::copy(tile::DotOp dot, Value of, Value to) {
  OpBuilder &b = lowering.b;
  Location loc = lowering.loc;
  Value exists =
      b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, of,
                                    lowering.map.lookup(loop.getUpperBound()));
  DeviceBuilder d(b, loc);
  d.when(exists, [&] {
    IRMapping known = lowering.map;
    lowering.lowerScalars(loop, of);
    for (Operand operand : lowering.dotOperands[dot]) {
      if (operand.place != OperandPlace::Ahead)
        continue;
      operand.staged.start =
          lowering.multiplyBy(d.toIndex(to), operand.stageElements);
      lowering.forCopies(
          operand, lowering.constant(0), [&](const Axes &from, const Axes &at) {
            lowering.copyTile(getLoad(operand.tile), from, operand.staged, at);
          });
    }
    lowering.map = known;
  });
  NVVM::CpAsyncCommitGroupOp::create(b, loc);
}

void LoopRing::begin() {
  // In a loop, other threads may still read what the last iteration left there.
  if (lowering.b.getInsertionBlock() != lowering.entry)
    lowering.barrier();
  at = lowering.map.lookup(loop.getLowerBound());
  int64_t copies = stages * int64_t(dots.size()) - 1;
  for (int64_t i = 0; i < copies; ++i) {
    int64_t iteration = i / dots.size();
    copy(dots[i % dots.size()], getIteration(iteration),
         DeviceBuilder(lowering.b, lowering.loc).i32(iteration));
  }
  for (tile::DotOp dot : dots)
    for (const Operand &operand : lowering.dotOperands[dot])
      if (operand.place == OperandPlace::Kept)
        lowering.stageAll(operand);
}

void LoopRing::enter(Value newAt, Value newStage) {
  at = newAt;
  stage = newStage;
}

Value LoopRing::getNextStage() {
  return DeviceBuilder(lowering.b, lowering.loc).getNext(stage, stages);
}

std::array<Operand, 2> LoopRing::take(tile::DotOp dot) {
  DeviceBuilder d(lowering.b, lowering.loc);
  auto number = int64_t(llvm::find(dots, dot) - dots.begin());
  NVVM::CpAsyncWaitGroupOp::create(lowering.b, lowering.loc,
                                   stages * int64_t(dots.size()) - 2);
  lowering.barrier();
  // The product before is one of this iteration, or the last of the one before.
  if (number > 0) {
    copy(dots[number - 1], getIteration(stages), stage);
  } else {
    copy(dots.back(), getIteration(stages - 1), d.getPrevious(stage, stages));
  }
  std::array<Operand, 2> operands = lowering.dotOperands[dot];
  for (Operand &operand : operands)
    if (operand.place == OperandPlace::Ahead)
      operand.shared.start =
          lowering.multiplyBy(d.toIndex(stage), operand.stageElements);
  return operands;
}

} // namespace adze::togpu
