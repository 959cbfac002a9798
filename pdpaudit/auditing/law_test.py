"""Compare a mechanism's law with its runs on several pairs: what is exact rests on the law."""

from __future__ import annotations

import heapq
import math
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, zip_longest

import numpy as np
from scipy import special

from pdpaudit.auditing.candidate_pairs import CandidatePair, MeasuredPair
from pdpaudit.auditing.claim_results import AuditContext
from pdpaudit.core.errors import Misbehaviour, OutOfTime
from pdpaudit.core.protocols import CodedOutputs, Law, LawUnavailable
from pdpaudit.outputs import Draws, Record, equal_is_same, flatten, is_failure
from pdpaudit.outputs.columns import whole_of
from pdpaudit.outputs.draws import ROWS
from pdpaudit.outputs.words import shown
from pdpaudit.results.measurements import LawComparison
from pdpaudit.sampling import draw

#: Runs a side and pairs at most, where many runs are drawn at once, and where one by one.
AT_ONCE, ONE_BY_ONE = (1000, 16), (100, 6)

#: The most probable outputs of the law, and the most frequent ones of the runs, that are compared.
COMPARED = 20

#: Chance that a law that is right is said to be wrong, over all pairs; and that one that is off by
#: the `deviation` is not.
FALSE_ALARM, MISSED = 1e-9, 0.05


#: Share of the time limit after which no further pair is compared.
COMPARING = 0.6

#: Outputs of a law beyond which not all are looked at.
MANY = 10_000


class Incomparable(LawUnavailable):
    """Outputs that are real numbers, none of which a law can list."""


def compare_laws(
    context: AuditContext, found: Sequence[MeasuredPair], worst: Iterable[MeasuredPair]
) -> set[CandidatePair]:
    """Compare the laws of several pairs with runs; return the pairs where they disagree.

    Under a time limit the pairs that matter come first, with few runs: where there is no time for
    more, what is stated is what these would have shown. Raises OutOfTime if there is none for them.
    """
    batched = context.mechanism.has("sample")
    runs, most = AT_ONCE if batched else ONE_BY_ONE
    judged = list({id(one): one for one in worst}.values())
    pairs = pairs_to_compare(found, judged, most)
    wrong: set[CandidatePair] = set()
    if context.config.time_limit is not None:
        wrong = _compared(context, judged, judged, ONE_BY_ONE[0], context.until())
    try:
        return wrong or _compared(context, pairs, judged, runs, context.until(COMPARING))
    except OutOfTime:
        context.remark("the time limit left time to compare laws with few runs only")
        return wrong


def _compared(
    context: AuditContext,
    pairs: Sequence[MeasuredPair],
    judged: Sequence[MeasuredPair],
    runs: int,
    until: float,
) -> set[CandidatePair]:
    """Compare pairs, the judged ones first, until one disagrees; else keep what was compared."""
    level = _level(len(pairs))
    context.watcher.stage("comparing laws with runs", len(pairs))
    wrong: set[CandidatePair] = set()
    for number, one in enumerate(pairs):
        try:
            odd = _disagreement(context, one, number, runs, level, until)
        except OutOfTime:
            raise
        except Misbehaviour as error:
            odd = str(error)
        if odd:
            context.blocked.append(f"{one.candidate.label}, {odd}")
            wrong.add(one.candidate)
        if wrong and number + 1 >= len(judged):
            return wrong
        context.watcher.advance(1)
    which = Counter(one.candidate.label for one in pairs)
    context.compared.append(replace(comparison(len(pairs), runs), which=dict(which)))
    return wrong


def comparison(pairs: int, runs: int) -> LawComparison:
    """Return what a result says of a comparison: its size, and what it would have shown."""
    off = round(deviation(runs, _level(pairs)), 6)
    return LawComparison(pairs, runs, off)


def _level(pairs: int) -> float:
    """Return what each tail of each count may have: two sides of a pair, each with its counts."""
    return FALSE_ALARM / (pairs * 2 * (2 * 2 * COMPARED + 1))


def pairs_to_compare(
    found: Sequence[MeasuredPair], worst: Sequence[MeasuredPair], most: int
) -> list[MeasuredPair]:
    """Return pairs to compare on: those that matter, that with the least loss, and a spread.

    The spread has the worst of each network and the least of each family, in turn, as far as laws
    were kept.
    """
    kept = [one for one in found if one.laws is not None]
    networks = _first_of_each(kept, _network)
    families = _first_of_each(kept[::-1], _family)
    turns = chain.from_iterable(zip_longest(networks, families))
    chosen = {id(one): one for one in worst}
    for one in (*kept[-1:], *turns):
        if one is not None and len(chosen) < most:
            chosen.setdefault(id(one), one)
    return list(chosen.values())


