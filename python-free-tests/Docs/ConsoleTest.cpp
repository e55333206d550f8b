// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Runs the pages. A block with a title is written to a file of that name. In a
// ```console block, bash runs each line `$ COMMAND` in the scratch folder of
// the page, and the lines after it are the expected output (see Pages.h for
// wildcards). A command that ends with a status other than 0 fails.
//
// With ADZE_UPDATE_DOCS=1, different output is written to the page instead.
#include "Pages.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <map>

using namespace llvm;
using namespace adze::docs;

namespace {

/// A command of a console block and its expected output.
struct Command {
  std::string text;
  std::vector<std::string> output;
  unsigned line;
};

std::vector<Command> commandsOf(const Block &block) {
  std::vector<Command> commands;
  for (auto [number, text] : enumerate(block.lines)) {
    StringRef line = text;
    if (line.consume_front("$ "))
      commands.push_back({line.str(), {}, block.line + 1 + unsigned(number)});
    else if (commands.empty())
      ADD_FAILURE() << "line " << block.line << ": expected a line `$ COMMAND`";
    else if (line.consume_front("> ") && commands.back().output.empty())
      commands.back().text += ("\n" + line).str();
    else
      commands.back().output.push_back(line.str());
  }
  return commands;
}

/// Creates a folder for a page. A page of examples/NAME has its files there and
/// the other examples next to it; any other page has the contents of the root
/// of the source tree.
class Scratch {
public:
  explicit Scratch(const Page &page) {
    top = ADZE_SCRATCH "/";
    for (char c : page.path)
      top += isAlnum(c) ? c : '-';
    folder = top;
    sys::fs::remove_directories(top);
    StringRef example = page.path;
    if (example.consume_front("examples/") && example.contains('/')) {
      example = example.split('/').first;
      folder += "/" + example.str();
      sys::fs::create_directories(folder);
      linkAll("/examples", top, example);
      linkAll("/examples/" + example, folder, "");
    } else {
      sys::fs::create_directories(folder);
      for (StringRef name : {"benchmarks", "docs", "examples", "runtime"})
        sys::fs::create_link(ADZE_SOURCE "/" + name, folder + "/" + name);
    }
  }

  ~Scratch() {
    if (!testing::Test::HasFailure())
      sys::fs::remove_directories(top);
  }

  void write(const Block &block) {
    std::error_code error;
    raw_fd_ostream file(folder + "/" + block.title, error);
    ASSERT_FALSE(error) << block.title << ": " << error.message();
    file << block.text();
  }

  /// Runs a command; `output` gets the lines of its output and errors.
  int run(StringRef command, std::vector<std::string> &output) {
    std::string log = folder + "/.output";
    std::string script = "cd '" + folder + "' && { " + command.str() + "\n}";
    std::string bash = *sys::findProgramByName("bash");
    std::optional<StringRef> redirects[] = {StringRef(""), StringRef(log),
                                            StringRef(log)};
    std::string message;
    int status =
        sys::ExecuteAndWait(bash, {"bash", "-c", script}, std::nullopt,
                            redirects, /*SecondsToWait=*/120, 0, &message);
    auto buffer = MemoryBuffer::getFile(log);
    StringRef text = buffer ? (*buffer)->getBuffer() : StringRef(message);
    SmallVector<StringRef> lines;
    if (!text.empty())
      text.rtrim('\n').split(lines, '\n');
    for (StringRef line : lines)
      output.push_back(line.str());
    sys::fs::remove(log);
    return status;
  }

private:
  /// Links the contents of a folder of the source tree, except for `left`.
  static void linkAll(const Twine &from, const std::string &to,
                      StringRef left) {
    std::error_code error;
    for (sys::fs::directory_iterator it(ADZE_SOURCE + from, error), end;
         it != end && !error; it.increment(error))
      if (StringRef name = sys::path::filename(it->path()); name != left)
        sys::fs::create_link(it->path(), to + "/" + name);
  }

