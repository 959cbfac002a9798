"""What is true instead: the largest loss a round can have, and the noise that mends it.

Everything here depends on the network only through the declared sensitivity and impact
cardinality, never through the network at hand.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.optimize import minimize_scalar

from pdpaudit.errors import InputError

from .noise import Laplace
from .one_round import first_target_law, search_com_law, search_com_noises
from .scores import RoundScores

Event = Literal["empty", "found"]

# Scores this many noise scales away stand for -inf and +inf: they matter less than exp(-60).
_FAR = 60.0


@dataclass(frozen=True, eq=False)
class WorstCase:
    """The largest loss found for SearchCom, with the scores that attain it.

    Parameters
    ----------
    loss : float
        Exact loss of the pair below, in nats: a lower bound on the supremum.
    upper_bound : float
        Proven bound on the supremum, in nats.
    event : {"empty", "found"}
        The event that loses most: the empty answer, or one target (position 0).
    likelier, rarer : RoundScores
        Scores under which the event is likelier and rarer; with sensitivity 1, the given impact
        cardinality, and the noise `search_com_noises` sets.
    evaluations : int
        Pairs of laws computed.
    """

    loss: float
    upper_bound: float
    event: Event
    likelier: RoundScores
    rarer: RoundScores
    evaluations: int


def search_com_bound(epsilon: float, movable: int, impact_cardinality: int) -> float:
    """Bound the loss of one round of SearchCom over all pairs and events.

    Parameters
    ----------
    epsilon : float
        The parameter given to the algorithm, in nats, > 0.
    movable : int
        Remaining targets whose score one protected vertex can move, 0 <= movable <= IC.
    impact_cardinality : int
        IC: vertices whose score one protected vertex can move.

    Returns
    -------
    float
        ``max(epsilon, movable epsilon / 4 + (1 - movable / IC) epsilon / 2)``; 0 if IC is 0.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Notes
    -----
    Found target t: add 2 sensitivity to its noise (density ratio ``exp(epsilon / 2)`` at scale
    4 sensitivity / epsilon). It still wins, and the protected vertices above it grow by at most
    IC, which the threshold's noise absorbs for another epsilon / 2. Empty answer: move the
    noise of the movable targets by the sensitivity each (epsilon / 4 each), so that the largest
    target is no higher than before; the at most ``IC - movable`` protected vertices that
    changed are absorbed by the threshold's noise.

    Examples
    --------
    >>> round(search_com_bound(1.0, 8, 19), 6)
    2.289474
    >>> search_com_bound(1.0, 1, 3)
    1.0
    """
    _check(epsilon, movable, impact_cardinality)
    return epsilon * _factor(movable, impact_cardinality)


def search_com_epsilon(target: float, movable: int, impact_cardinality: int) -> float:
    """Find the epsilon to hand to SearchCom so that a round really is `target`-private.

    Parameters
    ----------
    target : float
        The guarantee wanted, in nats, > 0.
    movable, impact_cardinality : int
        As for `search_com_bound`. Where nothing better is known, ``movable`` is the smaller of
        the impact cardinality and the number of targets possible.

    Returns
    -------
    float
        At most `target`. The bound is proven, so the guarantee is; it need not be tight.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Examples
    --------
    >>> epsilon = search_com_epsilon(1.0, 8, 19)
    >>> round(epsilon, 6), round(search_com_bound(epsilon, 8, 19), 12)
    (0.436782, 1.0)
    """
    _check(target, movable, impact_cardinality)
    return target / max(_factor(movable, impact_cardinality), 1.0)


def search_com_worst_case(
    epsilon: float,
    movable: int,
    impact_cardinality: int,
    protected: int,
    threshold: float,
    *,
    events: Iterable[Event] = ("empty", "found"),
) -> WorstCase:
    """Search the worst scores for one round of SearchCom, and give their exact loss.

    Parameters
    ----------
    epsilon : float
        In nats, > 0.
    movable, impact_cardinality : int
        As for `search_com_bound`; at least 1.
    protected : int
        Unexamined protected vertices n.
    threshold : float
        K.
    events : iterable of {"empty", "found"}
        Which events to consider.

    Returns
    -------
    WorstCase

    Raises
    ------
    InputError
        If a parameter is out of range.

    Notes
    -----
    *Proved reduction.* Couple the noise. The empty answer becomes rarer when a target's score
    rises and likelier when a protected one's rises; a given target found becomes likelier when
    its own score rises, rarer when any other does. So at fixed scores of the likelier side the
    loss only grows when every moved target moves by the whole sensitivity, in the event's
    favour, and every moved protected vertex moves from -inf to +inf (or back: protected scores
    have no sensitivity); and an unmoved protected vertex may be replaced by a moved one while
    the impact cardinality allows. Only ratios of scores to the sensitivity matter.

    *Searched numerically.* Left free are the scores that do not move and the common offsets.
    The search takes moved targets at one level (the winner may have its own), other targets at
    -inf, and the unmoved protected vertices at one level c, some of them at +inf: a family of
    four parameters (targets moved, vertices at +inf, c, the winner's lead), on a grid refined
    in c. That this family contains the supremum is **not** proved; ``loss`` is the exact loss
    of an explicit pair of scores, hence a true lower bound, and ``upper_bound`` is proven.

    Cost: some 150 pairs of laws per event, 3 to 10 seconds.

    Examples
    --------
    >>> worst = search_com_worst_case(1.0, 1, 2, 9, 3, events=["empty"])
    >>> worst.event, worst.loss <= worst.upper_bound
    ('empty', True)
    """
    _check(epsilon, movable, impact_cardinality)
    if movable < 1 or protected < 0:
        raise InputError("the worst case needs movable >= 1 and protected >= 0")
    chosen = list(events)
    if not chosen or not set(chosen) <= {"empty", "found"}:
        raise InputError(f"events must be 'empty' or 'found', not {chosen!r}")
    noise, stop = search_com_noises(epsilon, 1.0, impact_cardinality)
    search = _Search(noise, stop, impact_cardinality, protected, threshold)
    best = max((search.best(event, movable) for event in chosen), key=lambda found: found[0])
    loss, event, likelier, rarer = best
    return WorstCase(
        loss,
        search_com_bound(epsilon, movable, impact_cardinality),
        event,
        likelier,
        rarer,
        search.evaluations,
    )


def main_text_bound(epsilon: float) -> float:
    """Bound the loss of one round of the main text's search, noise Lap(sensitivity / epsilon).

    Returns
    -------
    float
        ``2 epsilon``, and no less will do: see the notes.

    Raises
    ------
    InputError
        If epsilon is not positive.

    Notes
    -----
    Add 2 sensitivity to the noise of the winner: it still wins, at a density ratio of at most
    ``exp(2 epsilon)``. Already for two targets the loss tends to 2 epsilon: at scale 1 the
    target behind by d wins with probability ``(2 + d) exp(-d) / 4``, so the pair behind by d - 1
    and by d + 1 loses ``2 - ln((3 + d) / (1 + d))``. No pair attains it.

    Examples
    --------
    >>> main_text_bound(1.0)
    2.0
    """
    _check(epsilon, 0, 0)
    return 2.0 * epsilon


def main_text_noise(target: float, sensitivity: float) -> Laplace:
    """Give the noise with which the main text's search really is `target`-private per round.

    Returns
    -------
    Laplace
        ``Lap(2 sensitivity / target)``.

    Raises
    ------
    InputError
        If the target is not positive or the sensitivity negative.

    Examples
    --------
    >>> main_text_noise(0.5, 1.0)
    Laplace(scale=4.0)
    """
    _check(target, 0, 0)
    return Laplace(2.0 * sensitivity / target)


def main_text_loss(targets: int, epsilon: float, lead: float = 0.0) -> float:
    """Exact loss of one target against m - 1 equal others, in the main text's search.

    The target rises by the sensitivity while the others fall by it.

    Parameters
    ----------
    targets : int
        m >= 2.
    epsilon : float
        In nats; the noise is ``Lap(sensitivity / epsilon)``.
    lead : float
        Mean lead of the target over the others, in units of the sensitivity. 0 is the pair that
        common neighbours attain; as the lead falls to -inf the loss tends to 2 epsilon.

    Returns
    -------
    float
        In nats.

    Raises
    ------
    InputError
        If there are fewer than two targets or epsilon is not positive.

    Examples
    --------
    >>> [round(main_text_loss(m, 1.0), 4) for m in (2, 3, 5, 10, 20)]
    [0.9648, 1.4246, 1.759, 1.945, 1.9953]
    >>> round(main_text_loss(2, 1.0, lead=-30.0), 4)
    1.9375
    """
    _check(epsilon, 0, 0)
    if targets < 2:
        raise InputError(f"the loss needs at least two targets, not {targets}")
    noise = Laplace(1.0 / epsilon)
    others = np.zeros(targets - 1)
    ahead = first_target_law(np.append(lead + 1.0, others), noise)
    behind = first_target_law(np.append(lead - 1.0, others), noise)
    return float(ahead.log_found[0] - behind.log_found[0])


def _factor(movable: int, impact: int) -> float:
    if impact == 0:
        return 0.0
    return max(1.0, movable / 4.0 + (1.0 - movable / impact) / 2.0)


def _check(epsilon: float, movable: int, impact: int) -> None:
    if not (np.isfinite(epsilon) and epsilon > 0.0):
        raise InputError(f"epsilon must be a positive number, not {epsilon!r}")
    if not 0 <= movable <= impact:
        raise InputError(
            f"movable targets must lie between 0 and the impact cardinality {impact}, not {movable}"
        )


class _Search:
    """Grid and refinement over the reduced family; counts its evaluations."""

    def __init__(
        self, noise: Laplace, stop: Laplace, impact: int, protected: int, threshold: float
    ) -> None:
        self.noise, self.stop = noise, stop
        self.impact, self.protected, self.threshold = impact, protected, threshold
        self.evaluations = 0

    def best(self, event: Event, movable: int) -> tuple[float, Event, RoundScores, RoundScores]:
        """Best of the grid, refined in the protected level."""
        scale = self.noise.scale
        reach = np.log(self.protected + 2.0) + 3.0
        levels = scale * np.linspace(-reach, reach, 11)
        leads = (0.0,) if event == "empty" else (-3.0 * scale, 0.0)
        room = int(min(max(self.threshold, 0.0), self.protected))
        tops = sorted({0, room // 2, room})
        moved = sorted({round(m) for m in np.geomspace(1, movable, 4 if event == "empty" else 2)})
        grid = [
            (m, top, lead, level)
            for m in moved
            for top in tops
            for lead in leads
            for level in levels
        ]
        losses = [self._loss(event, *point) for point in grid]
        m, top, lead, level = grid[int(np.argmax(losses))]
        # between the numbers of moved targets on the grid, at what was best so far
        near = [k for k in range(1, movable + 1) if abs(k - m) <= max(1, m // 2) and k not in moved]
        others = [self._loss(event, k, top, lead, level) for k in near]
        if others and max(others) > max(losses):
            m = near[int(np.argmax(others))]
            losses += others
        step = levels[1] - levels[0]
        refined = minimize_scalar(
            lambda c: -self._loss(event, m, top, lead, float(c)),
            bounds=(level - step, level + step),
            method="bounded",
            options={"xatol": 0.01 * scale, "maxiter": 25},
        )
        if -refined.fun > max(losses):
            level = float(refined.x)
        return (
            self._loss(event, m, top, lead, level),
            event,
            *self._pair(event, m, top, lead, level),
        )

    def _pair(
        self, event: Event, moved: int, top: int, lead: float, level: float
    ) -> tuple[RoundScores, RoundScores]:
        """Scores under which the event is likelier, and rarer."""
        far = _FAR * self.noise.scale + abs(level) + abs(lead)
        shifted = min(self.impact - moved, self.protected)
        top = min(top, self.protected - shifted)
        counts = [self.protected - shifted - top, top, shifted]
        if event == "empty":
            low, high = np.zeros(moved), np.ones(moved)
            likelier = RoundScores.from_levels(low, [level, far, far], counts)
            rarer = RoundScores.from_levels(high, [level, far, -far], counts)
        else:
            with_lead = np.append(lead + 1.0, np.zeros(moved - 1))
            behind = np.append(lead, np.ones(moved - 1))
            likelier = RoundScores.from_levels(with_lead, [level, far, -far], counts)
            rarer = RoundScores.from_levels(behind, [level, far, far], counts)
        return likelier, rarer

    def _loss(self, event: Event, moved: int, top: int, lead: float, level: float) -> float:
        self.evaluations += 1
        logs = []
        for scores in self._pair(event, moved, top, lead, level):
            law = search_com_law(
                scores, noise=self.noise, threshold=self.threshold, threshold_noise=self.stop
            )
            logs.append(law.log_none if event == "empty" else float(law.log_found[0]))
        # an event impossible on the likelier side loses nothing
        return logs[0] - logs[1] if np.isfinite(logs[0]) else -np.inf
