"""By how much a function moves between neighbouring inputs, against what it declares.

On graphs every pair of few vertices is looked at: up to some size those of all numberings, beyond
that one of each kind, which is all of them where the numbering does not matter; whether it does is
tried on renumbered pairs. With a fast path all have all numberings (``numberings``). On other
inputs a guided search looks for the largest change.
"""

from __future__ import annotations

import inspect
import math
import random
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from numbers import Real
from typing import Any, cast

from pdpaudit.checks import numberings
from pdpaudit.checks.evaluation import (
    NORMS,
    RAISED,
    Comparable,
    advice,
    comparable,
    distance,
    distance_of,
    distinct,
    undefined,
)
from pdpaudit.checks.graphs import kinds_of_pairs, labelled_pairs, renumbered_pair
from pdpaudit.core.domains import Change, Domain, Graphs, InputPair, Movable
from pdpaudit.core.errors import InputError, ParameterError, located, number
from pdpaudit.core.graphs import Graph, number_of, ways
from pdpaudit.core.input_words import difference_words, input_words, is_graph
from pdpaudit.core.records import Records
from pdpaudit.core.registry import configure
from pdpaudit.core.statistic import name_of
from pdpaudit.results.results import CheckResult, Status
from pdpaudit.sampling import stream
from pdpaudit.sampling.backends import Numbers, in_copy
from pdpaudit.sampling.guard import Limit, TooSlow
from pdpaudit.sampling.store import encode

#: What the check is called, and the form of its counterexample.
NAME, FORMAT = "sensitivity", "pdpaudit-sensitivity-witness/1"

#: Vertices of the largest graphs; of those in all numberings, and where numbering matters: 32,768
#: graphs, each with hundreds of neighbours under ``rewired``.
LARGEST, LABELLED, LABELLED_MATTERS = 7, 5, 6

#: Pairs of each size that are renumbered, and pairs near which a search goes on.
RENUMBERED, STARTS = 200, 4

#: Ways to give the vertices of a graph their roles up to which there is one of each kind: 150,000
#: graphs of 7. And graphs of which values are kept, of which each takes a kilobyte.
PLACED, KEPT = 150, 1 << 16

Declared = float | Callable[[int], float]


