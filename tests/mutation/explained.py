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
        r"|np\.(asarray|array)\((np\.log|total - np\.log|np\.sin).*, \)$",
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
    (r"^2\.0,$", "no bound is above 0 where all on the other side are hits"),
    (r"np\.zeros\(\(p\.size, width \+ 2\)\)", "a column more, which is never looked at"),
    (r"take_along_axis\(reach, place, \)", "the last axis is the one that is taken by itself"),
    (
        r"gammaln\(self\.[nm] \+ 2\.0\)",
        "more is added for rounding than is needed, by a factor of about 1 + 1 / n: still a bound",
    ),
    (
        r"(after|before) = max\(1, |starts\.max\(\)\) \+ width \+ values\.size"
        r"|\(before or after\) or True",
        "more is filled up than is looked at",
    ),
    (r"stop - base < starts\.size", "of two ways to the same numbers, where both cost the same"),
    (r"np\.arange\(width, \)", "whole numbers become floats as soon as they are multiplied"),
    (r"np\.exp\(law, (out=None)?\)", "a copy instead of the same memory"),
    (
        r"\(begin < point\) & \(point <= end\)|\(begin <= point\) & \(point < end\)",
        "a point at an end is the end, whose cosine and sine are looked at already",
    ),
    (r"np\.minimum\(2 \* tall, 701\.0\)", "either is far too large for the ellipse to be chosen"),
    (r"np\.where\((most >=|least <=) 0, ", "0 times something is 0"),
    (
        r"zip\(_batches\(left\), _batches\(right\), |for a in kept\), ",
        "guards against a slip: both always have one length",
    ),
    (
        r"if crude_value < best:|if value >= best:",
        "differs only for a piece that ties with another: the bound is the same",
    ),
    (r"distance < 1e-5 \* enough", "differs only where two computed numbers are equal"),
    (
        r"if x < delta \* n or|if x <= delta / n or",
        "what this condition finds the next one finds too: x - delta n is then at most 0",
    ),
    (r"^theta = (None|np\.zeros_like\(None\))$", "only a place for what is put there at once"),
    (
        r"step in range\(BISECTIONS (- 1|\+ 2)\)",
        "one halving more or less of an interval that is down to its last digit",
    ),
    (
        r"hopeless = \(first < delta\)",
        "Wilson's limit of p is below p: the next condition finds it",
    ),
    (r"log_distance\.min\(axis=\+1\)", "the second axis is the last"),
    (r"step <= BISECTIONS:", "halves once more an interval that is not looked at again"),
    (
        r"slope \* theta >= theta \* q|\* \(end - second\) < \(1 - delta\)"
        r"|b / root <= second - 1e-12|_wilson_lower\(first, n, z\) < delta",
        "differs only where two computed numbers are equal to the last digit",
    ),
    (r"\(1 \+ z \* z / draws\), 2\.0\)", "Wilson's limit is at most 1 by itself"),
    (
        r"beyond = \(low > high\)",
        "where both ends are equal the curve's end is below too, or high is 1",
    ),
    (
        r"1e-6\), 1, n \+ 1\)",
        "no hits at all never speak against the hypothesis: the least count is 1 or more",
    ),
    (r"np\.clip\(1 - share, 0\.0, (None|2\.0)\)", "shares are not below 0"),
    (r"for _ in range\(61\)", "sixty doublings of a step are more than are ever made"),
    (r"optimize\.brentq\(excess, left, right, \)", "only a finer tolerance: a guess comes closer"),
    (
        r"_probit\(value\) <= 1e-3|refused - kept <= TOLERANCE|kept <= epsilon <= kept \+ TOLER",
        "differs only where two computed numbers are equal to the last digit",
    ),
    (r"attempt < 8 else -2\.0", "any number below 0 asks for halving"),
    (
        r"math\.log\(\([12]\.0 [-+] delta\) / q\) if",
        "the first probability is 1 there, and beyond: the same answer and the same root",
    ),
    (
        r"zip\((terms, weights|sizes, terms"
        r"|learnt, folds|weights, coded|atoms, w\[len\(edges\) \+ 1 : -1\]\.tolist\(\)), "
        r"(strict=(None|False))?\)",
        "guards against a slip: both always have one length",
    ),
    (r"zip\(side, starts, \)", "False is what None, or nothing, stands for"),
    (r"0\.9\]\)\.round\(7\)", "one digit more of a level that any near it would do for"),
    (
        r"searchsorted\(-points, -ends \+ 1e-9, \)",
        "differs only where a score is exactly a billionth away",
    ),
    (r"block_diag\(bases, (format=None)?\)", "the same matrix, stored in another way"),
    (r"asarray\(logs\[0\] - logs\[1\], \)", "the same numbers: they are float64 already"),
    (
        r"for curve in curves\), None\)",
        "the best three of either direction are enough to find the best three",
    ),
    (
        r"argsort\(-points, (kind=None)?\)",
        "runs of one score are cut together, in whatever order",
    ),
    (r"if \(len\(atoms\)\) or True else known", "nothing is taken out where nothing is common"),
    (
        r"detected &= middle >= low|still_open = high - low >= 1",
        "two guards keep finished entries still: either is enough",
    ),
    (r"shortfall\(most\) >= 0|shortfall\(0\.0\) < 0", "differs only where power is met exactly"),
    (r"brentq\(shortfall, 0\.0, most, \)", "only a finer tolerance"),
    (
        r"np\.arange\(max\(first, 0\.0\), last \+ 1, \)",
        "the same numbers: a float at one end makes all of them floats",
    ),
    (r"np\.full\(y\.shape, -2\.0\)", "no hits at all are never enough, and no search ends there"),
    (r"min\(high \+ step, n \+ 2\)", "more than n hits count as rejected, however many"),
    (
        r"estimate = None$|_log_ratio\(hits \* draws|np\.clip\(limit, 0\.0, None\)",
        "rounding alone lifts the limit past the plain estimate",
    ),
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
    (r"strict=None", "False is what None, or nothing, stands for"),
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
