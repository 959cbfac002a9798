"""Why a mutant that no test notices is no gap: what it changes, and the reason.

A pattern is looked for in the line put in; the first that fits is the reason.
"""

from __future__ import annotations

import re

__all__ = ["REASONS", "reason"]

#: Pattern, reason.
REASONS: tuple[tuple[str, str], ...] = (
    (
        r"dtype=None|(asarray|np\.array|np\.zeros)\([^()]*, \)|astype\(None\)|STAKES.size\), \)",
        "the same numbers: None, or nothing, stands for float64 or for the type of what comes in",
    ),
    (
        r"kind=(None|\"STABLE\")|argsort\([^()]*, \)",
        "ties only, in samples where the order of equals is free",
    ),
    (r"InputError\(", "wording of a refusal; that it is refused is tested"),
    (r"errstate", "a warning that would be an error under pytest is not raised on this path"),
    (r"rejected\[standing\] = None", "None is stored as False in an array of truth values"),
    (
        r"max\(len\(claimed\), 2\)|ErrorBudget\(alpha, \)",
        "only checks alpha; the count is never read",
    ),
    (r"1\.0\)$|2\.0\)$", "stands in where the result is not used"),
)


def reason(change: list[str]) -> str | None:
    """Return why a change is no gap, or None where nothing is known."""
    put_in = " ".join(line[1:].strip() for line in change if line.startswith("+"))
    return next((why for pattern, why in REASONS if re.search(pattern, put_in)), None)