@dataclass(frozen=True)
class Question:
    """A function, what its inputs are and which are neighbours, and what it declares.

    ``declared`` is a number, or a function of the largest degree there may be, one less than the
    number of vertices. Values are compared in ``norm``; each may be off by ``error``.
    """

    function: Callable[[Any], object]
    domain: Domain
    relation: str
    declared: Declared
    norm: str = "L1"
    error: float = 0.0
    #: Values on graphs and what is compared of each, one of those that are equal, and how far
    #: these are apart.
    values: dict[Graph, tuple[object, Comparable]] = field(default_factory=dict, repr=False)
    distinct: dict[Hashable, Comparable] = field(default_factory=dict, repr=False)
    distances: dict[tuple[int, int], tuple[Fraction | float, float]] = field(
        default_factory=dict, repr=False
    )
    #: The first input whose value is NaN or infinite: where both sides are, nothing is known.
    undefined: list[object] = field(default_factory=list, repr=False)

    @classmethod
    def of(
        cls,
        function: object,
        relation: str,
        domain: object = None,
        sensitivity: Declared | None = None,
    ) -> Question:
        """Return the question about a function, or an object of a class, that declares the rest."""
        if inspect.isclass(function):
            function = configure(function, function.__name__, {})
        if not callable(function):
            raise InputError(f"{type(function).__name__}: it is no function of one input")
        if hasattr(function, "impact_cardinality"):
            raise InputError("it is a statistic of proximity; check it without `relation`")
        known = getattr(function, "domain", None) if domain is None else domain
        known = Graphs((1, LARGEST)) if known is None else known
        if not isinstance(known, Domain):
            raise InputError(f"its domain is {known!r}; give one of pdpaudit.relations")
        if relation not in known.relations:
            remedy = f"its inputs have {', '.join(known.relations)}"
            if domain is None and getattr(function, "domain", None) is None:
                remedy += "; of what is no graph give it a `domain` of pdpaudit.relations"
            raise ParameterError("relation", relation, remedy)
        declared = getattr(function, "sensitivity", None) if sensitivity is None else sensitivity
        if declared is None:
            raise InputError(
                "it declares no sensitivity: give it one, a number or a function of the largest "
                "degree, or give `sensitivity`"
            )
        norm, error = (getattr(function, *each) for each in (("norm", "L1"), ("error", 0.0)))
        if norm not in NORMS:
            raise ParameterError("norm", norm, f"give one of {', '.join(NORMS)}")
        if not 0 <= (error := number("error", error)) < math.inf:
            raise ParameterError("error", error, "give a finite number of at least 0")
        return cls(function, known, relation, declared, norm, error)

    @property
    def fast(self) -> numberings.FastPath | None:
        """Its fast path, if it is a function of graphs that brings one."""
        values = getattr(self.function, "values", None)
        if not isinstance(self.domain, Graphs) or not callable(values):
            return None
        return numberings.FastPath(self, values)

    @property
    def least(self) -> int:
        """Vertices that both graphs of a pair have at least; 0 of other inputs."""
        return self.domain.vertices[0] if isinstance(self.domain, Graphs) else 0

    def value(self, raw: object) -> object:
        """Return the value at an input, made anew so that the function may change it."""
        return self._compared(raw)[0]

    def moved(self, pair: InputPair) -> Fraction | float:
        """Return how far apart its values on a pair are."""
        return self.apart(pair)[0]

    def apart(self, pair: InputPair) -> tuple[Fraction | float, float]:
        """Return how far apart its values on a pair are, and as a float; of equal ones once."""
        if len(self.values) > KEPT:
            for kept in (self.values, self.distinct, self.distances):
                kept.clear()
        ours, theirs = self._compared(pair[0])[1], self._compared(pair[1])[1]
        key = id(ours), id(theirs)
        if (known := self.distances.get(key)) is None:
            exact = distance_of(ours, theirs, self.norm)
            known = exact, float(exact)
            if isinstance(pair[0], Graph):  # else what was compared is not kept, nor its id its own
                self.distances[key] = known
        return known

    def _compared(self, raw: object) -> tuple[object, Comparable]:
        """Return the value at an input, and what is compared of it; of graphs they are kept."""
        if isinstance(raw, Graph) and raw in self.values:
            return self.values[raw]
        try:
            value = self.function(self.domain.form(raw))
        except RAISED as error:
            raise InputError(f"on {input_words(raw)} it raised {located(error)}") from None
        made = comparable(value)
        if not self.undefined and undefined(made):
            self.undefined.append(raw)
        if isinstance(raw, Graph):
            made = self.distinct.setdefault(
                made if isinstance(made, frozenset) else tuple(made.items()), made
            )
            self.values[raw] = value, made
        return value, made

    def anyone(self, n: int) -> bool:
        """Say whether any of n vertices may vanish: what is left of a value keeps its places.

        Where there is a number for each vertex, that of who vanishes has to be the last.
        """
        if self.least >= n:
            return False
        with suppress(InputError):  # what is wrong is said of the smallest graph
            ours, theirs = (self._compared(Graph(count, ()))[1] for count in (n, n - 1))
            if isinstance(ours, dict) and isinstance(theirs, dict):
                return ours.keys() == theirs.keys()
        return False

    def allowed(self, pair: InputPair) -> float:
        """Return what it declares for a pair: for the largest degree among its vertices."""
        sizes = [side.vertices for side in pair if isinstance(side, Graph)]
        degree = max(0, max(sizes, default=1) - 1)
        try:
            given = self.declared(degree) if callable(self.declared) else self.declared
        except RAISED as error:
            raise self._unusable(f"f({degree})", f"it raised {located(error)}") from None
        if not isinstance(given, Real) or not 0 <= float(given) < math.inf:
            raise self._unusable(given, "give a finite number of at least 0")
        return float(given)

    def _unusable(self, given: object, remedy: str) -> InputError:
        """Return what is wrong with the sensitivity, which its own author or a caller declares."""
        if self.declared is getattr(self.function, "sensitivity", None):
            return InputError(f"{name_of(self.function)}.sensitivity = {given}: {remedy}")
        return ParameterError("sensitivity", given, remedy)

    def excess(self, pair: InputPair) -> float:
        """Return how much further apart its values are than declared, beyond its stated error."""
        return float(self.moved(pair) - Fraction(self.allowed(pair)) - 2 * Fraction(self.error))


