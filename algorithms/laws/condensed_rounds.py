"""Exact law of several rounds of SearchCom along one path, with what stays hidden integrated out.

A round's winning score and stopping rule weigh the law of who is left; :mod:`.hidden_states` says
the same by some fifty laws under which vertices are independent, and from each of them the next
round starts as the first did. The cost grows with the classes, not with their joint counts, and is
much the same in each round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pdpaudit.core.protocols import LawUnavailable

from .hidden_rounds import PathRound, Spending
from .hidden_states import Futures, Mixture, Rule, Weighed, condense, pass_and_fail, passed
from .noise import Laplace
from .one_round import laplace_panels, winner_factors
from .quadrature import Factors, panels_of

__all__ = ["condensed_path_law", "least_cost"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_leggauss = np.polynomial.legendre.leggauss
# What a winning score may be left out for adding, of each integral; and a law for weighing.
_NEGLIGIBLE, _ROUGH = 1e-17, 1e-14
# Nodes of a panel in the first and last round, where few laws meet, and between.
_FINE, _COARSE = 12, 7
# Largest angle and tilt of one vertex.
_STEEPEST = 3.0
# Tilts reach so many deviations of the number examined in all, angles of that at one score.
_WIDEST, _DEEPEST = 4.0, 5.0
# Points from which laws are chosen, and tilts at each, in deviations.
_POINTS, _TILTS = 250, (-1.5, 0.0, 1.5)
# Factors of a product that take as long as a point and a class.
_PRICE = 6.0
# Relative error of a probability that may remain.
_ERROR = 1e-9


@dataclass(frozen=True)
class _Effort:
    """How many products over who is left are matched."""

    quantiles: FloatArray
    turns: int
    radius: float
    products: int


_EFFORTS = (
    _Effort(np.array([1e-4, 0.02, 0.2, 0.5, 0.8, 0.98, 0.9999]), 3, 8.0, 200),
    _Effort(np.array([1e-4, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 0.9999]), 4, 11.0, 240),
    _Effort(np.array([1e-5, 1e-3, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 0.999, 0.99999]), 6, 16.0, 320),
    _Effort(np.concatenate([[1e-6, 1e-4], np.linspace(0.01, 0.99, 13), [0.9999]]), 8, 30.0, 480),
)


@dataclass(frozen=True, eq=False)
class _Grid:
    """Where a round's winning score is taken, and what a target of each level weighs there."""

    x: FloatArray
    races: FloatArray
    above: FloatArray
    passing: FloatArray
    failing: FloatArray


def condensed_path_law(
    sizes: NDArray[np.int64],
    rounds: Sequence[PathRound],
    *,
    noise: Laplace,
    threshold: float,
    threshold_noise: Laplace,
    purse: Spending,
) -> FloatArray:
    """Return the law of the last round, jointly with the winners of those before.

    The law of who is left after a round is an integral over the winning score, where the rule's
    survival function weighs it. It is replaced by a mixture of few laws under which vertices are
    independent, fitted to its expectations of products over who is left, such as the rounds to
    come are made of. A second mixture, fitted to four fifths of them, has to give the same
    probabilities; if it does not, the last round takes the law as it was before it was replaced,
    where that is a mixture throughout, and else more products are taken. Nodes are those of
    adaptive quadrature for the mean law and both extremes. Cost: about a second in the last round
    and some seconds in each between for ten classes, in proportion to the classes.
    """
    classes = sizes.astype(float)
    setting = _Setting(classes, noise, Rule(float(threshold), threshold_noise.scale), purse)
    start = Mixture(np.ones((1, classes.size)), np.ones((1, 1)))
    mixture, grid = _begin(setting, rounds[0], start, _FINE)
    law = _outcomes(setting, rounds[0], mixture, grid) if len(rounds) == 1 else np.zeros(0)
    for number, now in enumerate(rounds[1:], start=1):
        last = number + 1 == len(rounds)
        nodes = _FINE if last else _COARSE
        groups = _alike(rounds[:number])
        for effort in _EFFORTS:
            first, second, whole = _advance(setting, mixture, grid, groups, rounds[number:], effort)
            after, following = _begin(setting, now, first, nodes)
            law = _outcomes(setting, now, after, following)
            other = _outcomes(setting, now, _unexplored(second, now), following)
            if np.all(np.abs(law - other) <= _ERROR * np.abs(law)):
                break
            if last and whole is not None:
                law = _outcomes(setting, now, _unexplored(whole, now), following)
                break
        else:
            raise LawUnavailable(
                "the law of so many search rounds cannot be told to nine digits here: ask for "
                "fewer components, or sample (--samples)"
            )
        mixture, grid = after, following
    shape = [len(now.levels) for now in rounds]
    shape[-1] += 1
    return law.reshape(shape)