  std::string top;    // everything that is removed at the end
  std::string folder; // the working directory of commands
};

/// Sets the variables that docs/start.md exports, which installs to the folder
/// $HOME/adze: no page needs more.
void setEnvironment() {
  static const std::string path =
      getenv("PATH") + std::string(":" ADZE_SCRATCH "/bin");
  setenv("PATH", path.c_str(), 1);
  constexpr StringLiteral folder = "$HOME/adze";
  unsigned numExported = 0;
  for (StringRef line : readPage(ADZE_SOURCE, "docs/start.md").lines) {
    if (!line.consume_front("$ export "))
      continue;
    for (StringRef word : split(line, ' ')) {
      auto [name, text] = word.split('=');
      std::string value = text.str();
      for (auto [from, to] : {std::pair(folder, std::string(ADZE_PREFIX)),
                              std::pair(StringLiteral("$PATH"), path)})
        if (size_t at = value.find(from); at != std::string::npos)
          value.replace(at, from.size(), to);
      setenv(name.str().c_str(), value.c_str(), 1);
      ++numExported;
    }
  }
  ASSERT_GT(numExported, 0u);
  setenv("NO_COLOR", "1", 1);
}

/// New output of commands, by the line of the command.
using Updates = std::map<unsigned, std::pair<size_t, std::vector<std::string>>>;

void runBlock(Scratch &scratch, const Page &page, const Block &block,
              Updates &updates) {
  for (const Command &command : commandsOf(block)) {
    std::vector<std::string> got;
    int status = scratch.run(command.text, got);
    bool fits = matches(command.output, got);
    if (!fits && getenv("ADZE_UPDATE_DOCS"))
      updates[command.line + unsigned(StringRef(command.text).count('\n'))] = {
          command.output.size(), got};
    else
      EXPECT_TRUE(fits) << page.path << ":" << command.line << ": $ "
                        << command.text << "\nexpected:\n"
                        << join(command.output, "\n") << "\nbut got:\n"
                        << join(got, "\n");
    EXPECT_EQ(status, 0) << page.path << ":" << command.line << ": $ "
                         << command.text << "\n"
                         << join(got, "\n");
  }
}

void rewrite(const Page &page, const Updates &updates) {
  std::error_code error;
  raw_fd_ostream file(ADZE_SOURCE "/" + page.path, error);
  size_t skip = 0;
  for (auto [number, line] : enumerate(page.lines)) {
    if (skip) {
      --skip;
      continue;
    }
    file << line << (number + 1 == page.lines.size() ? "" : "\n");
    auto it = updates.find(unsigned(number + 1));
    if (it == updates.end())
      continue;
    skip = it->second.first;
    for (const std::string &output : it->second.second)
      file << output << "\n";
  }
}

class ConsoleTest : public testing::TestWithParam<std::string> {};

TEST_P(ConsoleTest, CommandsPrintWhatThePageSays) {
  Page page = readPage(ADZE_SOURCE, GetParam());
  setEnvironment();
  Scratch scratch(page);
  Updates updates;
  for (const Block &block : page.blocks) {
    // A command that never runs would become stale.
    EXPECT_FALSE(StringRef(block.language) == "sh" || block.language == "bash")
        << page.path << ":" << block.line << ": expected a console block";
    std::vector<std::string> ignored;
    if (!block.needs.empty() && scratch.run(block.needs, ignored) != 0)
      continue;
    if (!block.title.empty())
      scratch.write(block);
    else if (block.language == "console")
      runBlock(scratch, page, block, updates);
  }
  if (!updates.empty())
    rewrite(page, updates);
}

INSTANTIATE_TEST_SUITE_P(Pages, ConsoleTest, testing::ValuesIn([] {
                           std::vector<std::string> pages =
                               findPages(ADZE_SOURCE);
                           llvm::erase_if(pages, [](const std::string &path) {
                             return llvm::none_of(
                                 readPage(ADZE_SOURCE, path).blocks,
                                 [](const Block &block) {
                                   return block.language == "console";
                                 });
                           });
                           return pages;
                         }()),
                         [](const auto &info) {
                           std::string name;
                           for (char c : info.param)
                             name += isAlnum(c) ? c : '_';
                           return name;
                         });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ConsoleTest);

/// Declarations that fragments in C use.
constexpr StringLiteral kFragmentPrelude = R"(
#include "adze.h"
#include "adze_generate.h"
#include <stdio.h>
extern adze_module *module;
extern adze_sequence *sequence;
extern DLTensor x, y;
extern int64_t prompt[];
extern size_t count;
void check(adze_status status);
int print(void *user, adze_sequence *sequence, adze_event event, int64_t token, float logprob);
void fragment(void);
void fragment(void) {
)";

/// Blocks in C without a title are the body of a function.
TEST(Pages, FragmentsInCCompile) {
  setEnvironment();
  unsigned numFragments = 0;
  for (const std::string &path : findPages(ADZE_SOURCE)) {
    Page page = readPage(ADZE_SOURCE, path);
    for (const Block &block : page.blocks) {
      if (block.language != "c" || !block.title.empty())
        continue;
      ++numFragments;
      Scratch scratch(page);
      Block program = block;
      program.title = "fragment.c";
      program.lines.insert(program.lines.begin(), kFragmentPrelude.str());
      program.lines.push_back("}");
      scratch.write(program);
      std::vector<std::string> output;
      EXPECT_EQ(scratch.run("cc -std=c11 -Wall -Werror -fsyntax-only "
                            "-I" ADZE_PREFIX "/include fragment.c",
                            output),
                0)
          << path << ":" << block.line << "\n"
          << join(output, "\n");
    }
  }
  EXPECT_GT(numFragments, 0u);
}

TEST(Pages, ReadmeCountsOperatorsOfMicrosoft) {
  unsigned count = 0;
  bool isTheirs = false;
  for (StringRef line : readPage(ADZE_SOURCE, "docs/OpSupport.md").lines) {
    if (line.starts_with("## "))
      isTheirs = line == "## com.microsoft";
    if (isTheirs && line.starts_with("| ") && !line.starts_with("| operator"))
      ++count;
  }
  std::string claim = "and " + std::to_string(count) + " of com.microsoft: ";
  EXPECT_TRUE(
      llvm::any_of(readPage(ADZE_SOURCE, "README.md").lines,
                   [&](StringRef line) { return line.contains(claim); }))
      << "expected README.md to say '" << claim << "'";
}

TEST(Pages, WildcardsStandForTextAndLines) {
  auto fits = [](std::vector<std::string> expected,
                 std::vector<std::string> got) {
    return matches(expected, got);
  };
  EXPECT_TRUE(fits({"a ... c", "..."}, {"a b c"}));
  EXPECT_TRUE(fits({"...", "z"}, {"x", "y", "z"}));
  EXPECT_FALSE(fits({"...", "z"}, {"x", "y"}));
  EXPECT_FALSE(fits({"a ... c"}, {"a b d"}));
  EXPECT_FALSE(fits({"a"}, {"a", "b"}));
  EXPECT_FALSE(fits({}, {"a"}));
  EXPECT_FALSE(fits({"aa...aa"}, {"aaa"}));
}

} // namespace