@dataclass
class Found:
    """The largest change at each size of inputs, and the smallest pair that is too far apart.

    A change is too large if it is so beyond ``slack``, for what values may be off by.
    """

    slack: float = 0.0
    largest: dict[int, float] = field(default_factory=dict)
    declared: dict[int, float] = field(default_factory=dict)
    broken: InputPair | None = None
    pairs: int = 0
    #: What is allowed at each size, with what values may be off by, as a float.
    bounds: dict[int, float] = field(default_factory=dict)

    def look(self, question: Question, pairs: Iterable[InputPair]) -> None:
        """Take note of the changes over some pairs."""
        for pair in pairs:
            if min(map(_size, pair)) < question.least:
                continue
            self.pairs += 1
            n, moved = max(map(_size, pair)), question.apart(pair)[1]
            if n not in self.declared:
                self.declared[n] = question.allowed(pair)
                self.bounds[n] = float(Fraction(self.declared[n]) + 2 * Fraction(question.error))
                self.largest.setdefault(n, 0.0)
            self.largest[n] = max(self.largest[n], moved)
            # Rounding keeps the order, so that what is too far apart is no less as a float.
            if moved >= self.bounds[n] and (
                (self.broken is None or _weight(pair) < _weight(self.broken))
                and question.excess(pair) > 0
            ):
                self.broken = pair

    @property
    def words(self) -> str:
        """How large a change there is, for each number of vertices or records."""
        sizes = [(n, moved, self.declared[n]) for n, moved in sorted(self.largest.items())]
        changes = [
            f"{n}: {moved:g} {'>' if moved > most + self.slack else '≤'} {most:g}"
            for n, moved, most in sizes
        ]
        return f"largest change against what is declared, by size: {'; '.join(changes)}"


def _size(raw: object) -> int:
    """Return vertices or records; 1 of anything else."""
    if isinstance(raw, Graph):
        return raw.vertices
    return len(raw) if isinstance(raw, list) else 1


def _weight(pair: InputPair) -> tuple[int, ...]:
    """Return what a smaller pair has less of: vertices, ties; then of those the first by number."""
    graphs = [side for side in pair if isinstance(side, Graph)]
    ties = sum(len(side.ties) for side in graphs)
    return max(map(_size, pair)), ties, *map(number_of, graphs)


# Graphs


def _thinned(pairs: Iterable[InputPair], least: int) -> list[InputPair]:
    """Return at least that many of some pairs, evenly spaced, and less than twice as many."""
    kept, step = list[InputPair](), 1
    for i, pair in enumerate(pairs):
        if i % step == 0:
            kept.append(pair)
            if len(kept) == 2 * least:
                kept, step = kept[::2], 2 * step
    return kept


def _numbering_matters(question: Question, sizes: Sequence[int], seed: int, *, anyone: bool) -> str:
    """Say on what renumbered pairs the change is another; nothing where it is on none."""
    relation, domain = question.relation, cast(Graphs, question.domain)
    for n in sizes:
        rng, roles = random.Random(f"{seed} {n}"), domain.roles(relation, n)
        if relation == "vertex" and not anyone:
            roles = [*roles[:-1], n]
        for pair in _thinned(kinds_of_pairs(domain, relation, n), RENUMBERED):
            other = renumbered_pair(pair, rng, roles)
            if abs(float(question.moved(pair) - question.moved(other))) > 4 * question.error:
                return f"the change depends on how the vertices are numbered, seen at {n}"
    return ""