@dataclass(frozen=True, eq=False)
class _Setting:
    """What is the same in all rounds."""

    sizes: FloatArray
    noise: Laplace
    rule: Rule
    purse: Spending

    def spend(self, cost: float) -> None:
        """Pay for so many points times classes."""
        self.purse.spend(_PRICE * cost)


def _begin(
    setting: _Setting, now: PathRound, mixture: Mixture, nodes: int
) -> tuple[Mixture, _Grid]:
    """Begin a round: nobody is left in a class that statistic-first search has examined."""
    mixture = _unexplored(mixture, now)
    return mixture, _grid(setting, now, mixture, nodes)


def _unexplored(mixture: Mixture, now: PathRound) -> Mixture:
    return Mixture(np.where(now.explored, 0.0, mixture.left), mixture.weight)


def least_cost(classes: int, rounds: int) -> float:
    """Return the least that so many rounds cost, in what `Spending` counts."""
    return _PRICE * classes * (2e4 + 2e5 * max(rounds - 2, 0)) if rounds > 1 else 0.0


def _alike(past: Sequence[PathRound]) -> list[IntArray]:
    """Classes that have not differed so far."""
    columns = [c for now in past for c in (now.class_scores, now.explored.astype(float))]
    _, inverse = np.unique(np.column_stack(columns), axis=0, return_inverse=True)
    inverse = inverse.ravel()
    return [np.flatnonzero(inverse == number) for number in range(int(inverse.max()) + 1)]


def _outcomes(setting: _Setting, now: PathRound, mixture: Mixture, grid: _Grid) -> FloatArray:
    """Return each level's probability in a round, and that of finding nothing."""
    states, nodes = len(mixture.left), len(grid.x)
    setting.spend(states * nodes * setting.sizes.size)
    chance = (mixture.left[:, None, :] * grid.above).reshape(states * nodes, -1)
    log_pass, log_fail = pass_and_fail(chance, setting.sizes, setting.rule)
    won = np.exp(log_pass).reshape(states, nodes) @ grid.races
    none = np.exp(log_fail).reshape(states, nodes) @ (grid.races @ now.level_sizes)
    return np.asarray(mixture.weight.T @ np.column_stack([won, none]))


