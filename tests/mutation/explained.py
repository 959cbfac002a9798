"""Why a mutant that no test notices is no gap: what it changes, and the reason.

A pattern is looked for in the line put in, or with ``=>`` in what is taken out and what is put in;
the first that fits is the reason. Patterns are as
narrow as the change, so that another change of the same line stays open.
"""

from __future__ import annotations

import re

__all__ = ["REASONS", "reason"]

#: Pattern, reason.
REASONS: tuple[tuple[str, str], ...] = (
    (
        r"dtype=None|astype\(None\)|np\.(asarray|array|zeros)\([^()]*, \)"
        r"|np\.(asarray|array)\((np\.log|total - np\.log|np\.sin).*, \)$|digits @ powers, \)",
        "the same numbers: None, or nothing, stands for float64 or for the type of what comes in",
    ),
    (
        r"^dtype=np\.float64, \) => \)$",
        "the same numbers: None, or nothing, stands for float64 or for the type of what comes in",
    ),
    (
        r"argsort\(values, (kind=None)?\)",
        "of equal p-values any may come first: the larger factor holds for all of them",
    ),
    (r"distinct\.tolist\(\)\], \)$", "the same numbers: a list of floats is float64"),
    (r"reshape\(rows\[1\]\.shape\)", "all four have one shape"),
    (
        r"/ 2 - \(right - left\) / 2 \* nodes",
        "the nodes lie alike on either side of the middle",
    ),
    (
        r"np\.minimum\(theta \* q \+ delta, 2\.0\)",
        "q is kept where p is at most 1",
    ),
    (
        r"1e-6\), 0, (None|n \+ 2)\)$|\(high < 1\.0\), n \+ 2\.0",
        "more than n + 1 hits are as impossible as n + 1",
    ),
    (r"1e-6\), None, n \+ 1\)$", "all counts reach a number below 0, as they reach 0"),
    (
        r"np\.clip\(theta \* q \+ delta, None, ",
        "theta is at least 1 and q at the floor already",
    ),
    (r"found = _by_features", "the first that is added to an empty list"),
    (
        r"kind=\"STABLE\"",
        "another spelling of the same sort",
    ),
    (
        r"argsort\(-expected, (kind=None)?\)\[:EACH\]",
        "any may be kept of events that promise the same",
    ),
    (
        r"table\[2 \* first : 3 \* first \+ 2\]|table\[2 \* second : 3 \* second \+ 2\]",
        "there is no fifth row",
    ),
    (
        r"zip\(finite.outputs, .*\.tolist\(\), (strict=(None|False))?\)",
        "guards against a slip: both always have one length",
    ),
    (
        r"if \(events\) or True else",
        "never empty: of two vertices one may stand before the other",
    ),
    (r"np\.bincount\(codes, weights=row, \)", "every code occurs, the greatest one too"),
    (r"^2\.0,$", "no bound is above 0 where all on the other side are hits"),
    (r"if z < 0:", "at 0 the limit is no number, which gives 0 too"),
    (r"InputError\(", "wording of a refusal; that it is refused is tested"),
    (r"AssertionError\(", "wording of what cannot happen"),
    (r"errstate", "a warning that would be an error under pytest is not raised on this path"),
    (r"rejected\[standing\] = None", "None is stored as False in an array of truth values"),
    (
        r"max\(len\(claimed\), 2\)|ErrorBudget\(alpha, \)",
        "only checks alpha; the count is never read",
    ),
    (
        r"np\.where\(shown, excess, 2\.0\)|np\.minimum\(other_hits, other_draws \+ 1\.0\)",
        "stands in where the result is not used",
    ),
    (r"strict=None|zip\(\*lists, \)", "False is what None, or nothing, stands for"),
    (r"total = int\(self\.inside", "the first that is added to 0"),
    (r"^rows = None$", "then outputs are counted one by one: slower, the same"),
    (r"fromiter\(.*dtype=np\.int64, \)", "the length only saves memory"),
    (r"len\(edges\) < FEW_EDGES", "comparing and searching find the same cells"),
    (r"np\.where\(bound <= 0, bound / ", "0 divided by its error is 0"),
    (
        r"log_capital\(.*\) > needed|if det < 1e-9|abs\(moved\) <= 1e-3"
        r"|theta \* b / root >= second|supremum\(epsilon\)\[0\] < test"
        r"|\* m < math\.exp\(epsilon\) \* y:",
        "differs only where two computed numbers are equal to the last digit",
    ),
    (r"sum\(\(curve\..* for curve in curves\), \)", "sums start from 0 instead of an array of 0"),
    (
        r"noise - 1e-12",
        "changes a variance, which is never 0, by a millionth of a millionth",
    ),
    (
        r"np\.clip\(both - one, None, 1\.0\)",
        "ratios end at about 1e12, far from where the floor of 1e-300 is reached",
    ),
)


def reason(change: list[str]) -> str | None:
    """Return why a change is no gap, or None where nothing is known."""
    out, put_in = (
        " ".join(line[1:].strip() for line in change if line.startswith(sign)) for sign in "-+"
    )
    for pattern, why in REASONS:
        if re.search(pattern, f"{out} => {put_in}" if "=>" in pattern else put_in):
            return why
    return None
