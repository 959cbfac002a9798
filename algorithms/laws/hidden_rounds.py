"""Exact law of several rounds of SearchCom along one path, by integrating over what was hidden.

Given the noisy scores at which the winners of all rounds won, the protected vertices are
independent: each is examined in the first round with one probability, else in the second with
another, and so on. The rounds' stopping rules, of the numbers examined, tie them together again;
but written as sums of powers ``z^b`` they do not either, so that all that is left is one product
over the classes for each choice of winning scores and powers. The cost grows with the classes, not
with their joint counts, and with a power of the rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdpaudit.core.protocols import LawUnavailable

from .noise import Laplace

__all__ = ["PathRound", "Spending", "path_law"]

FloatArray = NDArray[np.float64]
Numbers = NDArray[np.complex128] | FloatArray

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
# Mass left out at the lower end of an integral, relatively; and at the upper end, in scales.
_TAIL = 1e-13
_REACH = 30.0
# What may be neglected of a stopping rule: its logarithm, for a number out of its window.
_NEGLIGIBLE = 29.0
# Noise on the limit so narrow that powers of its tail overflow: interpolated everywhere.
_STEEPEST = 300.0
# Numbers held at once.
_CHUNK = 1_000_000
# Tilts at which the chance of examining more than K is bounded.
_TILTS = np.array([0.003, 0.01, 0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1.2, 2.0, 4.0])


@dataclass(frozen=True, eq=False)
class PathRound:
    """One round on a path."""

    levels: FloatArray
    level_sizes: NDArray[np.int64]
    class_scores: FloatArray
    explored: NDArray[np.bool_]


#: Factors of a product that take about a second.
COST_PER_SECOND = 1e7


@dataclass
class Spending:
    """What a computation may still cost, in factors of a product."""

    left: float

    def spend(self, cost: float) -> None:
        """Pay, or raise `LawUnavailable`."""
        self.left -= cost
        if self.left < 0:
            raise LawUnavailable(
                "the exact law of so many search rounds costs too much here: ask for fewer "
                "components, or sample (--samples)"
            )


@dataclass(frozen=True, eq=False)
class _Grid:
    """Where a round's winning score is taken, and what each level's race weighs there."""

    races: FloatArray
    above: FloatArray


@dataclass(frozen=True, eq=False)
class _Prefix:
    """Terms of the sum so far: a product over classes of ``fixed + open * (what follows)``."""

    weight: Numbers
    fixed: Numbers
    open: Numbers
    tilt: FloatArray
    survived: FloatArray


@dataclass(frozen=True, eq=False)
class _Terms:
    """A stopping rule as a sum of powers: node, ln z, and coefficients of passing and failing."""

    node: NDArray[np.int64] = field(repr=False)
    log_z: Numbers
    log_weight: FloatArray
    passing: Numbers
    failing: Numbers


@dataclass(frozen=True, eq=False)
class _Search:
    """What is the same in all rounds."""

    sizes: FloatArray
    threshold: float
    stop: float
    purse: Spending


def path_law(
    sizes: NDArray[np.int64],
    rounds: Sequence[PathRound],
    *,
    noise: Laplace,
    threshold: float,
    threshold_noise: Laplace,
    purse: Spending,
) -> FloatArray:
    """Return the law of the last round, jointly with the winners of those before.

    Derivation: with ``a_j`` a class's chance of being above the j-th winning score,
    ``E[prod z_j^{B_j}]`` is the product over vertices of
    ``a_1 z_1 + (1 - a_1)(a_2 z_2 + (1 - a_2)(...))``. The survival function of K + Laplace noise
    is ``1 - e^{(b-K)/s}/2`` where no more than K are examined but with negligible probability;
    elsewhere it is interpolated by a Fourier sum over the numbers that may be examined, of which
    the high frequencies are damped by the spread of that number. Cost: (winning scores times
    terms) to the power of the rounds, times the classes.
    """
    classes = sizes.astype(float)
    grids = []
    for now in rounds:
        alive = np.where(now.explored, 0.0, classes)
        grids.append(_grid(now, alive, noise, threshold, threshold_noise.scale))
    start = _Prefix(
        np.ones(1),
        np.zeros((1, classes.size)),
        np.ones((1, classes.size)),
        np.zeros((1, classes.size)),
        np.ones(classes.size),
    )
    search = _Search(classes, float(threshold), threshold_noise.scale, purse)
    return _descend(search, rounds, grids, start)


def _descend(
    search: _Search, rounds: Sequence[PathRound], grids: Sequence[_Grid], before: _Prefix
) -> FloatArray:
    """Sum over all winning scores and powers of the rounds left."""
    now, grid = rounds[0], grids[0]
    before = _explore(before, now.explored)
    terms = _terms(search, grid.above, before)
    if len(rounds) == 1:
        return _last(search, now, grid, before, terms)
    result: FloatArray | None = None
    for part in terms:
        for node in np.unique(part.node):
            mine = np.flatnonzero(part.node == node)
            after = _after(before, part, mine, grid.above[node])
            below = _descend(search, rounds[1:], grids[1:], after)
            share = np.multiply.outer(grid.races[node], below)
            result = share if result is None else result + share
    assert result is not None
    return result


def _explore(before: _Prefix, explored: NDArray[np.bool_]) -> _Prefix:
    """Nobody is left in a class that statistic-first search has examined."""
    if not explored.any():
        return before
    return _Prefix(
        before.weight,
        np.where(explored, before.fixed + before.open, before.fixed),
        np.where(explored, 0.0, before.open),
        np.where(explored, before.tilt + before.survived, before.tilt),
        np.where(explored, 0.0, before.survived),
    )


def _after(before: _Prefix, part: _Terms, mine: NDArray[np.int64], above: FloatArray) -> _Prefix:
    """Let a round win at one score, with the terms ``mine`` for passing its stopping rule."""
    z = np.exp(part.log_z[mine])[:, None, None]
    fixed: NDArray[Any] = before.fixed + before.open * above * z
    survivors: NDArray[Any] = np.broadcast_to(before.open * (1.0 - above), fixed.shape)
    weight = (part.passing[mine] * np.exp(part.log_weight[mine]))[:, None] * before.weight
    tilt = before.tilt + before.survived * above * np.abs(z)
    count = fixed.shape[0] * fixed.shape[1]
    return _Prefix(
        weight.ravel(),
        fixed.reshape(count, -1),
        survivors.reshape(count, -1),
        np.broadcast_to(tilt, fixed.shape).reshape(count, -1),
        before.survived * (1.0 - above),
    )


def _last(
    search: _Search,
    now: PathRound,
    grid: _Grid,
    before: _Prefix,
    terms: Sequence[_Terms],
) -> FloatArray:
    """Return each level's probability in the last round, and that of finding nothing."""
    passed = np.zeros(grid.races.shape[0])
    failed = np.zeros(grid.races.shape[0])
    alive = search.sizes > 0
    sizes = search.sizes[alive]
    fixed, left = before.fixed[:, alive], before.open[:, alive]
    for part in terms:
        search.purse.spend(
            part.node.size
            * fixed.size
            * (1.0 if np.isrealobj(part.log_z) and np.isrealobj(fixed) else 4.0)
            / 4.0
        )
        step = max(1, _CHUNK // max(fixed.size, 1))
        for begin in range(0, part.node.size, step):
            piece = slice(begin, begin + step)
            above = grid.above[part.node[piece]][:, alive]
            factor = above * np.exp(part.log_z[piece])[:, None] + (1.0 - above)
            logs = np.log(fixed + left * factor[:, None, :]) @ sizes
            values = np.exp(logs + part.log_weight[piece, None]) @ before.weight
            passed += np.bincount(
                part.node[piece], np.real(part.passing[piece] * values), passed.size
            )
            failed += np.bincount(
                part.node[piece], np.real(part.failing[piece] * values), failed.size
            )
    won = grid.races.T @ passed
    return np.append(won, (grid.races @ now.level_sizes) @ failed)


def _grid(now: PathRound, sizes: FloatArray, noise: Laplace, limit: float, stop: float) -> _Grid:
    """Place the winning scores: closer where the number examined passes the limit."""
    scale = noise.scale
    levels, counts = now.levels, now.level_sizes
    top = float(levels.max())
    high = top + scale * (np.log(counts.sum()) + _REACH)
    rough = np.linspace(levels.min() + scale * np.log(_TAIL), high, 1000)
    below = noise.logcdf(rough[:, None] - levels) @ counts
    low = rough[max(int(np.searchsorted(below, np.log(_TAIL))) - 1, 0)]
    kinks = np.unique(np.concatenate([levels, now.class_scores[sizes > 0]]))
    kinks = kinks[(kinks > low) & (kinks < high)]
    ends = [low]
    for a, b in pairwise([low, *kinks.tolist(), high]):
        x = np.linspace(a, b, 400)
        above = noise.sf(x[:, None] - now.class_scores)
        mean, spread = above @ sizes, np.sqrt((above * (1.0 - above)) @ sizes)
        # However many more are examined, the search has given up.
        slope = np.exp(noise.logpdf(x[:, None] - now.class_scores)) @ sizes
        slope = np.where(mean > limit + 40.0 * (stop + spread), 0.0, slope)
        far = np.maximum((x - kinks[-1] if kinks.size else x - low) / scale, 0.0)
        rate = 1.0 / (scale * (1.0 + 0.5 * far)) + slope / (3.0 * (stop + spread + 1.0))
        panels = np.concatenate([[0.0], np.cumsum(0.5 * (rate[1:] + rate[:-1]) * np.diff(x))])
        count = max(int(np.ceil(panels[-1])), 1)
        ends += np.interp(np.linspace(0.0, panels[-1], count + 1)[1:], panels, x).tolist()
    edges = np.array(ends)
    middle, half = 0.5 * (edges[1:] + edges[:-1]), 0.5 * np.diff(edges)
    x = (middle[:, None] + half[:, None] * _NODES).ravel()
    weight = (half[:, None] * _WEIGHTS).ravel()
    centred = x[:, None] - levels
    log_cdf = noise.logcdf(centred)
    races = np.exp(noise.logpdf(centred) + (log_cdf @ counts)[:, None] - log_cdf)
    races *= weight[:, None]
    # No level's probability changes in its first thirteen digits.
    kept = (races / races.sum(axis=0)).max(axis=1) > 0.01 * _TAIL
    return _Grid(races[kept], noise.sf(x[kept, None] - now.class_scores))


def _terms(search: _Search, above: FloatArray, before: _Prefix) -> list[_Terms]:
    """Write the stopping rule at every winning score as a sum of powers."""
    threshold, stop = search.threshold, search.stop
    nodes = np.arange(above.shape[0])
    people = float(search.sizes[before.survived > 0].sum())
    far = _never_crosses(search, before.survived * above) if people > threshold else nodes >= 0
    if 1.0 / stop > _STEEPEST:
        far = nodes < 0
    plain = nodes[far]
    parts = []
    if plain.size:
        ones, zeros = np.ones(plain.size), np.zeros(plain.size)
        parts.append(
            _Terms(
                np.concatenate([plain, plain]),
                np.concatenate([zeros, ones / stop]),
                np.concatenate([zeros, ones * (-threshold / stop - np.log(2.0))]),
                np.concatenate([ones, -ones]),
                np.concatenate([zeros, ones]),
            )
        )
    crossing = nodes[~far]
    if crossing.size:
        parts.append(_fourier(search, above, before, crossing))
    return parts


def _never_crosses(search: _Search, chance: FloatArray) -> NDArray[np.bool_]:
    """Whether more than K are examined with negligible probability, tilted by the noise or not."""
    base = 1.0 / search.stop
    with np.errstate(divide="ignore"):
        hit, missed = np.log(chance), np.log1p(-chance)
    plain = np.logaddexp(hit + base, missed) @ search.sizes
    bounds = [
        np.logaddexp(hit + base + tilt, missed) @ search.sizes - plain - tilt * search.threshold
        for tilt in _TILTS
    ]
    least = np.min(bounds, axis=0)
    return np.asarray(least < -_NEGLIGIBLE)


def _fourier(
    search: _Search, above: FloatArray, before: _Prefix, crossing: NDArray[np.int64]
) -> _Terms:
    """Interpolate the stopping rule on all numbers that may be examined, for some nodes."""
    first = before.weight.size == 1
    total = before.tilt + before.survived
    share = before.survived / np.where(total > 0, total, 1.0)
    people = int(search.sizes[before.survived > 0].sum())
    fewest, most = share.min(axis=0) * above[crossing], share.max(axis=0) * above[crossing]
    variance = (np.minimum(most, 0.5) * (1.0 - np.minimum(most, 0.5))) @ search.sizes
    # Bernstein's inequality
    reach = _NEGLIGIBLE / 3.0 + np.sqrt(_NEGLIGIBLE**2 / 9.0 + 2.0 * _NEGLIGIBLE * variance)
    damped = (share.min(axis=0) * above[crossing] * (1.0 - above[crossing])) @ search.sizes
    # Rounded, so that many nodes share a window.
    step = max(16, people // 24)
    low = np.floor(np.maximum(fewest @ search.sizes - reach, 0.0) / step).astype(int) * step
    high = np.ceil((most @ search.sizes + reach) / step).astype(int) * step
    windows, inverse = np.unique(
        np.column_stack([low, np.minimum(high, people)]), axis=0, return_inverse=True
    )
    parts = [
        _window(search, crossing[mine], damped[mine], *window, half=first)
        for number, window in enumerate(windows.tolist())
        for mine in [np.flatnonzero(inverse.ravel() == number)]
    ]
    node, frequency, passing, failing = (
        np.concatenate(column) for column in zip(*parts, strict=True)
    )
    return _Terms(node, 1j * frequency, np.zeros(node.size), passing, failing)


def _window(
    search: _Search,
    nodes: NDArray[np.int64],
    damped: FloatArray,
    low: int,
    high: int,
    *,
    half: bool,
) -> tuple[NDArray[np.int64], FloatArray, Numbers, Numbers]:
    """Interpolate on low..high, with the frequencies that are heard at each node."""
    noise = Laplace(search.stop)
    gaps = np.arange(low, high + 1) - search.threshold
    frequency = 2.0 * np.pi * np.fft.fftfreq(gaps.size).astype(np.float64)
    phase = np.exp(-1j * frequency * low) / gaps.size
    passing, failing = np.fft.fft(noise.sf(gaps)) * phase, np.fft.fft(noise.cdf(gaps)) * phase
    with np.errstate(divide="ignore"):
        loud = np.log(np.maximum(np.abs(passing), np.abs(failing)))
    heard = loud - damped[:, None] * (1.0 - np.cos(frequency)) > -_NEGLIGIBLE - 3.0
    if half:
        # The other half is the conjugate, and only the real part of the sum is taken.
        alone = (frequency == 0.0) | (np.abs(frequency) > np.pi - 1e-9)
        heard &= (frequency >= 0.0) | alone
        passing, failing = (c * np.where(alone, 1.0, 2.0) for c in (passing, failing))
    which, index = np.nonzero(heard)
    return nodes[which], frequency[index], passing[index], failing[index]