def _grid(setting: _Setting, now: PathRound, mixture: Mixture, nodes: int) -> _Grid:
    """Place the winning scores so that rounds from the mean state and from the extremes resolve."""
    sizes, noise = setting.sizes, setting.noise
    counts = mixture.left @ sizes
    picked = np.unique([counts.argmin(), counts.argmax()])
    typical = np.vstack([mixture.mean(), mixture.left[picked]])
    if len(mixture.left) == 1:
        typical = mixture.left
    size = now.level_sizes

    def rule_at(x: FloatArray) -> tuple[FloatArray, FloatArray]:
        above = noise.sf(x[:, None] - now.class_scores)
        chance = (typical[:, None, :] * above).reshape(-1, sizes.size)
        setting.spend(chance.size)
        log_pass, log_fail = pass_and_fail(chance, sizes, setting.rule)
        return log_pass.reshape(len(typical), -1), log_fail.reshape(len(typical), -1)

    def factors(x: FloatArray) -> Factors:
        centred = x[:, None] - now.levels
        log_pdf, log_cdf = noise.logpdf(centred), noise.logcdf(centred)
        parts = [
            winner_factors(log_pdf, log_cdf, size, stop) for stop in zip(*rule_at(x), strict=True)
        ]
        return Factors(
            np.hstack([part.up for part in parts]),
            np.hstack([part.down for part in parts]),
            np.hstack([part.either for part in parts]),
        )

    present = sizes * (mixture.left.max(axis=0) > 0)
    kinks = np.union1d(now.levels, now.class_scores[present > 0])
    crowd = float(present.sum() + size.sum())
    ends = panels_of(factors, laplace_panels(kinks, noise, crowd))
    middle, half = 0.5 * (ends[1:] + ends[:-1]), 0.5 * np.diff(ends)
    x = (middle[:, None] + half[:, None] * _leggauss(nodes)[0]).ravel()
    weight = (half[:, None] * _leggauss(nodes)[1]).ravel()
    centred = x[:, None] - now.levels
    log_cdf = noise.logcdf(centred)
    races = np.exp(noise.logpdf(centred) + (log_cdf @ size)[:, None] - log_cdf) * weight[:, None]
    log_pass, log_fail = rule_at(x)
    passing, failing = np.exp(log_pass), np.exp(log_fail)
    kept = np.zeros(x.size, dtype=bool)
    for chance in (*passing, *failing):
        share = races * chance[:, None]
        kept |= (share > _NEGLIGIBLE * share.sum(axis=0)).any(axis=1)
    return _Grid(
        x[kept],
        races[kept],
        noise.sf(x[kept, None] - now.class_scores),
        passing[:, kept],
        failing[:, kept],
    )


def _advance(
    setting: _Setting,
    mixture: Mixture,
    grid: _Grid,
    groups: Sequence[IntArray],
    coming: Sequence[PathRound],
    effort: _Effort,
) -> tuple[Mixture, Mixture, Mixture | None]:
    """Let the round be won, and say what is left by few laws in two ways; and by all, if it is."""
    sizes = setting.sizes
    share = np.abs(mixture.weight).sum(axis=1)[:, None] * grid.races.sum(axis=1)
    rough = share * grid.passing.max(axis=0)
    state, node = np.nonzero(rough > _ROUGH * rough.sum())
    weight = mixture.weight[state][:, :, None] * grid.races[node][:, None, :]
    points = Weighed(
        mixture.left[state],
        grid.above[node],
        weight.reshape(state.size, -1),
        node,
        rough[state, node],
    )
    # Always the same numbers, so that a law is the same whenever it is asked for.
    rng = np.random.default_rng(0)
    futures = _futures(setting, points, groups, coming, effort, rng)
    setting.spend(state.size * (4 * sizes.size + len(futures.eta)))
    after, rest = passed(points, futures, sizes, setting.rule, setting.spend)
    candidates, worth = _candidates(points, sizes, rng)
    spared = rng.random(len(futures.eta)) < 0.2
    spared[futures.partner] = False
    first, second = condense(after, rest, candidates, worth, futures, sizes, spared)
    return first, second, None if rest.any() else after