def _on_graphs(question: Question, found: Found, most: int, seed: int) -> tuple[str, bool]:
    """Look at all pairs of graphs of few vertices; return where, and whether at all of them."""
    domain = cast(Graphs, question.domain)
    least, top = domain.vertices
    first, most = max(least, 1), min(most, top, LARGEST)
    relation, fast = question.relation, question.fast
    anyone = relation == "vertex" and question.anyone(most)
    labelled = LABELLED_MATTERS if relation == "secret" else LABELLED
    highest = min(most, numberings.EVERY if fast else labelled)
    for n in range(first, most + 1):
        if fast:
            fast.compare(n, seed)
        if n <= highest:
            found.look(question, labelled_pairs(domain, relation, n, anyone=anyone))
        elif fast and n > least - (relation != "vertex"):
            numberings.look(fast, found, n, anyone=anyone)
    highest = most if fast else highest
    larger = range(max(highest + 1, first), most + 1)
    reason = ""
    if larger and ways(domain.roles(relation, most)) > PLACED:
        reason = "what is secret depends on how the vertices are numbered"
    elif not fast or (relation == "vertex" and not anyone):
        sizes = larger or range(first, most + 1)
        reason = _numbering_matters(question, sizes, seed, anyone=anyone)
    if reason and LABELLED_MATTERS in larger and relation != "rewired":
        highest = LABELLED_MATTERS
        found.look(question, labelled_pairs(domain, relation, highest, anyone=anyone))
    known = first <= highest
    how = ", whoever vanishes" if anyone else ""
    how += ", by the fast path" if fast and highest > numberings.EVERY else ""
    scope = [f"all graphs of {first} to {highest} vertices, all numberings{how}"] * known
    last = relation == "vertex" and bool(reason) and not anyone
    if last:
        scope.append("who vanishes has the last number, and it may matter which")
    if reason or not larger:
        words = reason if fast else f"none larger: {reason}"
        return "; ".join([*scope, *([words] * bool(reason))]), not last
    for n in larger:
        found.look(question, kinds_of_pairs(domain, relation, n))
    sizes_said = " and ".join(map(str, larger))
    scope.append(
        f"one of each kind of {sizes_said} vertices, which is all where numbering does not matter, "
        f"as on {RENUMBERED} renumbered pairs of each size"
    )
    return "; ".join(scope), True


# Other inputs