def _first_of_each(
    found: Iterable[MeasuredPair], kind: Callable[[MeasuredPair], str]
) -> list[MeasuredPair]:
    return list({kind(one): one for one in reversed(list(found))}.values())[::-1]


def _network(one: MeasuredPair) -> str:
    return one.candidate.label if one.candidate.pair is None else one.candidate.pair.network.title


def _family(one: MeasuredPair) -> str:
    return one.candidate.label if one.candidate.pair is None else one.candidate.pair.family


def deviation(runs: int, level: float) -> float:
    """Return by how much a probability has to be off to be seen, with probability 0.95.

    Hoeffding: a share of ``runs`` is off by t from what is expected with probability at most
    ``exp(-2 runs t²)``. So a share that is off by the t of ``level`` is refused, and one whose
    expectation is further off, by the t of 0.05, is off by that much.
    """
    return sum(math.sqrt(-math.log(tail) / (2 * runs)) for tail in (level, MISSED))


def _disagreement(
    context: AuditContext, one: MeasuredPair, number: int, runs: int, level: float, until: float
) -> str:
    """Return how the runs on a pair contradict its laws, in words; empty where they do not."""
    assert one.laws is not None
    for side, law, instance in zip(
        ("left", "right"), one.laws, one.candidate.inputs(), strict=True
    ):
        key = ("agree", number, side)
        if time.monotonic() > until:
            raise OutOfTime("the time limit ended the comparison of laws with runs")
        seed = context.config.seed
        draws = draw(context.mechanism, instance, runs, seed=seed, key=key, until=until)
        odd = contradiction(law, _counted(draws), runs, level)
        if odd:
            return f"on the {side}: its law and its runs disagree: {odd}"
    return ""


def _counted(draws: Draws) -> Counter[Record]:
    """Count outputs as records; a row of an array that ``sample`` gave is the tuple a law lists."""
    counts = Counter(draws.counts)
    kind = np.dtype("float64" if draws.form in ("", "text") else draws.form)
    for structure, pieces in draws.arrays.items():
        for piece in pieces:
            for row in piece.astype(kind).reshape(len(piece), -1).tolist():
                record = flatten(tuple(row))
                counts[record if structure == ROWS else (structure, *record[1:])] += 1
    return counts


def contradiction(law: Law, counts: Mapping[Record, int], runs: int, level: float) -> str:
    """Return which count contradicts a law, each tail at a level; empty where none does."""
    known, hidden = _listed(law, counts), law.missing
    unknown = {output: times for output, times in counts.items() if output not in known}
    times = sum(unknown.values())
    if _tail(times, runs, hidden + FALSE_ALARM) < level:
        real = [output for output, once in unknown.items() if once == 1 and "float" in output[1]]
        if len(real) == times and 2 * times > runs:
            raise Incomparable("outputs are real numbers, which no law can list")
        return f"{times} of {runs} runs gave what the law leaves out, such as {_shown(unknown)}"
    likely = sorted(known, key=lambda output: -known[output])[:COMPARED]
    frequent = sorted(counts, key=lambda output: -counts[output])[:COMPARED]
    for output in dict.fromkeys([*likely, *(one for one in frequent if one in known)]):
        times, chance = counts.get(output, 0), known[output]
        least, most = (chance * (1 + way * law.error) for way in (-1, 1))
        few = float(special.bdtr(times, runs, min(max(least, 0.0), 1.0)))
        if min(few, _tail(times, runs, most + hidden)) < level:
            said = f"{_shown([output])} has probability {chance:.6g} by the law"
            return f"{said}, and came up in {times} of {runs} runs"
    return ""


def _listed(law: Law, counts: Iterable[Record]) -> dict[Record, float]:
    """Return the probabilities of the likeliest outputs, and of those that came up."""
    near: Mapping[Hashable, float] = law.probabilities
    if isinstance(near, CodedOutputs) or (len(near) > MANY and equal_is_same(near)):
        came = {record[2][0] if record[0] is None else record[2] for record in counts}
        chances = list(near.values())
        likely = set(heapq.nlargest(COMPARED, range(len(chances)), key=chances.__getitem__))
        near = {
            output: chance
            for i, (output, chance) in enumerate(near.items())
            if i in likely or output in came
        }
    known: dict[Record, float] = {}
    for output, chance in near.items():
        record = flatten(output)
        known[record] = known.get(record, 0.0) + float(chance)
    return known


def _tail(times: int, runs: int, chance: float) -> float:
    """Return the probability of that number of runs or more."""
    return float(special.bdtrc(times - 1, runs, min(chance, 1.0))) if times else 1.0


def _shown(records: Iterable[Record]) -> str:
    """Return the first of some outputs as it is shown."""
    first = next(iter(records))
    return first[1][0] if is_failure(first) else shown(whole_of(first))