def _candidates(
    points: Weighed, sizes: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Laws of who is left at some of the points, tilted or not, and what each has to do with."""
    total = points.worth.sum()
    some = np.flatnonzero(points.worth > 1e-13 * total)
    if some.size > _POINTS:
        some = rng.choice(some, _POINTS, replace=False)
    left, above = points.left[some], points.above[some]
    chance = left * above
    spread = np.sqrt(np.maximum((chance * (1.0 - chance)) @ sizes, 1.0))
    laws = []
    for tilt in _TILTS:
        ratio = np.expm1(np.clip(tilt / spread, -_STEEPEST, _STEEPEST))
        laws.append(left * (1.0 - above) / (1.0 + chance * ratio[:, None]))
    return np.concatenate(laws), np.tile(points.worth[some] / total, len(_TILTS))


@dataclass(frozen=True, eq=False)
class _Look:
    """A coming round at some winning scores: who is above, how far to tilt and turn each."""

    above: FloatArray
    tilts: FloatArray
    angles: FloatArray
    there: FloatArray
    matters: FloatArray


def _futures(
    setting: _Setting,
    points: Weighed,
    groups: Sequence[IntArray],
    coming: Sequence[PathRound],
    effort: _Effort,
    rng: np.random.Generator,
) -> Futures:
    """Products over who is left that resemble what the rounds to come ask for."""
    share = points.worth / points.worth.sum()
    laws = points.left * (1.0 - points.above)
    looks = []
    for now in coming:
        there = np.where(now.explored, 0.0, 1.0)
        laws = laws * there
        mean = share @ laws
        _, grid = _begin(setting, now, Mixture(mean[None], np.ones((1, 1))), _COARSE)
        mass = grid.races @ now.level_sizes
        spots = []
        matters = np.zeros(len(mass))
        for chance in (grid.passing[0], grid.failing[0]):
            below = np.cumsum(mass * chance)
            below /= below[-1]
            spots.append(np.searchsorted(below, effort.quantiles))
            matters = np.maximum(matters, np.minimum(below, 1.0 - below))
        some = np.unique(np.minimum(np.concatenate(spots), len(mass) - 1))
        above = grid.above[some]
        chance = mean * above
        variance = (chance * (1.0 - chance)) @ setting.sizes
        means = laws @ (above * setting.sizes).T
        wide = np.sqrt(np.maximum(variance + share @ (means - share @ means) ** 2, 1.0))
        angles = np.minimum(effort.radius / wide, _DEEPEST / np.sqrt(np.maximum(variance, 1e-9)))
        looks.append(
            _Look(
                above,
                np.minimum(_WIDEST / wide, min(1.0 / setting.rule.scale, _STEEPEST)),
                np.minimum(angles, np.pi),
                there,
                np.clip(2.0 * matters[some], 1e-7, 1.0),
            )
        )
        laws = laws * (1.0 - above[len(some) // 2])
    return _products(looks, groups, effort, rng)


def _products(
    looks: Sequence[_Look],
    groups: Sequence[IntArray],
    effort: _Effort,
    rng: np.random.Generator,
) -> Futures:
    """Every look with every tilt if it is the only one, else some combinations; each turned."""
    turns = effort.turns
    alone = len(looks) == 1
    heads = 3 * len(looks[0].above) if alone else effort.products // (turns + 1)
    partner = np.repeat(np.arange(heads) * (turns + 1), turns + 1)
    turn = np.tile(np.arange(turns + 1), heads)
    eta = np.zeros((partner.size, looks[0].there.size), dtype=np.complex128)
    matters = np.ones(partner.size)
    for look in reversed(looks):
        count = len(look.above)
        row = np.arange(heads) // 3 if alone else rng.integers(count, size=heads)
        tilt = np.arange(heads) % 3 - 1 if alone else rng.integers(-1, 2, size=heads)
        row, tilt = np.repeat(row, turns + 1), np.repeat(tilt, turns + 1)
        part = (turn - 1 + rng.random(turn.size)) / turns
        if not alone:
            part = rng.uniform(-1.0, 1.0, turn.size)
        angle = np.where(turn == 0, 0.0, part * look.angles[row])
        zeta = np.exp(tilt * look.tilts[row] + 1j * angle)
        above = look.above[row]
        eta = look.there * (above * (zeta - 1.0)[:, None] + (1.0 - above) * eta)
        matters *= look.matters[row]
    return Futures(eta, partner, matters, groups)