def _searched(question: Question, found: Found, examples: int, seed: int) -> tuple[str, bool]:
    """Look at the candidate pairs of a domain, and near those that move the values most."""
    domain = question.domain
    pairs = domain.pairs(question.relation)
    found.look(question, pairs)
    if domain.complete(question.relation):
        return f"all {len(pairs)} pairs of {domain.words}", True
    scope = f"{len(pairs)} pairs of {domain.words}"
    if not isinstance(domain, Movable) or domain.complete(question.relation):
        return scope, False

    def excess(change: Change) -> float:
        return question.excess(domain.joined(change))

    rng = stream(seed, NAME, question.relation)
    starts = sorted(domain.changes(question.relation), key=excess, reverse=True)[:STARTS]
    for best in starts:
        for _ in range(examples // STARTS):
            best = max(domain.varied(best, rng), best, key=excess)
        if isinstance(domain, Records):
            best = _shrunk(best, excess, domain)
        found.look(question, [domain.joined(best)])
    near = examples // STARTS * len(starts)
    return f"{scope}, and {near:,} near those that move it most", False


def _shrunk(change: Change, excess: Callable[[Change], float], domain: Records) -> Change:
    """Leave out records that stay, as long as the values are further apart than declared."""
    fewest = max(0, domain.sizes[0] - len(change.theirs))
    for i in reversed(range(len(change.rest))):
        fewer = change._replace(rest=(*change.rest[:i], *change.rest[i + 1 :]))
        if len(fewer.rest) >= fewest and excess(fewer) > 0:
            change = fewer
    return change


# The verdict


def check_sensitivity(
    question: Question,
    *,
    most: int = LARGEST,
    examples: int = 3000,
    seed: int = 0,
    time_limit: float = 120.0,
) -> CheckResult:
    """Compare the largest change of a function between neighbours with what it declares."""
    found = Found(2 * question.error)
    inputs = _inputs(question, min(most, LARGEST))
    backwards = in_copy(partial(_asked_backwards, question, inputs), len(inputs))
    try:
        with Limit(time_limit):
            if isinstance(question.domain, Graphs):
                scope, exact = _on_graphs(question, found, most, seed)
            else:
                scope, exact = _searched(question, found, examples, seed)
            _refuse_memory(question, inputs, backwards(math.inf))
    except TooSlow:
        scope = f"the first {found.pairs:,} pairs, for the time limit of {time_limit:g} s is over"
        exact = False
        if not found.pairs:
            return CheckResult(NAME, "inconclusive", detail=scope)
    finally:
        backwards(0.0)
    if not found.pairs:
        raise InputError(f"{question.domain.words}: no pair to look at; {scope}".rstrip("; "))
    pair = found.broken
    known: dict[str, Any] = {
        "declared": max(found.declared.values()) if pair is None else question.allowed(pair),
        "observed": max(found.largest.values()),
        "exact": exact,
        "scope": f"{question.relation}{getattr(question.domain, 'public', '')}: {scope}",
    }
    if pair is None and question.undefined:
        raw = question.undefined[0]
        raise InputError(
            f"{name_of(question.function)}: on {input_words(raw)} its value is "
            f"{input_words(question.value(raw))}, which has no distance; give finite numbers"
        )
    if pair is None:
        status: Status = "certified" if exact else "not_rejected"
        return CheckResult(NAME, status, detail=f"{found.words} ({found.pairs:,} pairs)", **known)
    known["witness"] = {
        "format": FORMAT,
        "relation": question.relation,
        "norm": question.norm,
        "sides": [encode(side).decode("ascii") for side in pair],
    }
    detail = f"{broken_words(question, pair)}; {found.words}"
    return CheckResult(NAME, "violated", detail=detail, **known)


def _inputs(question: Question, most: int) -> list[object]:
    """Return inputs to ask in another order; graphs of up to ``most`` vertices."""
    domain = question.domain
    if isinstance(domain, Graphs):
        least, top = domain.vertices
        if least > most:
            return []
        domain = replace(domain, vertices=(least, max(2, min(top, most))))
    with suppress(InputError):  # what is wrong is said of the smallest graph where these are made
        return [side for pair in domain.pairs(question.relation) for side in pair]
    return []


def _extent(question: Question, raw: object) -> float:
    """Return how far the value at an input is from nothing."""
    value = question.value(raw)
    nothing = Graph(0, ()) if is_graph(value) else ()
    return float(distance(value, nothing, question.norm))


def _asked_backwards(question: Question, inputs: Sequence[object], extents: Numbers) -> None:
    for at in reversed(range(len(inputs))):
        extents[at] = _extent(question, inputs[at])


def _refuse_memory(question: Question, inputs: Sequence[object], known: Numbers) -> None:
    """Refuse a function whose value is another where inputs come in another order."""
    for raw, before in zip(inputs, known.tolist(), strict=True):
        if not math.isnan(before) and abs(_extent(question, raw) - before) > 2 * question.error:
            raise InputError(
                f"on {input_words(raw)} its value depends on what it was asked before, or on "
                "chance; keep nothing from one call to the next, and draw nothing"
            )


def broken_words(question: Question, pair: InputPair) -> str:
    """Say what breaks a declared sensitivity."""
    before, after = (input_words(question.value(side)) for side in pair)
    moved, declared = float(question.moved(pair)), question.allowed(pair)
    found, allowed = distinct(moved, declared)
    return (
        f"{_changed_words(pair)} moves it by {found}, declared {allowed}"
        f"{advice(moved, declared)}: from {before} to {after}"
    )


def _changed_words(pair: InputPair) -> str:
    """Say what differs; of graphs who vanished, if it was not the last."""
    left, right = pair
    if isinstance(left, Graph) and isinstance(right, Graph) and left.vertices > right.vertices:
        people = reversed(range(left.vertices))
        gone = next(one for one in people if left.with_last(one).without_last() == right)
        if gone < right.vertices:
            return f"vertex {gone} → absent, later ones move up ({input_words(left)})"
    return difference_words(*pair)
