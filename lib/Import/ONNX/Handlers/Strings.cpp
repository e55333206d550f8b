// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Operators on strings: the run time implements those that read characters;
// comparisons are arithmetic on the indices of strings.
#include "../OpTable.h"
#include "Arithmetic.h"

using namespace adze;
using namespace adze::importer;
using mlir::LogicalResult;
using mlir::Value;

namespace {

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

bool expectStrings(Binder &b, Value x) {
  if (!Binder::isString(x))
    (void)b.fail("expected strings");
  return !b.hasFailed();
}

LogicalResult importStringConcat(Binder &b) {
  Value x = b.operand(0), y = b.operand(1);
  if (!expectStrings(b, x) || !expectStrings(b, y))
    return mlir::failure();
  // The comparison is not used, but infers the broadcast shape.
  Value same = b.create<graph::EqualOp>({x, y});
  if (!same)
    return mlir::failure();
  Dims dims = graph::getDims(same);
  return b.done(b.callForOne("string_concat",
                             {b.broadcastTo(x, dims), b.broadcastTo(y, dims)},
                             {b.getStringType(), dims}));
}

LogicalResult importStringSplit(Binder &b) {
  Value x = b.operand(0);
  if (!expectStrings(b, x))
    return mlir::failure();
  Dims dims = graph::getDims(x), pieces = dims;
  pieces.push_back(mlir::AffineExpr());
  mlir::Type i64 = b.builder.getI64Type();
  auto limit = mlir::RankedTensorType::get({}, i64);
  Value most =
      b.constant(mlir::DenseElementsAttr::get(limit, b.getInt("maxsplit", -1)));
  return b.done(b.call("string_split",
                       {x, b.string(b.getString("delimiter", "")), most},
                       {{b.getStringType(), pieces}, {i64, dims}}));
}

LogicalResult importStringNormalizer(Binder &b) {
  Value x = b.operand(0);
  if (!expectStrings(b, x))
    return mlir::failure();
  Dims dims = graph::getDims(x);
  if (dims.size() != 1 &&
      (dims.size() != 2 || graph::getConstant(dims[0]).value_or(1) != 1))
    return b.fail("expected strings of shape [C] or [1, C]");
  llvm::StringRef action = b.getString("case_change_action", "NONE");
  if (action != "NONE" && action != "LOWER" && action != "UPPER")
    return b.fail("expected case_change_action to be NONE, LOWER or UPPER, "
                  "but got '" +
                  action + "'");
  int64_t to = action == "NONE" ? 0 : action == "LOWER" ? 1 : 2;
  auto words = b.getStrings("stopwords");
  Dims result(dims.size());
  if (dims.size() == 2)
    result[0] = b.expr(1);
  return b.done(
      b.callForOne("string_normalize",
                   {x, b.strings(words.value_or(llvm::ArrayRef<std::string>())),
                    b.ints({to, b.getInt("is_case_sensitive", 0)})},
                   {b.getStringType(), result}));
}

LogicalResult importRegexFullMatch(Binder &b) {
  Value x = b.operand(0);
  if (!expectStrings(b, x))
    return mlir::failure();
  if (!b.hasAttribute("pattern"))
    return b.fail("expected attribute 'pattern', but got none");
  return b.done(b.callForOne("regex_full_match",
                             {x, b.string(b.getString("pattern", ""))},
                             {b.builder.getI1Type(), graph::getDims(x)}));
}

/// Separators have priority over the expression of tokens, as in ONNX Runtime.
LogicalResult importTokenizer(Binder &b) {
  Value x = b.operand(0);
  if (!expectStrings(b, x))
    return mlir::failure();
  Dims dims = graph::getDims(x);
  if (dims.empty() || dims.size() > 2)
    return b.fail("expected strings of shape [C] or [N, C]");
  enum { Separators = 0, Tokens = 1, Characters = 2 };
  llvm::SmallVector<std::string> patterns;
  if (auto separators = b.getStrings("separators"))
    patterns.assign(separators->begin(), separators->end());
  int64_t kind = patterns.empty() ? Tokens : Separators;
  if (patterns.empty())
    patterns.push_back(b.getString("tokenexp", "").str());
  if (kind == Tokens && patterns.front().empty())
    return b.fail("expected separators, or a tokenexp that is not empty");
  if (patterns.size() == 1 && patterns.front() == (kind == Tokens ? "." : ""))
    kind = Characters;
  int64_t least = b.getInt("mincharnum", 0);
  if (least < 1 || (kind == Characters && least > 1))
    return b.fail("expected a mincharnum of at least 1, and of 1 for tokens "
                  "that are characters, but got " +
                  llvm::Twine(least));
  dims.push_back(mlir::AffineExpr());
  return b.done(b.callForOne("tokenize",
                             {x, b.strings(patterns),
                              b.ints({kind, b.getInt("mark", 0), least}),
                              b.string(b.getString("pad_value", ""))},
                             {b.getStringType(), dims}));
}

//===----------------------------------------------------------------------===//
// Labels
//===----------------------------------------------------------------------===//

/// Returns the vector of one of several attributes: PREFIX_strings, _int64s,
/// _floats, _tensor, or null.
Value getVector(Binder &b, llvm::StringRef prefix) {
  auto name = [&](const char *kind) { return (prefix + kind).str(); };
  if (auto texts = b.getStrings(name("_strings")); texts && !texts->empty())
    return b.strings(*texts);
  if (auto numbers = b.getInts(name("_int64s")); numbers && !numbers->empty())
    return b.ints(*numbers);
  if (const Attribute *floats = b.node.find(name("_floats"));
      floats && !floats->floats.empty()) {
    llvm::SmallVector<float> values(floats->floats.begin(),
                                    floats->floats.end());
    auto type = mlir::RankedTensorType::get({int64_t(values.size())},
                                            b.builder.getF32Type());
    return b.constant(
        mlir::DenseElementsAttr::get(type, llvm::ArrayRef<float>(values)));
  }
  if (const TensorData *tensor = b.getTensor(name("_tensor"))) {
    Value value = b.constant(b.getElements(*tensor));
    return value && b.getRank(value) != 1
               ? Arithmetic(b).flatten(value, 0, b.getRank(value))
               : value;
  }
  return {};
}

/// Returns the value for elements that are not keys.
Value getDefault(Binder &b, mlir::Type type) {
  if (const TensorData *tensor = b.getTensor("default_tensor"))
    return b.reshape(b.constant(b.getElements(*tensor)), {});
  if (graph::isString(type))
    return b.string(b.getString("default_string", "_Unused"));
  if (type.isInteger(64)) {
    auto scalar = mlir::RankedTensorType::get({}, type);
    return b.constant(
        mlir::DenseElementsAttr::get(scalar, b.getInt("default_int64", -1)));
  }
  return b.scalar(type, b.getFloat("default_float", -0.0));
}

/// Returns the value at the position of the first key that an element equals.
Value lookUp(Binder &b, Value x, Value keys, Value values, Value otherwise) {
  Arithmetic a(b);
  if (!x || !keys || !values || !otherwise)
    return {};
  if (b.getElementType(x) != b.getElementType(keys) ||
      b.getElementType(values) != b.getElementType(otherwise)) {
    (void)b.fail("expected keys of the input's type, and a default of the "
                 "values'");
    return {};
  }
  Value element = a.withTail(x, 1);
  Value isIt = a.equal(element, keys);
  if (llvm::isa<mlir::FloatType>(b.getElementType(keys)))
    isIt = a.either(isIt, a.both(b.create<graph::IsNanOp>(element),
                                 b.create<graph::IsNanOp>(keys)));
  int64_t last = b.getRank(x);
  Value found = b.cast(isIt, b.builder.getIntegerType(32));
  Value place = b.create<graph::ArgMaxOp>(
      found, {b.attr("axis", last), b.attr("keepdims", false)});
  Value any = b.cast(a.reduce<graph::ReduceMaxOp>(found, {last}),
                     b.builder.getI1Type());
  return a.select(any, a.gather(values, place, 0), otherwise);
}

LogicalResult importLabelEncoder(Binder &b) {
  Value x = b.operand(0), keys, values;
  if (b.version() == 1) {
    // Maps strings to indices, or back.
    auto classes = b.getStrings("classes_strings");
    if (!classes || classes->empty())
      return b.fail("expected classes_strings");
    Value texts = b.strings(*classes);
    Value places = Arithmetic(b).iota(classes->size());
    bool byText = Binder::isString(x);
    keys = byText ? texts : places;
    values = byText ? places : texts;
  } else {
    keys = getVector(b, "keys");
    values = getVector(b, "values");
  }
  if (b.hasFailed())
    return mlir::failure();
  if (!keys || !values || graph::getDims(keys) != graph::getDims(values))
    return b.fail("expected as many keys as values");
  return b.done(
      lookUp(b, x, keys, values, getDefault(b, b.getElementType(values))));
}

LogicalResult importCategoryMapper(Binder &b) {
  auto numbers = b.getInts("cats_int64s");
  auto texts = b.getStrings("cats_strings");
  if (!numbers || !texts || numbers->size() != texts->size() ||
      numbers->empty())
    return b.fail("expected as many cats_int64s as cats_strings");
  Value x = b.operand(0), left = b.strings(*texts), right = b.ints(*numbers);
  if (!Binder::isString(x))
    std::swap(left, right);
  if (!right)
    return mlir::failure();
  return b.done(
      lookUp(b, x, left, right, getDefault(b, b.getElementType(right))));
}

} // namespace

void adze::importer::addStringOps(std::vector<OpRow> &rows) {
  auto add = [&](llvm::StringRef name, int first, unsigned required,
                 Handler handler, llvm::StringRef note = "",
                 llvm::StringRef domain = "") {
    rows.push_back({name, first, required, handler, note, INT32_MAX, domain});
  };
  add("RegexFullMatch", 20, 1, importRegexFullMatch,
      "flags and Unicode classes in patterns");
  add("StringConcat", 20, 2, importStringConcat);
  add("StringNormalizer", 10, 1, importStringNormalizer,
      "cases of other scripts than Latin, Greek, Cyrillic and Armenian");
  add("StringSplit", 20, 1, importStringSplit);
  add("Tokenizer", 1, 1, importTokenizer,
      "flags and Unicode classes in patterns; no strings give a dim of tokens, "
      "too",
      "com.microsoft");
  add("CategoryMapper", 1, 1, importCategoryMapper, "", "ai.onnx.ml");
  add("LabelEncoder", 1, 1, importLabelEncoder, "", "ai.onnx.ml");
}
