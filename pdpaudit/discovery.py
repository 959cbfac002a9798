"""Look for the pair that leaks most: every family on every ground, then local moves.

Everything here is adaptive, so nothing here is evidence: what is found is confirmed by
:mod:`pdpaudit.audit` on fresh samples, or by an exact law.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import zip_longest
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from pdpaudit.contracts import LawfulMechanism, Mechanism
from pdpaudit.errors import InputError
from pdpaudit.evidence.event import Event
from pdpaudit.losses import ExactLoss, exact_loss
from pdpaudit.neighbors import NeighborPair
from pdpaudit.network import Network
from pdpaudit.registry import registered
from pdpaudit.sampling import stream, tally

__all__ = [
    "FINALISTS",
    "Arm",
    "Found",
    "Watcher",
    "arms_of",
    "grounds",
    "promised",
    "search_by_law",
    "search_by_samples",
]

Floats = npt.NDArray[np.float64]
Bound = Callable[[Floats, Floats], Floats]

#: Fewest runs a side that tell arms apart at all, and how sharply each round cuts.
FEWEST_RUNS = 200
CUT = 4

#: Arms measured once more before one is chosen.
FINALISTS = 8

#: Rounds of local moves, and rounds without gain after which they end.
MOVES = {"law": 40, "samples": 4}
PATIENCE = 2


class Watcher(Protocol):
    """Told what an audit is doing."""

    def stage(self, words: str, total: int) -> None:
        """Take note that a new stage begins, of ``total`` runs or pairs."""
        ...

    def advance(self, done: int) -> None:
        """Take note that so many more runs or pairs are done."""
        ...


@dataclass(frozen=True, eq=False)
class Arm:
    """One pair of inputs worth trying.

    Attributes
    ----------
    label : str
        Where and how.
    inputs : callable
        Returns the two instances; called when needed, so that many arms can be held.
    pair : NeighborPair, optional
        The neighbouring networks, for a graph search.
    number : int
        Which of the mechanism's own pairs, counted from 1; 0 for a graph search.
    """

    label: str
    inputs: Callable[[], tuple[Any, Any]]
    pair: NeighborPair | None = None
    number: int = 0


@dataclass
class Found:
    """An arm with what discovery learned about it.

    Attributes
    ----------
    arm : Arm
        The pair.
    score : float
        Exact loss, or the lower bound its best event is expected to give.
    losses : dict of float to ExactLoss
        By δ, where the law is known.
    halves : tuple, optional
        Discovery counts: left and right, two halves each.
    runs : int
        Runs spent on both sides together.
    """

    arm: Arm
    score: float = -math.inf
    losses: dict[float, ExactLoss] = field(default_factory=dict)
    halves: tuple[tuple[Counter[Hashable], ...], tuple[Counter[Hashable], ...]] = field(
        default_factory=lambda: ((Counter(), Counter()), (Counter(), Counter()))
    )
    runs: int = 0


def grounds() -> list[Network]:
    """Return every built-in network to attack on."""
    return [network for item in registered("grounds") for network in item.load()()]


def promised(networks: Sequence[Network], max_degree: int | None) -> list[Network]:
    """Return the networks under another public degree bound, those that keep it.

    Raises
    ------
    InputError
        If none does.
    """
    if max_degree is None:
        return list(networks)
    kept = []
    for network in networks:
        with suppress(InputError):
            kept.append(replace(network, max_degree=max_degree))
    if not kept:
        raise InputError(f"--max-degree {max_degree}: no built-in network keeps it; raise it")
    return kept


def arms_of(mechanism: Mechanism, networks: Sequence[Network], seed: int) -> list[Arm]:
    """Return the pairs to try: the mechanism's own, or each family's on each network.

    The families take turns, so that cutting the list short cuts all of them alike.
    """
    own = getattr(mechanism, "pairs", None)
    if own is not None:
        return [
            Arm(_label(number, pair), partial(_sides, pair), number=number)
            for number, pair in enumerate(own(), start=1)
        ]
    sources = []
    for network in networks:
        for attack in registered("attacks"):
            rng = stream(seed, "pairs", network.title, attack.name)
            sources.append(map(_arm, attack.load()(network, rng)))
    rows = zip_longest(*sources)
    return [arm for row in rows for arm in row if arm is not None]


def search_by_law(
    mechanism: LawfulMechanism,
    arms: Sequence[Arm],
    deltas: Sequence[float],
    *,
    seed: int,
    watcher: Watcher,
) -> list[Found]:
    """Compute the exact loss of every arm, then climb from the worst; no samples.

    Parameters
    ----------
    deltas : sequence of float
        The slacks of the claims; the first is the one to climb for.

    Returns
    -------
    list of Found
        All that was computed, worst first.

    Raises
    ------
    LawUnavailable
        If the mechanism has no law on some instance.
    """

    def measure(arm: Arm) -> Found:
        left, right = (mechanism.law(side) for side in arm.inputs())
        losses = {delta: exact_loss(left, right, delta) for delta in deltas}
        watcher.advance(1)
        return Found(arm, losses[deltas[0]].epsilon, losses)

    watcher.stage("computing exact losses", len(arms))
    found = [measure(arm) for arm in arms]
    best = max(found, key=lambda one: one.score)
    return _by_score(_climb(best, found, measure, MOVES["law"], seed, watcher))


def search_by_samples(
    mechanism: Mechanism,
    arms: Sequence[Arm],
    choose: Callable[[Found, Bound, int], tuple[Event, float]],
    bound: Bound,
    size: int,
    runs: int,
    *,
    seed: int,
    jobs: int,
    watcher: Watcher,
) -> list[Found]:
    """Find the arms with the best expected evidence by successive halving, then climb.

    Too many arms for the runs that may be spent are cut short, all families alike.

    Parameters
    ----------
    choose : callable
        Chooses an event from discovery counts and says what bound to expect.
    bound, size : callable, int
        The bound at the planned number of fresh samples a side.
    runs : int
        Runs a side to spend in all.

    Returns
    -------
    list of Found
        Everything measured, what was measured most and looks best first.
    """
    if len(arms) * FEWEST_RUNS * 2 > runs:
        arms = arms[: max(1, runs // (2 * FEWEST_RUNS))]
    rounds = max(1, math.ceil(math.log(len(arms), CUT)))
    spend = runs // (rounds + 2)
    watcher.stage("looking for the pair that leaks most", 2 * runs)
    found, dropped = [Found(arm) for arm in arms], list[Found]()
    for turn in range(rounds):
        each = max(FEWEST_RUNS, spend // len(found))
        for one in found:
            _sample(mechanism, one, each, seed, f"halving {turn}", jobs, watcher)
            one.score = choose(one, bound, size)[1]
        found = _by_score(found)
        keep = max(1, math.ceil(len(found) / CUT))
        found, dropped = found[:keep], found[keep:] + dropped
    moves = MOVES["samples"]
    each = max(FEWEST_RUNS, spend // (moves * 12))

    def measure(arm: Arm) -> Found:
        one = Found(arm)
        _sample(mechanism, one, each, seed, "climbing", jobs, watcher)
        one.score = choose(one, bound, size)[1]
        return one

    found = _by_score(_climb(found[0], found, measure, moves, seed, watcher))
    finalists, dropped = found[:FINALISTS], found[FINALISTS:] + dropped
    for one in finalists:
        each = max(FEWEST_RUNS, spend // len(finalists))
        _sample(mechanism, one, each, seed, "finalists", jobs, watcher)
        one.score = choose(one, bound, size)[1]
    return _by_score(finalists) + dropped


def _climb(
    best: Found,
    found: list[Found],
    measure: Callable[[Arm], Found],
    moves: int,
    seed: int,
    watcher: Watcher,
) -> list[Found]:
    """Follow local moves uphill; return everything measured."""
    patience = PATIENCE
    for step in range(moves):
        if best.arm.pair is None or math.isinf(best.score) or not patience:
            break
        rng = stream(seed, "moves", step)
        tried = [measure(arm) for arm in _moves(best.arm.pair, rng)]
        if not tried:
            break
        found = found + tried
        top = max(tried, key=lambda one: one.score)
        if top.score > best.score * (1 + 1e-6):
            best, patience = top, PATIENCE
        else:
            patience -= 1
    return found


def _label(number: int, pair: Any) -> str:
    return str(getattr(pair, "name", f"pair {number}"))


def _sides(pair: Any) -> tuple[Any, Any]:
    """Return the two inputs of a mechanism's own pair, which may carry a name before them."""
    left, right = tuple(pair)[-2:]
    return left, right


def _moves(pair: NeighborPair, rng: np.random.Generator) -> Iterator[Arm]:
    for refinement in registered("refinements"):
        yield from map(_arm, refinement.load()(pair, rng))


def _arm(pair: NeighborPair) -> Arm:
    return Arm(
        f"{pair.family} on {pair.network.title}",
        lambda: (pair.left.instance(), pair.right.instance()),
        pair,
    )


def _sample(
    mechanism: Mechanism,
    one: Found,
    size: int,
    seed: int,
    purpose: str,
    jobs: int,
    watcher: Watcher,
) -> None:
    """Add ``size`` discovery runs a side, split into the two halves."""
    split = (size // 2, size - size // 2)
    for side, instance in enumerate(one.arm.inputs()):
        for half, runs in enumerate(split):
            key = ("discover", purpose, one.arm.label, one.runs, side, half)
            one.halves[side][half].update(
                tally(
                    mechanism,
                    instance,
                    runs,
                    seed=seed,
                    key=key,
                    jobs=jobs,
                    progress=watcher.advance,
                )
            )
    one.runs += 2 * size


def _by_score(found: Iterable[Found]) -> list[Found]:
    return sorted(found, key=lambda one: -one.score)
