// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Reads and writes the measurements of autotuning.
#include "Pipeline/TuneDatabase.h"
#include "Support/OutputFile.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using llvm::StringRef;

namespace adze {

static llvm::Error makeError(StringRef path, const llvm::Twine &message) {
  return llvm::createStringError(path + ": " + message);
}

llvm::Error TuneDatabase::read(StringRef path) {
  if (path.empty())
    return llvm::Error::success();
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (file.getError() == std::errc::no_such_file_or_directory)
    return llvm::Error::success();
  if (!file)
    return makeError(path, file.getError().message());
  auto value = llvm::json::parse((*file)->getBuffer());
  if (!value) {
    llvm::consumeError(value.takeError());
    return makeError(path, "expected a tuning log in JSON");
  }
  const llvm::json::Object *root = value->getAsObject();
  const llvm::json::Object *list = root ? root->getObject("entries") : nullptr;
  if (!list)
    return makeError(path, "expected an object with 'entries'");
  for (const auto &[key, item] : *list) {
    const llvm::json::Object *object = item.getAsObject();
    const llvm::json::Object *parameters =
        object ? object->getObject("parameters") : nullptr;
    if (!parameters)
      return makeError(path, "expected 'parameters' of entry '" +
                                 StringRef(key) + "'");
    TuneEntry entry;
    entry.kernel = object->getString("kernel").value_or("").str();
    entry.schedule = object->getString("schedule").value_or("").str();
    entry.nanoseconds = object->getNumber("ns").value_or(0);
    for (const auto &[name, number] : *parameters) {
      auto integer = number.getAsInteger();
      if (!integer)
        return makeError(path, "expected an integer for '" + StringRef(name) +
                                   "' of entry '" + StringRef(key) + "'");
      entry.parameters[StringRef(name).str()] = *integer;
    }
    entries[StringRef(key).str()] = std::move(entry);
  }
  return llvm::Error::success();
}

llvm::Error TuneDatabase::write(StringRef path) const {
  if (path.empty() || !isChanged)
    return llvm::Error::success();
  auto print = [&](llvm::raw_ostream &os) -> llvm::Error {
    llvm::json::OStream json(os, /*IndentSize=*/1);
    json.object([&] {
      json.attribute("version", 1);
      json.attributeObject("entries", [&] {
        for (const auto &[key, entry] : entries)
          json.attributeObject(key, [&, &entry = entry] {
            json.attribute("kernel", entry.kernel);
            json.attribute("ns", entry.nanoseconds);
            json.attributeObject("parameters", [&] {
              for (const auto &[name, value] : entry.parameters)
                json.attribute(name, value);
            });
            if (!entry.schedule.empty())
              json.attribute("schedule", entry.schedule);
          });
      });
    });
    os << "\n";
    return llvm::Error::success();
  };
  if (llvm::Error error = writeOutput(path, print))
    return makeError(path, llvm::toString(std::move(error)));
  return llvm::Error::success();
}

} // namespace adze
