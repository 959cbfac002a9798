"""Colours that stand out from what is behind them: WCAG 2.2, success criteria 1.4.3 and 1.4.11."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

STYLE = files("pdpaudit.report").joinpath("templates/style.css").read_text(encoding="utf-8")
LIGHT, DARK, PRINT = (
    dict(re.findall(r"--([\w]+): (#[0-9a-f]{6})", block))
    for block in re.findall(r":root \{(.*?)\}", STYLE, flags=re.DOTALL)
)
TEXT = ("ink", "soft", "link", "violated", "error", "inconclusive", "not_rejected", "certified",
        "skipped")  # fmt: skip
MARKS = ("focus", "targeted", "lost", "gained", "event", "purple", "sky")


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(
    "scheme", [LIGHT, DARK, {**LIGHT, **PRINT}], ids=["light", "dark", "print"]
)
def test_colours_stand_out(scheme: dict[str, str]) -> None:
    assert scheme.keys() == LIGHT.keys()
    for behind in ("paper", "wash"):
        for name in TEXT:
            assert contrast(scheme[name], scheme[behind]) >= 4.5, (name, behind)
    for name in MARKS:
        assert contrast(scheme[name], scheme["paper"]) >= 3.0, name
    # Text on the enlarged part of a drawing, and the focus ring, are on paper too.
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
