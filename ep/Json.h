// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// A reader of JSON.
#ifndef ADZE_EP_JSON_H
#define ADZE_EP_JSON_H

#include <string>
#include <utility>
#include <vector>

namespace adze::ep {

struct Json {
  enum class Kind { Null, Bool, Number, Text, Array, Object };

  /// Returns the member of that name; a null value if there is none.
  const Json &operator[](const char *name) const;

  Kind kind = Kind::Null;
  double number = 0; ///< also 0 or 1 of a Bool
  std::string text;
  std::vector<Json> elements; ///< of an array, or the values of an object
  std::vector<std::string> names;
};

/// Parses a text; throws an Error with the offset if it is not JSON.
Json parseJson(const std::string &text);

} // namespace adze::ep

#endif // ADZE_EP_JSON_H
