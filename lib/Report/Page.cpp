// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The page with its data in it.
#include "Report/Page.h"

namespace adze {

/// The parts of page/page.html around its title and its data, with the style
/// and the scripts in them: made by embed.cmake.
extern const char reportPageBegin[], reportPageMiddle[], reportPageEnd[];

/// Appends text in which `<` and `&` are characters of the page.
static void addEscaped(std::string &page, std::string_view text) {
  for (char c : text) {
    if (c == '<')
      page += "&lt;";
    else if (c == '&')
      page += "&amp;";
    else
      page += c;
  }
}

/// Appends an element with JSON. `<` occurs in strings only, where an escape
/// means the same: no text of a model ends the element.
static void addData(std::string &page, const char *id, std::string_view json) {
  page += "<script type=\"application/json\" id=\"";
  page += id;
  page += "\">";
  if (json.empty())
    page += "null";
  for (char c : json) {
    if (c == '<')
      page += "\\u003c";
    else
      page += c;
  }
  page += "</script>\n";
}

std::string makeReportPage(std::string_view title, std::string_view report,
                           std::string_view profile) {
  std::string page = reportPageBegin;
  addEscaped(page, title);
  page += reportPageMiddle;
  addData(page, "report-data", report);
  addData(page, "profile-data", profile);
  return page + reportPageEnd;
}

} // namespace adze
