"""See whether a mechanism's law is the law of its runs: what is told exactly rests on it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

from scipy import special

from pdpaudit.audit.arms import Arm
from pdpaudit.audit.telling import Run
from pdpaudit.contracts import Law
from pdpaudit.outputs import Record, flatten
from pdpaudit.sampling import draw

__all__ = ["disagreement"]

#: Runs a side where many are drawn at once, and where they are drawn one by one: these in pieces,
#: as long as they take no more than so many seconds.
AT_ONCE, ONE_BY_ONE, PIECE, SECONDS = 1000, 100, 10, 2.0

#: The most probable outputs of the law, and the most frequent ones of the runs, that are compared.
COMPARED = 20

#: Chance that a law that is right is said to be wrong.
FALSE_ALARM = 1e-9


def disagreement(run: Run, arm: Arm, laws: tuple[Law, Law]) -> str:
    """Return how the runs on a pair contradict the law, in words; empty where they do not.

    A law that is right is contradicted with probability at most 1e-9: each count is held against
    its binomial law, Bonferroni. A law that is slightly wrong may well pass: this is a check of
    what is told exactly, not a verdict. Real values are not compared.

    Parameters
    ----------
    run : Run
        What is audited.
    arm : Arm
        The pair.
    laws : pair of Law
        Of its left and its right.

    Raises
    ------
    Misbehaviour
        If the runs cannot be had.
    """
    for side, law, instance in zip(("left", "right"), laws, arm.inputs(), strict=True):
        counts, runs = _counted(run, side, instance)
        odd = _contradiction(law, counts, runs)
        if odd:
            return f"on the {side}: its law and its runs disagree: {odd}"
    return ""


def _counted(run: Run, side: str, instance: Any) -> tuple[Counter[Record], int]:
    """Draw, and return how often each output came up, and in how many runs."""
    batched = callable(getattr(run.mechanism, "sample", None))
    size, piece = (AT_ONCE, AT_ONCE) if batched else (ONE_BY_ONE, PIECE)
    counts, runs, began = Counter[Record](), 0, time.monotonic()
    while runs < size and time.monotonic() - began < SECONDS:
        key = ("agree", side, runs)
        draws = draw(run.mechanism, instance, piece, seed=run.plan.seed, key=key)
        if draws.arrays:
            return Counter(), 0
        counts.update(draws.counts)
        runs += piece
    return counts, runs


def _contradiction(law: Law, counts: Mapping[Record, int], runs: int) -> str:
    known = {flatten(output): chance for output, chance in law.probabilities.items()}
    likely = sorted(known, key=lambda output: -known[output])[:COMPARED]
    frequent = sorted(counts, key=lambda output: -counts[output])[:COMPARED]
    level = FALSE_ALARM / (2 * 2 * (2 * COMPARED + 1))  # two sides, and two tails of each count
    unknown = {output: times for output, times in counts.items() if output not in known}
    times = sum(unknown.values())
    if times and special.bdtrc(times - 1, runs, min(law.missing + FALSE_ALARM, 1.0)) < level:
        first = next(iter(unknown))
        return f"{times} of {runs} runs gave what the law leaves out, such as {first!r}"
    for output in dict.fromkeys([*likely, *(o for o in frequent if o in known)]):
        times, chance = counts.get(output, 0), float(known[output])
        least, most = (chance * (1 + way * law.error) for way in (-1, 1))
        most = min(most + law.missing, 1.0)
        few = special.bdtr(times, runs, max(least, 0.0))
        many = special.bdtrc(times - 1, runs, most) if times else 1.0
        if min(few, many) < level:
            told = f"{output!r} has probability {chance:.6g} by the law"
            return f"{told}, and came up in {times} of {runs} runs"
    return ""
