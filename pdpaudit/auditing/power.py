"""Measure what an audit would have found: plant leaks of the mechanism's own shape, and look.

A leak is planted in outputs that were already drawn, so it costs no runs: one side stays as it is,
on the other an event of probability f is thinned to f exp(-s), which is a pair of loss s, or as far
as makes a loss of s in the claim's own unit. The same
choice of events is made on such samples as on real ones, against the other pairs as they were, and
the probability that fresh runs confirm what is chosen is computed. The smallest s that is found in
19 of 20 is what may be claimed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pdpaudit.auditing.candidate_pairs import Counts
from pdpaudit.core.protocols import PrivacyClaim
from pdpaudit.inference.claim_bounds import ExpectedBound, claim_bound
from pdpaudit.inference.power import (
    binomial_pmf,
    binomial_ppf,
    binomial_sf,
    critical_hits,
    least_hits,
)
from pdpaudit.outputs import Batch, Column, Draws, Event, batch_of, failure, flatten
from pdpaudit.outputs.columns import Group
from pdpaudit.outputs.draws import Array
from pdpaudit.outputs.records import EXACT_KINDS, NUMERIC, Path, Record, layout, number_of

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

#: How often the event of a planted leak happens on the side where it is likelier.
RATES = (0.1, 0.25, 0.5)

#: Planted leaks of one size, and the share of them that must be found. The share is a mean of
#: probabilities, not of yes and no, and a little is given away for what is left of its error. Where
#: it is missed by little, more are planted, three times as many at most: one decides nothing.
PLANTED, FOUND, TIMES = 18, 0.96, 3

#: Sizes that are tried, as multiples of what the best event known in advance would need; further
#: ones in units that begin at 0 where the claim ends, as the excess over a curve does.
STEPS, FURTHER = (1.0, 1.2, 1.5, 2.0, 3.0, 6.0), (12.0, 25.0, 50.0)

#: Times the step at which leaks begin to be found is halved.
HALVINGS = 1

#: Discovery runs a side of a planted leak, at most: fewer can only find less. Of long outputs there
#: are as many as hold the second number of values together, but not fewer than the third. And runs
#: whose outputs leaks are planted in: more would cost time, and are a law that is as good.
MOST_RUNS, MOST_NUMBERS, LEAST_RUNS, MOST_POOLED = 5_000, 2_000_000, 200, 20_000

#: A column of more distinct numbers than this has ends.
DISTINCT = 8

#: Categories that come up so often on average are some that a leak may be about.
REPEATS = 4

#: Largest log ratio that an event is thinned by, into how many parts the interval that it is in is
#: cut, all at once as a claim is asked for arrays, and how often: to 2e-6.
MOST_THINNED, PARTS, PARTED = 30.0, 64, 4

#: Ends of a count's law that are summed over.
TAILS = (1e-6, 1 - 1e-6)

#: Relative size of what is added to real numbers, so that resampled ones do not repeat.
JITTER = 1e-9


#: Score of a pair whose outputs were the same on both sides, run for run, and one that any pair
#: has whose outputs part.
UNPARTED, ABOVE_UNPARTED = -1e9, -1e8

#: How far below the lowest of some leaks others may be, as a share of what it is below the middle:
#: from two standard deviations to three.
BEYOND_LEAST = 0.5

#: Expected number of differences of which there is surely one: none has probability 0.007.
SURELY = 5.0

#: What the runs of a pair, on both sides and in two halves, seem to promise.
Scored = Callable[[tuple[Draws, Draws], tuple[Draws, Draws]], float]


@dataclass(frozen=True)
class Rehearsal:
    """What discovery did, so that it can be done again on planted leaks."""

    pool: Draws
    cuts: Sequence[tuple[int, float]]
    runs: int
    tests: int
    other: float
    scored: Scored
    choose: Callable[..., Any]
    pick: Callable[[list[Event], list[Counts]], tuple[int, float]]
    learned: Callable[[Any], Counts]

    @cached_property
    def plants(self) -> _Plants:
        """What leaks are planted in."""
        return _Plants(batch_of(self.pool))


def confirmed(
    n: int, alpha: float, claim: PrivacyClaim, method: str
) -> Callable[[float, float], float]:
    """Return how probably fresh runs confirm an event, as a function of its two probabilities."""
    few = np.arange(0, min(n, 64) + 1)
    nodes = np.unique(np.concatenate([few, np.geomspace(max(len(few), 1), n, 96).round()]))
    nodes = nodes[nodes <= n].astype(np.float64)
    if claim.approximate:
        critical = critical_hits(n, nodes, alpha, claim.delta, method, claim.epsilon)
    else:
        critical = least_hits(
            n, nodes, lambda x: claim_bound(claim, x, nodes, n, alpha) > claim.value
        )

    def chance(p: float, q: float) -> float:
        low, high = (binomial_ppf(tail, n, q) if 0 < q < 1 else n * q for tail in TAILS)
        y = np.unique(np.linspace(float(low), float(high), 129).round())
        weights = binomial_pmf(y, n, q)
        needed = np.interp(y, nodes, critical).round()
        found = binomial_sf(needed - 1, n, p)
        return float(weights @ found / weights.sum())

    return chance


def measured_power(
    rehearsal: Rehearsal,
    claim: PrivacyClaim,
    aim: ExpectedBound,
    chance: Callable[[float, float], float],
    least: float,
    rng: np.random.Generator,
) -> float:
    """Return the smallest loss that would have been found in 19 of 20 planted leaks."""
    if not math.isfinite(least):
        return math.inf
    seed = int(rng.integers(2**63))

    def seen(size: float) -> bool:
        missed = 0.0
        rates_of = planted_rates(rehearsal, claim, aim, size, seed)
        for number, rates in enumerate(rates_of, start=1):
            missed += 1.0 if rates is None else 1.0 - chance(*rates)
            found = enough_found(missed, number, claim)
            if found is not None:
                return found
        return True

    least = max(least, claim.value)
    low = least
    for step in STEPS if claim.approximate or claim.value else STEPS + FURTHER:
        high = least * step
        if seen(high):
            for _ in range(HALVINGS if high > low else 0):
                middle = (low + high) / 2
                low, high = (low, middle) if seen(middle) else (middle, high)
            return high
        low = high
    return math.inf


def planted_rates(
    rehearsal: Rehearsal, claim: PrivacyClaim, aim: ExpectedBound, size: float, seed: int
) -> Iterator[tuple[float, float] | None]:
    """Yield what would be confirmed of each planted leak: the chosen event's two probabilities.

    None where discovery would have missed it. The same seed plants the same leaks, larger or
    smaller.
    """
    plants = rehearsal.plants
    for number in range(TIMES * _planted(claim)):
        rng = np.random.default_rng([seed, number])
        if plants.blind:
            yield None
        else:
            planted = plants.numbered(number, rng, size, claim)
            yield _discovered(rehearsal, planted, aim, rng)


def enough_found(missed: float, planted: int, claim: PrivacyClaim) -> bool | None:
    """Say whether enough of some planted leaks are found; None where more are to be planted."""
    # No more may be missed than planting as many once more could make up for.
    most = min(planted // _planted(claim) + 2, TIMES) * _planted(claim)
    if missed > most * (1 - FOUND):
        return False
    found = planted % _planted(claim) == 0 and missed <= planted * (1 - FOUND)
    return True if found else None


def _planted(claim: PrivacyClaim) -> int:
    """Return how many leaks of one size are planted.

    In other units few runs rank pairs less well: one leak in forty scores as if it had half of its
    size, and must not decide.
    """
    return PLANTED if claim.approximate else 2 * PLANTED


@dataclass(frozen=True)
class _Planted:
    """A pair: the rows of a batch, the law of each side over them, and which came up once."""

    batch: Batch
    laws: tuple[Floats, Floats]
    once: Mask


def _thinned(claim: PrivacyClaim, rate: float, size: float) -> float:
    """Return what an event of that rate is thinned to, for a loss of that size."""
    if claim.approximate:
        return max(rate - claim.delta, 0.0) * math.exp(-size)
    low, high = -MOST_THINNED, 0.0
    for _ in range(PARTED):
        tried = np.linspace(low, high, PARTS + 1)
        far = int(np.count_nonzero(claim.smallest(rate, rate * np.exp(tried[1:-1])) >= size))
        low, high = float(tried[far]), float(tried[far + 1])
    return rate * math.exp(low)


class _Plants:
    """Plants leaks in a pool of outputs."""

    def __init__(self, pool: Batch) -> None:
        pool = with_near_floats(some_of(pool))
        branch = failure(RuntimeError())
        marked = Group(None, [branch], None, np.array([1], dtype=np.int64))
        self.pool, self.marked = pool, Batch((*pool.groups, marked))
        self.law = pool.weights / pool.weights.sum()
        self.numbers, self.categories = _columns(pool)
        # Numbers that repeat in the pool are values of their own; others must not begin to.
        self.once = np.concatenate([*map(_once, pool.groups), [False]])

    @property
    def blind(self) -> bool:
        """Whether outputs differ in nothing that repeats or has an order."""
        return self.pool.size > 1 and not self.numbers and not self.categories

    def numbered(
        self, number: int, rng: np.random.Generator, size: float, claim: PrivacyClaim
    ) -> _Planted:
        """Return a leak of the given loss; the rates and the kinds of leak take turns."""
        # What happens with probability δ shows no loss, whatever happens elsewhere.
        rate = claim.delta + (1 - claim.delta) * RATES[number % len(RATES)]
        return self.plant(rng, rate, size, claim, number // len(RATES))

    def plant(
        self, rng: np.random.Generator, rate: float, size: float, claim: PrivacyClaim, kind: int
    ) -> _Planted:
        """Return a pair of the given loss, on an event of about the given rate."""
        makers = [self._branch]
        if self.numbers:
            makers += [self._one, self._two]
        if self.categories:
            makers.append(self._some)
        # The changed branch last: it is the easiest to find.
        mask = makers[::-1][kind % len(makers)](rng, rate)
        if mask is None:
            base = np.append(self.law * (1 - rate), rate)
            mask, batch = np.append(np.zeros(len(self.law), dtype=bool), True), self.marked
        else:
            base, batch = self.law, self.pool
        f = float(base[mask].sum())
        less = _thinned(claim, f, size)
        thin = np.where(mask, less / f, (1 - less) / (1 - f)) * base
        return _Planted(batch, (base, thin / thin.sum()), self.once)

    def _branch(self, rng: np.random.Generator, rate: float) -> Mask | None:
        """Return None: an output that never occurs otherwise."""
        return None

    def _one(self, rng: np.random.Generator, rate: float) -> Mask | None:
        """Return one end of one column."""
        column = self.numbers[int(rng.integers(len(self.numbers)))]
        return _proper(self._end(rng, column, rate), self.law)

    def _two(self, rng: np.random.Generator, rate: float) -> Mask | None:
        """Return one end of two columns at once."""
        if len(self.numbers) < 2:
            return self._one(rng, rate)
        some = rng.choice(len(self.numbers), size=2, replace=False).tolist()
        first, second = (self._end(rng, self.numbers[i], math.sqrt(rate)) for i in some)
        both = first & second
        # Columns that move together have no such corner.
        enough = self.law[both].sum() > rate / 4
        return _proper(both, self.law) if enough else self._one(rng, rate)

    def _end(self, rng: np.random.Generator, column: Column, rate: float) -> Mask:
        numbers = self.pool.read(column)
        if rng.random() < 0.5:
            numbers = -numbers
        order = np.argsort(-numbers, kind="stable")  # nan last
        place = int(np.searchsorted(np.cumsum(self.law[order]), rate))
        threshold = numbers[order[min(place, len(order) - 1)]]
        return np.asarray(numbers >= threshold, dtype=np.bool_)

    def _some(self, rng: np.random.Generator, rate: float) -> Mask | None:
        """Return some of the categories of one column, at random."""
        column = self.categories[int(rng.integers(len(self.categories)))]
        values = self.pool.categories(column)
        chances: Counter[Hashable] = Counter()
        for value, chance in zip(values, self.law.tolist(), strict=True):
            chances[value] += chance
        inside, total = set[Hashable](), 0.0
        distinct = sorted(chances, key=repr)
        for i in rng.permutation(len(distinct)).tolist():
            if total + chances[distinct[i]] <= 1.5 * rate or not inside:
                inside.add(distinct[i])
                total += chances[distinct[i]]
            if total >= rate:
                break
        return _proper(np.array([value in inside for value in values]), self.law)


def some_of(pool: Batch) -> Batch:
    """Return some runs of a pool, evenly spaced."""
    step = -(-pool.runs // MOST_POOLED)
    if step <= 1:
        return pool
    groups, before = list[Group](), 0
    for group in pool.groups:
        ends = before + np.cumsum(np.ones(group.size) if group.weights is None else group.weights)
        runs = np.arange(-(before - step // 2) % step + before, ends[-1], step)
        rows, times = np.unique(np.searchsorted(ends, runs, side="right"), return_counts=True)
        before = int(ends[-1])
        if group.array is not None:
            groups.append(Group(group.known_as, None, group.array[rows]))
        elif len(rows):
            records = [(group.known_as, *group.records[row][1:]) for row in rows.tolist()]
            groups.append(Group(group.known_as, records, None, times))
    return Batch(tuple(groups))


def with_near_floats(pool: Batch) -> Batch:
    """Return a pool whose fractions, dates and other exact numbers are floats where they have ends.

    What is drawn from it is moved a little, so that it does not repeat, and has no exact form then.
    """
    groups = list[Group]()
    for group in pool.groups:
        leaves = {} if group.array is not None else layout(group.structure).leaves
        exact = {
            number
            for path, number in leaves.items()
            if group.kind_set(path) & EXACT_KINDS
            and len(np.unique(pool.read(Column("number", path)))) > DISTINCT
        }
        if exact:
            records = [_near(record, exact) for record in group.records]
            group = Group(group.known_as, records, None, group.weights)
        groups.append(group)
    return Batch(tuple(groups))


def _near(record: Record, exact: set[int]) -> Record:
    """Return a record of which these leaves are the nearest floats, where they are numbers."""
    structure, kinds, values = record
    leaves = list(zip(kinds, values, strict=True))
    for number in exact:
        if leaves[number][0] in EXACT_KINDS:
            _, (kind,), (value,) = flatten(number_of(*leaves[number]))
            leaves[number] = kind, value
    return structure, tuple(kind for kind, _ in leaves), tuple(value for _, value in leaves)


def _once(group: Group) -> Mask:
    """Return which outputs of a group came up in one run alone."""
    once = np.ones(group.size, dtype=np.bool_) if group.weights is None else group.weights == 1
    if group.array is not None and group.size:
        _, inverse, times = np.unique(group.array, axis=0, return_inverse=True, return_counts=True)
        once = once & (times[inverse.ravel()] == 1)
    return np.asarray(once)


def _proper(mask: Mask, law: Floats) -> Mask | None:
    """Return an event, None where it nearly never or nearly always happens."""
    return mask if 0.005 < law[mask].sum() < 0.9 else None


def _columns(pool: Batch) -> tuple[list[Column], list[Column]]:
    """Return the columns that leaks are planted in: numbers that vary, categories that repeat."""
    kinds: dict[Path, set[str]] = {}
    for group in pool.groups:
        for path in group.paths:
            kinds.setdefault(path, set()).update(group.kind_set(path))
    numbers = [Column("number", path) for path, seen in kinds.items() if seen & NUMERIC]
    texts = [path for path, seen in kinds.items() if seen & {"str", "bytes"}]
    numbers += [Column(aspect, path) for path in texts for aspect in ("embedded", "byte")]
    numbers = [column for column in numbers if len(np.unique(pool.read(column))) > DISTINCT]
    categories = [Column("value", path) for path, seen in kinds.items() if seen - {"float"}]
    categories += [Column("kind", path) for path, seen in kinds.items() if len(seen) > 1]
    repeating = []
    for column in [*categories, Column("output")]:
        distinct = len(set(pool.categories(column))) if pool.size <= MOST_RUNS else pool.size
        if 1 < distinct <= pool.runs / REPEATS:
            repeating.append(column)
    return numbers, repeating


def _discovered(
    rehearsal: Rehearsal, planted: _Planted, aim: ExpectedBound, rng: np.random.Generator
) -> tuple[float, float] | None:
    """Return the two probabilities of the event that is chosen; None where another pair is."""
    for runs, needed in rehearsal.cuts:
        if _score(planted, rehearsal.scored, runs, rng) < needed:
            return None
    runs = min(rehearsal.runs, MOST_RUNS, max(LEAST_RUNS, MOST_NUMBERS // planted.batch.width))
    choice = rehearsal.choose(*_drawn(planted, runs, rng), aim, thorough=False)
    found = [choice, *choice.others]
    events = [one.event for one in found]
    inside = [event.inside(planted.batch) for event in events]
    base, thin = planted.laws
    rates = [(min(float(base[m].sum()), 1.0), min(float(thin[m].sum()), 1.0)) for m in inside]
    tests, counts = rehearsal.tests, list[Counts]()
    for (p, q), (left, right, known) in zip(rates, map(rehearsal.learned, found), strict=True):
        x, y = int(rng.binomial(tests, p)), int(rng.binomial(tests, q))
        counts.append((x + left, y + right, tests + known))
    place, promised = rehearsal.pick(events, counts)
    if promised < rehearsal.other:
        return None
    p, q = rates[place]
    return (p, q) if events[place].side == "left" else (q, p)


def least_score(
    pool: Draws, scored: Scored, claim: PrivacyClaim, size: float, runs: int, seed: int
) -> float:
    """Return a score that nearly every leak of the given size reaches in that many runs a side."""
    plants = _Plants(batch_of(pool))
    if plants.blind:
        return UNPARTED
    scores = []
    for number in range(2 * _planted(claim)):
        rng = np.random.default_rng([seed, number])
        # The rarest are the hardest to see.
        planted = plants.numbered(number * len(RATES), rng, size, claim)
        scores.append(_score(planted, scored, runs, rng))
    least = min(scores)
    if least == UNPARTED:
        return UNPARTED
    least -= BEYOND_LEAST * (float(np.median(scores)) - least)
    # What shows nothing is in no order: it is behind by chance alone.
    return least if least > 0 else ABOVE_UNPARTED


def parts_surely(claim: PrivacyClaim, size: float, runs: int) -> bool:
    """Say whether a leak parts from a pair that loses what is claimed in that many runs.

    Of the rarest events on one side, their probabilities on the other differ by so much.
    """
    allowed, less = (_thinned(claim, RATES[0], loss) for loss in (claim.value, size))
    return (allowed - less) * runs > SURELY


def _score(planted: _Planted, scored: Scored, runs: int, rng: np.random.Generator) -> float:
    """Return how a planted leak scores in that many runs a side, which share their streams.

    Two laws part in a run with at least the probability that is their distance.
    """
    base, thin = planted.laws
    if rng.random() < (1 - np.abs(base - thin).sum() / 2) ** runs:
        return UNPARTED
    return scored(*_drawn(planted, runs, rng))


def _drawn(
    planted: _Planted, runs: int, rng: np.random.Generator
) -> tuple[tuple[Draws, Draws], tuple[Draws, Draws]]:
    """Return ``runs`` runs a side, in two halves each."""
    left, right = (
        tuple(_draws(planted, law, max(runs // 2, 1), rng) for _ in range(2))
        for law in planted.laws
    )
    return (left[0], left[1]), (right[0], right[1])


def _draws(planted: _Planted, law: Floats, runs: int, rng: np.random.Generator) -> Draws:
    times = rng.multinomial(runs, law)
    draws, start = Draws(), 0
    for group in planted.batch.groups:
        mine, alone = (each[start : start + group.size] for each in (times, planted.once))
        start += group.size
        if group.array is not None:
            rows, once = np.repeat(group.array, mine, axis=0), np.repeat(alone, mine)
            rows[once] = _apart(rows[once], rng)
            if len(rows):
                draws.arrays[group.known_as] = [rows]
            continue
        for i in np.flatnonzero(mine).tolist():
            record = (group.known_as, *group.records[i][1:])
            if alone[i] and "float" in record[1]:
                for _ in range(int(mine[i])):
                    draws.counts[_moved(record, rng)] += 1
            else:
                draws.counts[record] += int(mine[i])
    return draws


def _apart(rows: Array, rng: np.random.Generator) -> Array:
    """Return rows a little different from each other, so that resampled ones do not repeat."""
    if rows.dtype.kind != "f":
        return rows
    return rows * (1 + JITTER * rng.random(rows.shape))


def _moved(record: Record, rng: np.random.Generator) -> Record:
    values = tuple(
        value * (1 + JITTER * rng.random())
        if kind == "float" and isinstance(value, float)
        else value
        for kind, value in zip(record[1], record[2], strict=True)
    )
    return record[0], record[1], values
