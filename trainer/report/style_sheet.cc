// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/style_sheet.h"

#include "parallel/base/text.h"
#include "trainer/report/markup.h"
#include "trainer/report/palette.h"

namespace brigade::report {
namespace {

constexpr std::string_view kRules = R"css(
*{box-sizing:border-box}
html{background:var(--paper);color:var(--ink);-webkit-text-size-adjust:100%;
scroll-behavior:smooth}
body{margin:0;font:16px/1.6 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,
sans-serif}
.page{max-width:1192px;margin:0 auto;padding:56px 32px 40px}
header{margin-bottom:24px}
.eyebrow{margin:0 0 12px;color:var(--muted);font-size:14px;letter-spacing:.02em}
h1{margin:0 0 20px;max-width:30em;font-size:clamp(24px,3.4vw,38px);line-height:1.22;
font-weight:650;
letter-spacing:-.018em;text-wrap:balance;overflow-wrap:anywhere}
h2{margin:0 0 8px;font-size:24px;line-height:1.3;font-weight:650;letter-spacing:-.012em}
h3{margin:0;font-size:16px;line-height:1.4;font-weight:650}
p{margin:0 0 14px;max-width:46em;overflow-wrap:anywhere}
section{margin-top:72px}
section>p{color:var(--muted)}
.lead{max-width:44em;font-size:18px;color:var(--ink)}
a{color:var(--accent)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(168px,1fr));gap:16px;
margin:32px 0;padding:0}
.tile{padding:18px 20px;background:var(--surface);border:1px solid var(--rule);border-radius:12px}
.tile dt{color:var(--muted);font-size:14px;line-height:1.4}
.tile dd{margin:4px 0 0;font-size:28px;line-height:1.25;font-weight:650;letter-spacing:-.02em;
font-variant-numeric:tabular-nums}
.tile dd small{display:block;margin-top:2px;font-size:13px;line-height:1.4;font-weight:400;
letter-spacing:0;color:var(--muted)}
nav{display:flex;gap:16px;align-items:start;border-top:1px solid var(--rule);
border-bottom:1px solid var(--rule);padding:10px 0}
nav ul{display:flex;flex-wrap:wrap;gap:2px 20px;margin:0;padding:0;list-style:none;font-size:14px;
flex:1}
nav a{display:inline-block;padding:4px 0;color:var(--muted);text-decoration:none}
nav a:hover{color:var(--accent);text-decoration:underline}
button{font:inherit;font-size:14px;padding:3px 12px;border:1px solid var(--rule);
border-radius:999px;
background:var(--surface);color:var(--ink);cursor:pointer}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.figures{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:24px;margin-top:24px}
figure{min-width:0;margin:0;padding:20px 22px 16px;background:var(--surface);
border:1px solid var(--rule);border-radius:12px}
figure.full{grid-column:1/-1}
.figures+.figures,figure+figure.full{margin-top:0}
.chart{margin:10px 0 4px}
.chart svg{display:block;max-width:100%;height:auto}
.narrow{display:none}
.note{margin:6px 0 8px;font-size:13.5px;line-height:1.5;color:var(--muted)}
.legend{display:flex;flex-wrap:wrap;gap:4px 18px;margin:8px 0 0;padding:0;list-style:none;
font-size:13.5px;line-height:1.5}
.legend li{display:flex;align-items:center;gap:7px}
.key{flex:none;overflow:visible}
details{margin-top:8px}
summary{width:fit-content;padding:4px 0;color:var(--accent);font-size:14px;cursor:pointer;
list-style:none}
summary::-webkit-details-marker{display:none}
summary::before{content:"";display:inline-block;width:0;margin-right:8px;
border:4px solid transparent;
border-left:6px solid;border-right:0;transform-origin:40% 50%}
[open]>summary::before{transform:rotate(90deg)}
summary:hover{text-decoration:underline}
.more{margin:32px 0 4px}
.points{display:grid;grid-template-columns:repeat(auto-fill,minmax(210px,1fr));gap:0 24px}
.points>details{margin:0}
.points>[open]{grid-column:1/-1;padding-bottom:20px}
.scroll{overflow-x:auto;margin:8px 0}
table{border-collapse:collapse;min-width:min(100%,480px);font-size:14px;
line-height:1.45;font-variant-numeric:tabular-nums}
caption{padding:0 0 6px;text-align:left;color:var(--muted);font-size:13.5px}
th,td{padding:7px 18px 7px 0;border-bottom:1px solid var(--rule);text-align:left;
vertical-align:baseline;white-space:nowrap}
th:last-child,td:last-child{padding-right:2px}
thead th{color:var(--muted);font-weight:500;vertical-align:bottom}
tbody th{font-weight:500}
.n{text-align:right}
.save{margin:4px 0;font-size:14px}
.open{margin-top:24px;padding:8px 22px 16px;background:var(--surface);
border:1px solid var(--rule);border-radius:12px}
dl.facts{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:6px 28px;
margin:20px 0 0}
dl.facts dt{color:var(--muted)}
dl.facts dd{margin:0;overflow-wrap:anywhere;font-variant-numeric:tabular-nums}
code,pre{font-family:ui-monospace,"SF Mono",Menlo,Consolas,monospace;font-size:.92em}
pre{margin:8px 0 0;padding:12px 14px;overflow-x:auto;background:var(--paper);
border:1px solid var(--rule);border-radius:8px;line-height:1.5}
.failed{margin-top:20px;padding:16px 22px;background:var(--surface);border:1px solid var(--rule);
border-left:4px solid var(--alarm);border-radius:8px}
.failed p{margin:4px 0 0}
.aside{margin:20px 0 0;padding:2px 0 2px 18px;border-left:3px solid var(--accent);max-width:46em}
footer{margin-top:80px;padding-top:20px;border-top:1px solid var(--rule);color:var(--muted);
font-size:14px}
svg text{fill:var(--muted);paint-order:stroke;stroke:var(--surface);stroke-width:4px;
stroke-linejoin:round;font-size:12px;font-variant-numeric:tabular-nums}
svg .name{fill:var(--ink);font-weight:500}
svg .strong{fill:var(--ink)}
svg .cell{fill:var(--ink);font-size:11px;stroke:none}
.grid{stroke:var(--rule);stroke-width:1}
.base{stroke:var(--muted);stroke-width:1}
.line{fill:none;stroke:var(--hue);stroke-width:2;stroke-linejoin:round}
.model{fill:none;stroke:var(--hue);stroke-width:1.5;stroke-dasharray:6 4}
.reference{fill:none;stroke:var(--muted);stroke-width:1.5;stroke-dasharray:1 4;
stroke-linecap:round}
.bar{fill:none;stroke:var(--hue);stroke-width:1.5}
.stem{stroke:var(--hue);stroke-width:2;opacity:.45}
.dot{fill:var(--hue);stroke:var(--surface);stroke-width:1}
.plain{--hue:var(--muted)}
.hollow{fill:var(--surface);stroke:var(--hue);stroke-width:2}
.part{stroke:var(--surface);stroke-width:1}
@media (max-width:900px){
.page{padding:32px 16px 32px}
section{margin-top:56px}
.figures{grid-template-columns:minmax(0,1fr);gap:36px}
figure,.open{--surface:var(--paper);padding:0;background:none;border:0;border-radius:0}
.wide{display:none}
.narrow{display:block}
.narrow svg{width:100%;max-width:520px}
.tiles{grid-template-columns:repeat(2,minmax(0,1fr));gap:12px}
.tile{padding:14px 16px}
.tile dd{font-size:22px}
.lead{font-size:16px}
dl.facts{grid-template-columns:minmax(0,1fr);gap:0}
dl.facts dd{margin-bottom:10px}
}
@media print{
html{background:#fff}
.page{max-width:none;padding:0}
section{margin-top:28px}
figure,.tile,.failed{break-inside:avoid}
button,.save,summary{display:none}
.scroll{overflow:visible}
}
)css";

/// "--s0:#0072b2;..." of one theme.
std::string variables(Colour Shade::*theme) {
  std::string css;
  const auto add = [&](const std::string& name, const Shade& shade) {
    css += concat("--", name, ':', hex(shade.*theme), ';');
  };
  add("paper", kPaper);
  add("surface", kSurface);
  add("ink", kInk);
  add("muted", kMuted);
  add("rule", kRule);
  add("accent", kAccent);
  add("alarm", kAlarm);
  for (size_t i = 0; i < kLineShades.size(); ++i) {
    add(concat("s", i), kLineShades[i]);
  }
  for (size_t i = 0; i < kAreaShades.size(); ++i) {
    add(concat("c", i), kAreaShades[i]);
  }
  return css;
}

std::string classes() {
  std::string css;
  for (size_t i = 0; i < kLineShades.size(); ++i) {
    css += concat(".s", i, "{--hue:var(--s", i, ")}");
  }
  for (size_t i = 0; i < kAreaShades.size(); ++i) {
    css += is_hatched(i) ? concat(".c", i, "{fill:url(#hatch", i, ")}")
                         : concat(".c", i, "{fill:var(--c", i, ")}");
  }
  for (int step = 0; step <= 10; ++step) {
    css += concat(
        ".h", step, "{fill:var(--accent);fill-opacity:", exact(kHeatOpacity * step / 10), '}');
  }
  return css;
}

}  // namespace

std::string style_sheet() {
  const std::string light = concat("color-scheme:light;", variables(&Shade::light));
  const std::string dark = concat("color-scheme:dark;", variables(&Shade::dark));
  return concat("\n:root{",
                light,
                "}\n@media screen and (prefers-color-scheme:dark){:root:not([data-theme=light]){",
                dark,
                "}}\n@media screen{:root[data-theme=dark]{",
                dark,
                "}}\n",
                classes(),
                kRules);
}

std::string hatchings() {
  return "<svg width=\"0\" height=\"0\" style=\"position:absolute\" aria-hidden=\"true\"><defs>"
         "<pattern id=\"hatch5\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" "
         "patternTransform=\"rotate(45)\"><path d=\"M0,0V5\" "
         "style=\"stroke:var(--c5);stroke-width:4\"/></pattern>"
         "<pattern id=\"hatch8\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\">"
         "<path d=\"M1,1h1.6v1.6h-1.6z\" style=\"fill:var(--c8)\"/></pattern></defs></svg>\n";
}

}  // namespace brigade::report
