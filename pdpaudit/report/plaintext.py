"""Text from a user's file made safe to look at: nothing invisible, nothing endless."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

#: Characters of a name that are shown.
LONGEST_NAME = 60

#: Characters of a sentence that are shown.
LONGEST_SENTENCE = 1500

# C0 but tab and newline, DEL and C1; marks that turn the direction of writing; lone surrogates.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)

# Letters of the scripts written from right to left (Hebrew to Arabic Extended, their presentation
# forms, and the blocks beyond the basic plane).
_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    return f"\u27e8U+{code:04X}\u27e9"


def visible(text: str) -> str:
    r"""Replace control characters, marks of direction and lone surrogates by what can be seen."""
    return _UNSEEN.sub(_picture, text)


def clip(text: str, most: int = LONGEST_NAME) -> str:
    """Cut what is too long, and say how long it was."""
    return text if len(text) <= most else f"{text[:most]}\u2026 ({len(text):,} characters)"


# No word of ours is longer; what ends a sentence or a quotation after it is no part of it.
_ENDLESS = re.compile(rf"\S{{{LONGEST_NAME * 2},}}?(?=[^\w\s]{{0,3}}(?!\S))")


def on_terminal(text: str) -> str:
    r"""Return text that a terminal shows as it is: it moves no cursor and fills no screen."""
    lines = visible(text).split("\n")
    cut = (_ENDLESS.sub(lambda word: clip(word[0]), line) for line in lines)
    return "\n".join(clip(line, LONGEST_SENTENCE) for line in cut)


def isolate_names(text: str, names: Iterable[str]) -> list[tuple[str, bool]]:
    """Split a sentence where a name in it needs care: long, or written from right to left."""
    careful = {
        name
        for name in names
        if name in text and (len(name) > LONGEST_NAME or _RIGHT_TO_LEFT.search(name))
    }
    if not careful:
        return [(clip(text, LONGEST_SENTENCE), False)]
    longest_first = sorted(careful, key=lambda name: (-len(name), name))
    either = "|".join(map(re.escape, longest_first))
    pieces, left = [], LONGEST_SENTENCE
    for piece in re.split(rf"(?<!\w)({either})(?!\w)", text):
        if piece and left > 0:
            named = piece in careful
            shown = clip(piece, LONGEST_NAME if named else left)
            pieces.append((shown, named))
            left -= len(shown)
    return pieces


def spans(text: str) -> list[tuple[str, bool]]:
    """Split a paragraph into its pieces, and whether each is code."""
    pieces = re.split(r"`([^`\n]+)`", text)
    return [(piece, place % 2 == 1) for place, piece in enumerate(pieces) if piece]


def number(value: float | None, digits: int = 4) -> str:
    """Return a number with that many significant digits; a dash where there is none."""
    if value is None or math.isnan(value):
        return "-"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    return f"{value:.{digits}g}"


def nats(value: float | None) -> str:
    """Return a privacy loss: three decimals, more where it is small."""
    if value is None or math.isinf(value) or 0 < abs(value) < 0.001 or abs(value) >= 1e5:
        return number(value, 2 if value is not None and abs(value) < 0.001 else 4)
    return f"{value:.3f}"


def count(value: int) -> str:
    """Return a count."""
    return f"{value:,}"


def times(epsilon: float) -> str:
    """Return a privacy loss as a factor of likelihood."""
    if math.isinf(epsilon):
        return "infinitely many times"
    if epsilon > 700:
        return f"e^{epsilon:.6g} times"
    factor = math.exp(epsilon)
    if 1 < factor < 1.5:
        return f"{factor:.3f} times"  # what is claimed and what is found are this near
    return f"{factor:.1f} times" if factor < 1e5 else f"{factor:.1e} times"


def span(seconds: float) -> str:
    """Return a length of time."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 120:
        return f"{whole} s"
    if whole < 7200:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
