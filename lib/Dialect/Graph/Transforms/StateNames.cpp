// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Names of inputs and outputs that are one state: those of genai, optimum,
// transformers, torch and silero.
#include "Dialect/Graph/Transforms/StateNames.h"
#include "Dialect/Host/IR/Host.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace adze::graph;

static StringRef getName(mlir::DictionaryAttr attributes) {
  auto name = attributes
                  ? attributes.getAs<mlir::StringAttr>(adze::host::nameAttr)
                  : mlir::StringAttr();
  return name ? name.getValue() : StringRef();
}

StringRef adze::graph::getInputName(mlir::func::FuncOp function,
                                    unsigned input) {
  return getName(function.getArgAttrDict(input));
}

StringRef adze::graph::getOutputName(mlir::func::FuncOp function,
                                     unsigned output) {
  return getName(function.getResultAttrDict(output));
}

Expected<StateNames> StateNames::parse(ArrayRef<std::string> pairs) {
  StateNames names;
  SmallVector<StringRef> texts;
  for (StringRef list : pairs)
    list.split(texts, ',');
  for (StringRef text : texts) {
    if (text == "none") {
      names.none = true;
      continue;
    }
    auto [input, output] = text.split('=');
    if (input.empty() || output.empty() || output.contains('=') ||
        input.count('*') > 1 || input.count('*') != output.count('*'))
      return createStringError("--state: expected INPUT=OUTPUT with a * on "
                               "both sides or none, or 'none', but got '" +
                               text + "'");
    names.given.push_back({text.str(), input.str(), output.str()});
  }
  return names;
}

/// Returns the text that the * of `pattern` matches in `name`, or nothing.
static std::optional<StringRef> getRest(StringRef pattern, StringRef name) {
  auto [before, after] = pattern.split('*');
  if (!pattern.contains('*'))
    return pattern == name ? std::optional<StringRef>("") : std::nullopt;
  bool matches = name.size() >= before.size() + after.size() &&
                 name.starts_with(before) && name.ends_with(after);
  return matches ? std::optional(
                       name.drop_front(before.size()).drop_back(after.size()))
                 : std::nullopt;
}

std::optional<std::string> StateNames::findGiven(StringRef input,
                                                 StringRef output) const {
  for (const Pair &pair : given) {
    auto rest = getRest(pair.input, input);
    if (rest && rest == getRest(pair.output, output))
      return pair.text;
  }
  return std::nullopt;
}

namespace {
/// A name without the words that distinguish past and present.
struct Stem {
  std::string rest;
  bool isCache = false; // it has the word past or present
  bool isMarked = false;
};
} // namespace

static Stem getStem(StringRef name, bool isInput) {
  Stem stem;
  StringRef phrase = isInput ? "past_key_values" : "present_key_values";
  if (name.consume_front(phrase))
    stem.isCache = true;
  SmallVector<StringRef> words;
  SplitString(name, words, "._/:-");
  for (StringRef word : words) {
    auto is = [&](StringRef past, StringRef present) {
      return word.equals_insensitive(isInput ? past : present);
    };
    bool isCache = is("past", "present");
    if (isCache || is("in", "out") || is("old", "new") || is("prev", "next")) {
      stem.isCache |= isCache;
      stem.isMarked = true;
      continue;
    }
    stem.rest += (word + ".").str();
  }
  stem.isMarked |= stem.isCache;
  return stem;
}

bool StateNames::arePaired(StringRef input, StringRef output) const {
  if (findGiven(input, output))
    return true;
  if (input.empty() || output.empty())
    return false;
  if (output.size() == input.size() + 1 && output.starts_with(input) &&
      toLower(output.back()) == 'n' && input.size() > 1)
    return true; // state, stateN
  Stem past = getStem(input, true), present = getStem(output, false);
  if (past.rest != present.rest)
    return false;
  if (past.isCache && present.isCache)
    return true;
  return present.isMarked &&
         any_of(past.rest, [](char c) { return isAlpha(c); });
}

bool StateNames::arePaired(mlir::func::FuncOp function, unsigned input,
                           unsigned output) const {
  return arePaired(getInputName(function, input),
                   getOutputName(function, output));
}

InputNames::InputNames(const StateNames &names, mlir::func::FuncOp function)
    : names(names), function(function) {
  for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i) {
    StringRef name = getInputName(function, i);
    byName[name].push_back(i);
    byStem[getStem(name, true).rest].push_back(i);
  }
}

SmallVector<unsigned> InputNames::findPaired(unsigned output) const {
  mlir::func::FuncOp op = function; // whose methods are not const
  StringRef name = getOutputName(op, output);
  SmallVector<unsigned> inputs;
  if (names.areGiven()) {
    append_range(inputs, seq<unsigned>(0, op.getNumArguments()));
  } else {
    // state, stateN
    append_range(inputs, byName.lookup(name.drop_back(!name.empty())));
    append_range(inputs, byStem.lookup(getStem(name, false).rest));
    sort(inputs);
    inputs.erase(llvm::unique(inputs), inputs.end());
  }
  erase_if(inputs,
           [&](unsigned input) { return !names.arePaired(op, input, output); });
  return inputs;
}
