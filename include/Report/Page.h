// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The page that shows a report of the compiler, a profile, or both. It does not
// depend on LLVM, as arun writes it, too.
#ifndef ADZE_REPORT_PAGE_H
#define ADZE_REPORT_PAGE_H

#include <string>
#include <string_view>

namespace adze {

/// Returns one self-contained HTML file. `report` is what `atranslate
/// --report=FILE.json` writes, `profile` what `arun` measured (docs/guides/
/// profiling.md has both); either may be empty.
std::string makeReportPage(std::string_view title, std::string_view report,
                           std::string_view profile);

} // namespace adze

#endif // ADZE_REPORT_PAGE_H
