"""What is true instead: the largest loss a round can have, and the noise that repairs it.

Everything here depends on the network only through the declared sensitivity and impact
cardinality, never through the network at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from .noise import Laplace
from .one_round import RoundScores, panel_nodes, search_com_law, search_com_noises
from .stopping import log_pass_fail

FloatArray = NDArray[np.float64]
Event = Literal["empty", "found"]

# Scores this many noise scales away stand for -inf and +inf: they matter less than exp(-60).
_FAR = 60.0
# Nodes of a panel, for losses to some digits.
_ROUGH = 6


@dataclass(frozen=True, eq=False)
class WorstCase:
    """The largest loss found for SearchCom, with the scores that attain it."""

    loss: float
    upper_bound: float
    event: Event
    likelier: RoundScores
    rarer: RoundScores
    evaluations: int


def search_com_bound(
    epsilon: float, movable: int, impact_cardinality: int, *, extra: int = 0
) -> float:
    """Bound the loss of one round of SearchCom over all pairs and events.

    Found target t: add 2 sensitivity to its noise (density ratio ``exp(epsilon / 2)`` at scale
    4 sensitivity / epsilon). It still wins, and the protected vertices above it grow by at most
    IC, which the threshold's noise absorbs for another epsilon / 2. Empty answer: move the
    noise of the movable targets by the sensitivity each (epsilon / 4 each), so that the largest
    target is no higher than before; the at most ``IC - movable`` protected vertices that
    changed are absorbed by the threshold's noise.
    """
    if impact_cardinality == 0:
        return 0.0
    more = extra / impact_cardinality / 2.0
    empty = movable / 4.0 + (1.0 - movable / impact_cardinality) / 2.0
    return epsilon * max(1.0 + more, empty + more)


def search_com_worst_case(
    epsilon: float,
    movable: int,
    impact_cardinality: int,
    protected: int,
    threshold: float,
    *,
    events: Iterable[Event] = ("empty", "found"),
    extra: int = 0,
) -> WorstCase:
    """Search the worst scores for one round of SearchCom, and give their exact loss.

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
    in c and the lead. That this family contains the supremum is **not** proved; ``loss`` is the
    exact loss of an explicit pair of scores, hence a true lower bound, and ``upper_bound`` is
    proven.

    Cost: some hundred to a thousand pairs by quadrature to a few digits, which share one
    stopping curve for each number of targets moved and of vertices at +inf, and two laws: about
    a second for each event, whatever the numbers of vertices.
    """
    noise, stop = search_com_noises(epsilon, 1.0, impact_cardinality)
    search = _Search(noise, stop, impact_cardinality + extra, protected, threshold)
    bound_if_found = epsilon * (1.0 + extra / impact_cardinality / 2.0)
    best: tuple[float, Event, RoundScores, RoundScores] | None = None
    for event in sorted(events):
        # what a found target loses at most need not be searched below what the empty answer does
        if best is None or event == "empty" or best[0] < bound_if_found:
            one = search.best(event, movable)
            best = one if best is None or one[0] > best[0] else best
    assert best is not None
    loss, event, likelier, rarer = best
    return WorstCase(
        loss,
        search_com_bound(epsilon, movable, impact_cardinality, extra=extra),
        event,
        likelier,
        rarer,
        search.evaluations,
    )


def main_text_bound(epsilon: float) -> float:
    """Bound the loss of one round of the main text's search, noise Lap(sensitivity / epsilon).

    Add 2 sensitivity to the noise of the winner: it still wins, at a density ratio of at most
    ``exp(2 epsilon)``. Already for two targets the loss tends to 2 epsilon: at scale 1 the
    target behind by d wins with probability ``(2 + d) exp(-d) / 4``, so the pair behind by d - 1
    and by d + 1 loses ``2 - ln((3 + d) / (1 + d))``. No pair attains it.
    """
    return 2.0 * epsilon


class _Search:
    """Rough losses over the reduced family, and the exact one of its worst member."""

    def __init__(
        self, noise: Laplace, stop: Laplace, impact: int, protected: int, threshold: float
    ) -> None:
        self.noise, self.stop = noise, stop
        self.impact, self.protected, self.threshold = impact, protected, threshold
        self.evaluations = 0
        self._curves: dict[tuple[int, int], tuple[_Curve, _Curve]] = {}

    def best(self, event: Event, movable: int) -> tuple[float, Event, RoundScores, RoundScores]:
        """Best of a grid, refined in the moved targets, then in the level and the lead."""
        scale = self.noise.scale
        reach = np.log(self.protected + 2.0) + 3.0
        levels = scale * np.linspace(-reach, reach, 21)
        leads = scale * np.array([0.0] if event == "empty" else [-3.0, -1.0, 0.0])
        room = int(min(max(self.threshold, 0.0), self.protected))
        tops = sorted({0, room // 2, room})
        tried = sorted({round(m) for m in np.geomspace(1, movable, 6)})
        losses: dict[tuple[int, int, float, float], float] = {}

        def look(moved: int, top: int, lead: float, level: float) -> float:
            point = (moved, top, lead, level)
            if point not in losses:
                losses[point] = self._rough(event, *point)
            return losses[point]

        def worst() -> tuple[int, int, float, float]:
            return max(losses, key=lambda point: losses[point])

        def refine(span: float, *, leads: bool) -> None:
            """Look around the worst lead, or level, until little changes."""
            from scipy.optimize import minimize_scalar  # takes long to import

            m, top, lead, level = worst()
            centre = lead if leads else level

            def minus_loss(at: float) -> float:
                at = float(at)
                return -look(m, top, at, level) if leads else -look(m, top, lead, at)

            minimize_scalar(
                minus_loss,
                bounds=(centre - span, centre + span),
                method="bounded",
                options={"xatol": 2e-3 * span, "maxiter": 25},
            )

        for m, top, lead, level in product(tried, tops, leads.tolist(), levels.tolist()):
            look(m, top, lead, level)
        m, top, lead, level = worst()
        # between the numbers of moved targets on the grid, at what was best so far
        for near in np.linspace(max(1, (2 * m) // 3), min(movable, (3 * m) // 2 + 1), 16):
            look(round(near), top, lead, level)
        for _ in range(1 if event == "empty" else 2):
            refine(levels[1] - levels[0], leads=False)
            if event == "found":
                refine(3.0 * scale, leads=True)
        point = worst()
        self.evaluations += len(losses)
        pair = self._pair(event, *point)
        return self._exact(event, pair), event, *pair

    def _counts(self, moved: int, top: int) -> tuple[int, int, int]:
        """How many protected vertices stay at the level, stay at +inf, and move."""
        shifted = min(self.impact - moved, self.protected)
        top = min(top, self.protected - shifted)
        return self.protected - shifted - top, top, shifted

    def _pair(
        self, event: Event, moved: int, top: int, lead: float, level: float
    ) -> tuple[RoundScores, RoundScores]:
        """Scores under which the event is likelier, and rarer."""
        far = _FAR * self.noise.scale + abs(level) + abs(lead)
        counts = self._counts(moved, top)
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

    def _exact(self, event: Event, pair: tuple[RoundScores, RoundScores]) -> float:
        logs = []
        for scores in pair:
            law = search_com_law(
                scores, noise=self.noise, threshold=self.threshold, threshold_noise=self.stop
            )
            logs.append(law.log_none if event == "empty" else float(law.log_found[0]))
        # an event impossible on the likelier side loses nothing
        return logs[0] - logs[1] if np.isfinite(logs[0]) else -np.inf

    def _rough(self, event: Event, moved: int, top: int, lead: float, level: float) -> float:
        """Loss to some digits, enough to see which scores are worst."""
        b = self.noise.scale
        fewer, more = self._stop_curves(moved, top)
        logs = []
        for likelier in (True, False):
            if event == "empty":
                # the vertices that moved are above on the likelier side
                winner = others = 0.0 if likelier else 1.0
                stop = (more if likelier else fewer).log_fail
            else:
                winner, others = (lead + 1.0, 0.0) if likelier else (lead, 1.0)
                stop = (fewer if likelier else more).log_pass
            x, weight = _nodes(sorted({winner, others, level}), b, np.log(moved + 1.0))
            values = self.noise.logpdf(x - winner) + stop((x - level) / b)
            if moved > 1:
                values = values + (moved - 1.0) * self.noise.logcdf(x - others)
            logs.append(float(logsumexp(values, b=weight)))
        return logs[0] - logs[1] if np.isfinite(logs[0]) else -np.inf

    def _stop_curves(self, moved: int, top: int) -> tuple[_Curve, _Curve]:
        """Return the stopping rule where those that moved are below, and where they are above."""
        if (moved, top) not in self._curves:
            level, above, shifted = self._counts(moved, top)
            self._curves[moved, top] = (
                _Curve.of(level, self.threshold - above, self.stop.scale),
                _Curve.of(level, self.threshold - above - shifted, self.stop.scale),
            )
        return self._curves[moved, top]


@dataclass(frozen=True, eq=False)
class _Curve:
    """Log probability of passing and failing, from a winner's lead over one level, in scales."""

    reach: float
    passing: Callable[[FloatArray], FloatArray]
    failing: Callable[[FloatArray], FloatArray]

    @classmethod
    def of(cls, count: int, threshold: float, scale: float) -> _Curve:
        from scipy.interpolate import PchipInterpolator  # takes long to import

        unit = Laplace(1.0)
        reach = np.log(count + 2.0) + 40.0
        steps = [np.arange(-reach, reach, 0.1)]
        if 0.0 < threshold < count:
            # where as many as allowed are above on average, all may change at once
            turn = -float(unit.quantile_log(np.log(threshold / count)))
            near = np.geomspace(1e-4, 1.0, 40)
            steps += [turn - near, turn + near]
        at = np.unique(np.concatenate(steps))
        above, below = unit.logsf(at)[:, None], unit.logcdf(at)[:, None]
        passing, failing = log_pass_fail(above, below, np.array([float(count)]), threshold, scale)
        with np.errstate(over="ignore"):  # slopes that are nearly 0, one over which it takes
            curves = [PchipInterpolator(at, np.maximum(y, -1e4)) for y in (passing, failing)]
        return cls(float(min(-at[0], at[-1])), *curves)

    def log_pass(self, lead: FloatArray) -> FloatArray:
        return np.asarray(self.passing(np.clip(lead, -self.reach, self.reach)))

    def log_fail(self, lead: FloatArray) -> FloatArray:
        return np.asarray(self.failing(np.clip(lead, -self.reach, self.reach)))


def _nodes(kinks: list[float], scale: float, crowd: float) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of short panels between the kinks and far enough around them."""
    low, high = kinks[0] - 14.0 * scale, kinks[-1] + (crowd + 30.0) * scale
    steps = np.arange(low, high, 0.7 * scale)
    ends = np.unique(np.concatenate([steps, kinks, [high]]))
    return panel_nodes(ends, _ROUGH)
