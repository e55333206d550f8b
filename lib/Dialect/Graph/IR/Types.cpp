// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Strings, sequences, optionals and maps as types.
#include "Dialect/Graph/IR/Graph.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace adze::graph;

bool adze::graph::isString(Type elementType) {
  return elementType.isSignedInteger(64);
}

bool adze::graph::isContainer(Type elementType) {
  return isa<SequenceType, OptionalType, MapType>(elementType);
}

bool adze::graph::isHandle(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isContainer(tensor.getElementType());
}

RankedTensorType adze::graph::makeHandleType(Type container) {
  return RankedTensorType::get({}, container);
}

static TensorType wrap(TensorType element, bool isOptional) {
  if (!element || !isOptional)
    return element;
  return makeHandleType(OptionalType::get(element.getContext(), element));
}

TensorType adze::graph::joinElements(TensorType lhs, TensorType rhs) {
  Type left = lhs.getElementType(), right = rhs.getElementType();
  auto leftOptional = dyn_cast<OptionalType>(left);
  auto rightOptional = dyn_cast<OptionalType>(right);
  if (leftOptional || rightOptional)
    return wrap(joinElements(leftOptional ? leftOptional.getElement() : lhs,
                             rightOptional ? rightOptional.getElement() : rhs),
                /*isOptional=*/true);
  if (auto leftSequence = dyn_cast<SequenceType>(left)) {
    auto rightSequence = dyn_cast<SequenceType>(right);
    TensorType element = rightSequence
                             ? joinElements(leftSequence.getElement(),
                                            rightSequence.getElement())
                             : TensorType();
    return element ? makeHandleType(
                         SequenceType::get(element.getContext(), element))
                   : TensorType();
  }
  if (left != right)
    return {};
  if (isContainer(left))
    return lhs;
  if (lhs == getNoElement(left))
    return lhs == rhs ? lhs : joinElements(rhs, rhs);
  if (rhs == getNoElement(left))
    return joinElements(lhs, lhs);
  auto leftRanked = dyn_cast<RankedTensorType>(lhs);
  auto rightRanked = dyn_cast<RankedTensorType>(rhs);
  if (!leftRanked || !rightRanked ||
      leftRanked.getRank() != rightRanked.getRank())
    return UnrankedTensorType::get(left);
  return RankedTensorType::get(
      SmallVector<int64_t>(leftRanked.getRank(), ShapedType::kDynamic), left);
}

TensorType adze::graph::getNoElement(Type elementType) {
  return RankedTensorType::get({0}, elementType);
}

TensorType adze::graph::getElementOf(Type type) {
  auto tensor = cast<TensorType>(type);
  // A tensor without elements is an element of a sequence, too.
  if (auto ranked = dyn_cast<RankedTensorType>(type))
    if (!isHandle(type))
      tensor = RankedTensorType::get(
          SmallVector<int64_t>(ranked.getRank(), ShapedType::kDynamic),
          ranked.getElementType());
  return joinElements(tensor, tensor);
}

//===----------------------------------------------------------------------===//
// What the run time calls them
//===----------------------------------------------------------------------===//

std::optional<Dtype> adze::graph::getDtype(Type type) {
  if (isContainer(type))
    return Dtype{0, 64};
  if (type.isInteger(1))
    return Dtype{6, 8}; // kDLBool
  if (auto integer = dyn_cast<IntegerType>(type))
    return Dtype{uint8_t(integer.isUnsigned() ? 1 : 0),
                 uint8_t(integer.getWidth())};
  if (type.isBF16())
    return Dtype{4, 16};
  // Each float of at most 8 bits has its own code.
  uint8_t code = llvm::TypeSwitch<Type, uint8_t>(type)
                     .Case<Float8E4M3FNType>([](Type) { return 10; })
                     .Case<Float8E4M3FNUZType>([](Type) { return 11; })
                     .Case<Float8E5M2Type>([](Type) { return 12; })
                     .Case<Float8E5M2FNUZType>([](Type) { return 13; })
                     .Case<Float8E8M0FNUType>([](Type) { return 14; })
                     .Case<Float4E2M1FNType>([](Type) { return 17; })
                     .Default([](Type) { return 0; });
  if (code)
    return Dtype{code, uint8_t(type.getIntOrFloatBitWidth())};
  if (type.isF16() || type.isF32() || type.isF64())
    return Dtype{2, uint8_t(type.getIntOrFloatBitWidth())};
  return std::nullopt;
}

unsigned adze::graph::getKind(Type type) {
  return llvm::TypeSwitch<Type, unsigned>(type)
      .Case<SequenceType>([](Type) { return 2; })
      .Case<MapType>([](Type) { return 3; })
      .Case<OptionalType>([](Type) { return 4; })
      .Default([](Type type) { return isString(type) ? 1 : 0; });
}

static std::string getElementName(Type type) {
  if (isString(type))
    return "string";
  if (type.isInteger(1))
    return "bool";
  if (type.isF16() || type.isF32() || type.isF64())
    return type.isF16() ? "float16" : type.isF32() ? "float" : "double";
  if (type.isBF16())
    return "bfloat16";
  if (auto integer = dyn_cast<IntegerType>(type))
    return (integer.isUnsigned() ? "uint" : "int") +
           std::to_string(integer.getWidth());
  return llvm::TypeSwitch<Type, std::string>(type)
      .Case<Float8E4M3FNType>([](Type) { return "float8e4m3fn"; })
      .Case<Float8E4M3FNUZType>([](Type) { return "float8e4m3fnuz"; })
      .Case<Float8E5M2Type>([](Type) { return "float8e5m2"; })
      .Case<Float8E5M2FNUZType>([](Type) { return "float8e5m2fnuz"; })
      .Case<Float8E8M0FNUType>([](Type) { return "float8e8m0"; })
      .Case<Float4E2M1FNType>([](Type) { return "float4e2m1"; })
      .Default([](Type) { return ""; });
}

std::string adze::graph::getTypeName(TensorType type) {
  Type element = type.getElementType();
  return llvm::TypeSwitch<Type, std::string>(element)
      .Case<SequenceType>([](SequenceType sequence) {
        return "seq(" + getTypeName(sequence.getElement()) + ")";
      })
      .Case<OptionalType>([](OptionalType optional) {
        return "optional(" + getTypeName(optional.getElement()) + ")";
      })
      .Case<MapType>([](MapType map) {
        return "map(" + getElementName(map.getKey()) + "," +
               getTypeName(map.getElement()) + ")";
      })
      .Default(
          [](Type type) { return "tensor(" + getElementName(type) + ")"; });
}
