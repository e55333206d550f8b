// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// A parser by recursive descent.
#include "Json.h"
#include "Api.h"
#include <cstdlib>
#include <cstring>

namespace adze::ep {

namespace {
class Parser {
public:
  explicit Parser(const std::string &text) : text(text) {}

  Json parse() {
    Json value = parseValue(0);
    skipSpace();
    if (at != text.size())
      fail();
    return value;
  }

private:
  [[noreturn]] void fail() const {
    throw Error("expected JSON, but got something else at byte " +
                std::to_string(at));
  }

  void skipSpace() {
    while (at < text.size() && strchr(" \t\r\n", text[at]))
      ++at;
  }

  bool take(char c) {
    skipSpace();
    if (at == text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }

  bool takeWord(const char *word) {
    skipSpace();
    if (text.compare(at, strlen(word), word) != 0)
      return false;
    at += strlen(word);
    return true;
  }

  Json parseValue(unsigned depth);
  Json parseNumber();
  std::string parseText();
  void parseEscape(std::string &result);

  const std::string &text;
  size_t at = 0;
};
} // namespace

Json Parser::parseValue(unsigned depth) {
  Json value;
  if (depth > 64)
    fail();
  if (take('{')) {
    value.kind = Json::Kind::Object;
    if (take('}'))
      return value;
    do {
      skipSpace();
      value.names.push_back(parseText());
      if (!take(':'))
        fail();
      value.elements.push_back(parseValue(depth + 1));
    } while (take(','));
    if (!take('}'))
      fail();
  } else if (take('[')) {
    value.kind = Json::Kind::Array;
    if (take(']'))
      return value;
    do
      value.elements.push_back(parseValue(depth + 1));
    while (take(','));
    if (!take(']'))
      fail();
  } else if (takeWord("true") || takeWord("false")) {
    value.kind = Json::Kind::Bool;
    value.number = text[at - 2] == 'u';
  } else if (takeWord("null")) {
    value.kind = Json::Kind::Null;
  } else if (at < text.size() && text[at] == '"') {
    value.kind = Json::Kind::Text;
    value.text = parseText();
  } else {
    value = parseNumber();
  }
  return value;
}

Json Parser::parseNumber() {
  Json value;
  value.kind = Json::Kind::Number;
  size_t length = strspn(text.c_str() + at, "+-.0123456789eE");
  char *end = nullptr;
  std::string word = text.substr(at, length);
  value.number = strtod(word.c_str(), &end);
  if (word.empty() || *end)
    fail();
  at += length;
  return value;
}

/// Escaped characters beyond ASCII become '?', since texts are only logged.
void Parser::parseEscape(std::string &result) {
  static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
  if (at == text.size())
    fail();
  char c = text[at++];
  if (c == 'u') {
    if (at + 4 > text.size())
      fail();
    long code = strtol(text.substr(at, 4).c_str(), nullptr, 16);
    at += 4;
    result.push_back(code < 128 ? static_cast<char>(code) : '?');
    return;
  }
  const char *found = strchr(from, c);
  if (!c || !found)
    fail();
  result.push_back(to[found - from]);
}

std::string Parser::parseText() {
  if (at == text.size() || text[at] != '"')
    fail();
  std::string result;
  for (++at; at < text.size() && text[at] != '"';) {
    char c = text[at++];
    if (c == '\\')
      parseEscape(result);
    else
      result.push_back(c);
  }
  if (at == text.size())
    fail();
  ++at;
  return result;
}

const Json &Json::operator[](const char *name) const {
  static const Json none;
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i] == name)
      return elements[i];
  return none;
}

Json parseJson(const std::string &text) { return Parser(text).parse(); }

} // namespace adze::ep
