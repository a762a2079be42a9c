"""The page in a real browser: nothing sticks out of it, and light and dark differ."""

import html
import json
import os
import re
import shutil
import subprocess

import pytest

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
WIDTHS = (380, 1200)
# The page has no script: a copy of it inside a frame of each width is measured from outside.
MEASURE = """
<script>
window.onload = () => {
  const found = {};
  for (const frame of document.querySelectorAll("iframe")) {
    const page = frame.contentDocument, root = page.documentElement, style = frame.contentWindow.getComputedStyle;
    const clip = node => { const box = node.getBoundingClientRect(); return [box.left, box.right, box.width]; };
    const label = page.querySelector("svg text");
    found[frame.width] = {
      width: root.clientWidth, needed: root.scrollWidth, background: style(page.body).backgroundColor,
      ink: style(page.body).color, label: style(label).fill, size: label.getBoundingClientRect().height,
      blocks: [...page.querySelectorAll("h1, h2, h3, p, dl, li, figure, pre, .scroll, summary")].map(clip),
      pictures: [...page.querySelectorAll("svg")].map(clip),
      colors: [...new Set([...page.querySelectorAll("svg path")].map(node => style(node).stroke))],
    };
  }
  document.body.replaceChildren(Object.assign(document.createElement("pre"), {textContent: JSON.stringify(found)}));
};
</script>
"""


@pytest.fixture(scope="module")
def measured(plain, tmp_path_factory):
    """What the browser says, by theme and width."""
    if BROWSER is None:
        pytest.skip("no Chromium or Chrome is installed")
    home = tmp_path_factory.mktemp("browser")
    # Everything unfolded: what is hidden cannot stick out.
    text = html.escape(re.sub("<details[^>]*", r"\g<0> open", plain("many").source))
    frames = "".join(f'<iframe width="{width}" height="900" srcdoc="{text}"></iframe>' for width in WIDTHS)
    (home / "frames.html").write_text(f'<!DOCTYPE html><meta charset="utf-8"><body>{frames}{MEASURE}', encoding="utf-8")
    found = {}
    # A sanitizer that is preloaded into Python is not for the browser.
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    for theme, setting in (("dark", 0), ("light", 1)):
        command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", "--window-size=1700,1000"]
        command += [f"--user-data-dir={home / theme}", f"--blink-settings=preferredColorScheme={setting}"]
        command.append((home / "frames.html").as_uri())
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
        said = re.search("<pre>(.*?)</pre>", done.stdout, flags=re.DOTALL)
        assert said is not None, done.stderr[-2000:]
        found[theme] = json.loads(html.unescape(said[1]))
    return found


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_sticks_out(measured, theme, width):
    page = measured[theme][str(width)]
    assert page["width"] > width - 30
    assert page["needed"] <= page["width"]
    for left, right, _ in page["blocks"]:
        assert left >= 0
        assert right <= page["width"] + 0.5
    assert len(page["pictures"]) == 23
    assert min(picture[2] for picture in page["pictures"]) > 0.85 * min(page["width"], 400)
    assert page["size"] > 9  # a label is legible on a phone too


def test_light_and_dark_are_light_and_dark(measured):
    for width in map(str, WIDTHS):
        light, dark = measured["light"][width], measured["dark"][width]
        assert brightness(light["background"]) > 200 > 90 > brightness(light["ink"])
        assert brightness(dark["background"]) < 50 < 200 < brightness(dark["ink"])
        for page in (light, dark):
            assert page["label"] == page["ink"]
        drawn = set(light["colors"]) & set(dark["colors"])
        assert drawn <= {"none"}


def brightness(color):
    return sum(int(part) for part in re.findall(r"\d+", color)[:3]) / 3
