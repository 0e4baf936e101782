# SPDX-License-Identifier: Apache-2.0
"""Pages of made-up studies in a real browser: page_browser_test.py CHROMIUM WRITE_SAMPLE_PAGES [SCREENSHOTS]

At 1280 and 390 pixels, light and dark: no complaint of the console and no request, nothing wider than the screen, no
label over another or cut off, and every number that names its place in scale.json is the one that stands there.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from browser import Browser

CHROMIUM, WRITE_SAMPLE_PAGES, SCREENSHOTS = "", "", ""
PAGES = ("two_ranks", "oversubscribed", "peers", "one_point", "all_failed", "empty")
SCREENS = [(width, dark) for width in (1280, 390) for dark in (False, True)]
MOST_BYTES = 2 << 20

OPEN_ALL = "for (const part of document.querySelectorAll('details')) part.open = true"

# Labels of each visible drawing that lie over each other, or beyond its edge.
LABELS = """(() => {
  const wrong = [];
  let seen = 0;
  for (const svg of document.querySelectorAll('svg[role=img]')) {
    const edge = svg.getBoundingClientRect();
    if (edge.width === 0) continue;
    const name = svg.getAttribute('aria-label');
    const boxes = [...svg.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]);
    seen += boxes.length;
    boxes.forEach(([text, a], i) => {
      if (a.left < edge.left - .5 || a.right > edge.right + .5 || a.top < edge.top - .5 || a.bottom > edge.bottom + .5)
        wrong.push(`${name}: ${text} is cut off`);
      for (const [other, b] of boxes.slice(i + 1))
        if (a.left < b.right - .5 && b.left < a.right - .5 && a.top < b.bottom - 1.5 && b.top < a.bottom - 1.5)
          wrong.push(`${name}: ${text} lies over ${other}`);
    });
  }
  return {wrong, seen};
})()"""

SIZES = """({page: document.documentElement.scrollWidth, screen: innerWidth,
  wide: [...document.querySelectorAll('main *, header *')].filter(e => !e.closest('.scroll, pre, svg') &&
    e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 80)).slice(0, 5)})"""

NUMBERS = """[...document.querySelectorAll('[data-from]')].map(e =>
  [e.dataset.from, Number(e.dataset.value), e.textContent])"""

ROWS = """[...document.querySelectorAll('#%s tbody tr')].map(row =>
  [...row.children].map(cell => cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value)))"""

ACCESS = """({lang: document.documentElement.lang,
  untitled: [...document.querySelectorAll('svg[role=img]')].filter(s => !s.querySelector('title').textContent ||
    !s.querySelector('desc').textContent).length,
  headless: [...document.querySelectorAll('table')].filter(t => !t.querySelector('thead th[scope=col]') ||
    !t.querySelector('caption').textContent).length,
  ids: (all => all.length - new Set(all).size)([...document.querySelectorAll('[id]')].map(e => e.id)),
  broken: [...document.querySelectorAll('nav a')].filter(a => !document.querySelector(a.getAttribute('href'))).length,
  small: [...document.querySelectorAll('svg[role=img] text')].map(t => [t.getBoundingClientRect().height]).filter(h =>
    h > 0 && h < 9).length})"""

PAPER = "getComputedStyle(document.documentElement).backgroundColor"


class PageInBrowser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="pages-")
        subprocess.run([WRITE_SAMPLE_PAGES, cls.folder.name], check=True, timeout=60)
        cls.browser = Browser(CHROMIUM)

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        cls.folder.cleanup()

    def path(self, name, suffix):
        return pathlib.Path(self.folder.name, name + suffix)

    def results(self, name):
        return json.loads(self.path(name, ".json").read_text())

    def open(self, name, width=1280, dark=False):
        page = self.browser.open(self.path(name, ".html").as_uri(), width, dark)
        self.addCleanup(page.close)
        return page

    def test_no_screen_complains_overlaps_or_scrolls_sideways(self):
        for name in PAGES:
            for width, dark in SCREENS:
                with self.subTest(page=name, width=width, dark=dark):
                    self.check_screen(name, width, dark)

    def check_screen(self, name, width, dark):
        page = self.open(name, width, dark)
        if SCREENSHOTS:
            page.screenshot(f"{SCREENSHOTS}/{name}-{width}-{'dark' if dark else 'light'}.png")
        page.evaluate(OPEN_ALL)
        labels = page.evaluate(LABELS)
        self.assertEqual(labels["wrong"], [])
        self.assertEqual(labels["seen"] > 0, name not in ("all_failed", "empty"))
        sizes = page.evaluate(SIZES)
        self.assertEqual(sizes["screen"], width)
        self.assertLessEqual(sizes["page"], width)
        self.assertEqual(sizes["wide"], [])
        self.assertEqual(page.complaints(), [])

    def test_light_and_dark_follow_the_reader_and_the_button(self):
        light, dark = self.open("two_ranks"), self.open("two_ranks", dark=True)
        self.assertGreater(_brightness(light.evaluate(PAPER)), 200)
        self.assertLess(_brightness(dark.evaluate(PAPER)), 50)
        light.evaluate("document.getElementById('theme').click()")
        self.assertLess(_brightness(light.evaluate(PAPER)), 50)

    def test_numbers_are_those_of_the_json(self):
        for name in PAGES:
            with self.subTest(page=name):
                results = self.results(name)
                page = self.open(name)
                page.evaluate(OPEN_ALL)
                numbers = page.evaluate(NUMBERS)
                self.assertEqual(len(numbers) > 20, name not in ("empty",))
                for place, value, text in numbers:
                    self.assertEqual(value, _at(results, place), place)
                    self.assertTrue(_shows(text, value), f"{place}: {text} for {value}")

    def test_speed_ups_follow_from_the_json(self):
        results = self.results("oversubscribed")
        rows = self.open("oversubscribed").evaluate(ROWS % "speed-up")
        expected = []
        for series in results["series"]:
            points = [results["points"][i] for i in series["points"]]
            base = points[0]
            for point in points:
                gain = point["tokens_per_s"]["value"] / base["tokens_per_s"]["value"]
                ratio = point["point"]["ranks"] / base["point"]["ranks"]
                expected.append((series["name"], point["point"]["ranks"], gain, gain / ratio))
        self.assertEqual([(row[0], row[2]) for row in rows], [(e[0], e[1]) for e in expected])
        for row, (_, _, gain, efficiency) in zip(rows, expected):
            self.assertAlmostEqual(row[6], gain, places=12)
            self.assertAlmostEqual(row[9], efficiency, places=12)

    def test_headline_names_the_best_point_that_is_not_oversubscribed(self):
        results = self.results("oversubscribed")
        best = max(
            (
                results["points"][i]["tokens_per_s"]["value"]
                / results["points"][s["points"][0]]["tokens_per_s"]["value"],
                s["name"],
            )
            for s in results["series"]
            for i in s["points"]
            if not results["points"][i]["point"]["oversubscribed"]
        )
        heading = self.open("oversubscribed").evaluate("document.querySelector('h1').textContent")
        self.assertIn(best[1], heading)
        self.assertIn(f" {best[0]:.2f} times ", heading)

    def test_oversubscribed_points_are_marked_in_tables_and_drawings(self):
        page = self.open("oversubscribed")
        bare = page.evaluate(
            """[...document.querySelectorAll('[data-from$="point/ranks"]')].filter(e =>
              Number(e.dataset.value) > 2 && !e.textContent.includes('†')).length"""
        )
        self.assertEqual(bare, 0)
        self.assertGreater(page.evaluate("document.querySelectorAll('#speed-up .chart.wide .dot.hollow').length"), 8)
        self.assertEqual(page.evaluate("document.querySelectorAll('#speed-up .chart.wide .dot:not(.hollow)').length"), 6)
        notes = page.evaluate("[...document.querySelectorAll('figure')].filter(f => "
                              "f.textContent.includes(' †') && !f.querySelector('.note')?.textContent.includes('†')).length")
        self.assertEqual(notes, 0)

    def test_failed_points_show_their_last_lines_as_text(self):
        results = self.results("all_failed")
        page = self.open("all_failed")
        lines = page.evaluate("[...document.querySelectorAll('.failed pre')].map(e => e.textContent)")
        self.assertEqual(lines, ["\n".join(point["last_lines"]) for point in results["points"]])
        self.assertIn("Nothing was measured", page.evaluate("document.querySelector('h1').textContent"))

    def test_pages_can_be_read_aloud_and_by_keyboard(self):
        for name in PAGES:
            with self.subTest(page=name):
                page = self.open(name, width=390)
                expected = {"lang": "en", "untitled": 0, "headless": 0, "ids": 0, "broken": 0, "small": 0}
                self.assertEqual(page.evaluate(ACCESS), expected)

    def test_each_figure_offers_its_numbers_as_a_file(self):
        page = self.open("two_ranks")
        files = page.evaluate("""[...document.querySelectorAll('figure')].map(f => {
          const link = f.querySelector('a.csv[download]');
          return link && link.href.startsWith('data:text/csv') && f.querySelectorAll('tbody tr').length ===
            decodeURIComponent(link.href).trim().split('\\r\\n').length - 1;
        })""")
        self.assertGreater(len(files), 8)
        self.assertTrue(all(files))

    def test_pages_are_small(self):
        for name in PAGES:
            self.assertLess(self.path(name, ".html").stat().st_size, MOST_BYTES)


def _at(json_value, place):
    for key in place.split("/"):
        json_value = json_value[int(key)] if isinstance(json_value, list) else json_value[key]
    return json_value


def _shows(text, value):
    """Whether `text` is `value`, rounded, in one of the units that pages use."""
    match = re.match(r"^(-?[\d,]+(\.\d+)?(e[-+]\d+)?)", text.replace("−", "-"))
    if match is None:
        return False
    digits = match[1].replace(",", "")
    decimals = len(match[2]) - 1 if match[2] else 0
    exponent = int(match[3][1:]) if match[3] else 0
    slack = 0.5000001 * 10.0 ** (exponent - decimals)
    return any(abs(float(digits) - value * unit) <= slack for unit in (1, 100, 1 / (1 << 20), 1e-9))


def _brightness(css):
    return sum(int(channel) for channel in re.findall(r"\d+", css)[:3]) / 3


if __name__ == "__main__":
    CHROMIUM, WRITE_SAMPLE_PAGES, *rest = sys.argv[1:]
    SCREENSHOTS = rest[0] if rest else ""
    unittest.main(argv=sys.argv[:1])
