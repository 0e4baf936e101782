// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/page.h"

#include "parallel/base/text.h"
#include "trainer/report/markup.h"
#include "trainer/report/style_sheet.h"

namespace brigade::report {
namespace {

/// Switches between light and dark; the button appears only where this runs.
constexpr std::string_view kScript = R"js(
(function () {
  var root = document.documentElement, button = document.getElementById("theme");
  var dark = function () {
    return root.dataset.theme ? root.dataset.theme === "dark"
                              : matchMedia("(prefers-color-scheme: dark)").matches;
  };
  var show = function () { button.textContent = dark() ? "Light" : "Dark"; };
  button.hidden = false;
  button.addEventListener("click", function () {
    root.dataset.theme = dark() ? "light" : "dark";
    show();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  show();
})();
)js";

}  // namespace

std::string to_html(const Page& page) {
  std::string links;
  std::string body;
  for (const Section& section : page.sections) {
    if (!section.html.empty()) {
      links += concat("<li><a href=\"#", section.id, "\">", escaped(section.heading), "</a></li>");
      body += concat("<section id=\"",
                     section.id,
                     "\"><h2>",
                     escaped(section.heading),
                     "</h2>\n",
                     section.html,
                     "</section>\n");
    }
  }
  return concat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" "
      "href=\"data:,\">\n<title>",
      escaped(page.title),
      "</title>\n<style>",
      style_sheet(),
      "</style>\n</head>\n<body>\n",
      hatchings(),
      "<div class=\"page\">\n<header>",
      page.header,
      "<nav aria-label=\"Sections\"><ul>",
      links,
      "</ul><button id=\"theme\" type=\"button\" hidden>Dark</button></nav></header>\n<main>\n",
      body,
      "</main>\n<footer>",
      page.footer,
      "</footer>\n</div>\n<script>",
      kScript,
      "</script>\n</body>\n</html>\n");
}

}  // namespace brigade::report
