"""Who has been examined is hidden: its law as a mixture of few laws under which vertices are alike.

Between two rounds of SearchCom all that counts is which protected vertices are left. Its law is
that of independent vertices, weighted by the chance of having passed the stopping rule and averaged
over the winning score. Rounds to come see it only through expectations of products
``prod_c y_c^(number left in class c)`` with factors near 1, and these vary so smoothly that some
fifty laws of independent vertices, with weights that may be negative, say the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from pdpaudit.core.protocols import LawUnavailable

from .stopping import clearance, contour, log_moment, log_pass_fail, tilted_excess

__all__ = [
    "Futures",
    "Mixture",
    "Rule",
    "Weighed",
    "condense",
    "log_futures",
    "pass_and_fail",
    "passed",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Complex = NDArray[np.complex128]

# Tilts at which a law that has passed is interpolated, and how many deviations they reach.
_TILTS, _REACH = 18, 3.5
# Bennett exponent beyond which the limit is out of reach, as of `log_pass_fail`.
_CLEAR = 36.0
# Noise on the limit so narrow that powers of its tail overflow.
_STEEPEST = 300.0
# What the interpolation may be off by, of the expectations most sensitive to it.
_INTERPOLATED = 1e-10
# Numbers held at once.
_CHUNK = 2_000_000
# Degree beyond which a logarithm is not expanded, and what the expansion may be off by.
_MOST_DEGREE, _EXPANDED = 40, 1e-15
# Classes of one vertex that are added to a tabulated one; degree of the table on a panel, as wide
# as two deviations; points at which it is checked, and what it may be off by, relatively.
_MOST_SINGLE, _DEGREE, _CHECKED, _TABULATED = 2, 20, 50, 1e-11
# Share of the largest below which a law is no longer independent of others.
_DEPENDENT = 1e-11


@dataclass(frozen=True)
class Rule:
    """The stopping rule: no more than ``limit`` plus Laplace noise of this scale."""

    limit: float
    scale: float


@dataclass(frozen=True, eq=False)
class Mixture:
    """Laws of who is left, vertices being independent, each with a weight."""

    left: FloatArray
    weight: FloatArray

    def mean(self) -> FloatArray:
        """Return how likely a vertex of each class is left, over all histories, shape (C,)."""
        weight = self.weight.sum(axis=1)
        total = float(weight.sum())
        if not total > 0.0:
            return np.asarray(self.left.mean(axis=0))
        return np.asarray(np.clip(weight @ self.left / total, 0.0, 1.0))


@dataclass(frozen=True, eq=False)
class Futures:
    """Products over who is left that rounds to come may ask for."""

    eta: Complex
    partner: IntArray
    matters: FloatArray
    groups: Sequence[IntArray]


@dataclass(frozen=True, eq=False)
class Weighed:
    """Points at which a round is won: the law of who is there, who is above, and weights."""

    left: FloatArray
    above: FloatArray
    weight: FloatArray
    node: IntArray
    worth: FloatArray


def pass_and_fail(
    chance: FloatArray, sizes: FloatArray, rule: Rule
) -> tuple[FloatArray, FloatArray]:
    """Return the logarithms of passing and of failing the rule."""
    some = np.flatnonzero(chance.any(axis=0))
    chance, sizes = np.clip(chance[:, some], 1e-300, 1.0 - 1e-16), sizes[some]
    crowds, single = np.flatnonzero(sizes > 1.0), np.flatnonzero(sizes == 1.0)
    if crowds.size == 1 and single.size <= _MOST_SINGLE:
        crowd = chance[:, crowds[0]], float(sizes[crowds[0]])
        table = _tabulated(*crowd, rule, single.size)
        if table is not None:
            return _with_singles(table, chance[:, single])
    return _pass_and_fail(chance, sizes, rule)


def _pass_and_fail(
    chance: FloatArray, sizes: FloatArray, rule: Rule
) -> tuple[FloatArray, FloatArray]:
    log_pass, log_fail = np.empty(len(chance)), np.empty(len(chance))
    step = max(1, _CHUNK // max(sizes.size, 1))
    for start in range(0, len(chance), step):
        part = slice(start, start + step)
        log_pass[part], log_fail[part] = log_pass_fail(
            np.log(chance[part]), np.log1p(-chance[part]), sizes, rule.limit, rule.scale
        )
    return log_pass, log_fail


def _tabulated(chance: FloatArray, size: float, rule: Rule, fewer: int) -> FloatArray | None:
    """Interpolate passing and failing of a class of vertices, with limits up to ``fewer`` less.

    In the angle whose squared sine is the chance, the number examined has the same deviation
    everywhere, and the logarithms are smooth from one to the next. None where there are too few
    points for that to pay, or interpolation is off.
    """
    phi = np.arcsin(np.sqrt(chance))
    low, high = float(phi.min()), float(phi.max())
    panels = max(1, int(np.ceil((high - low) * np.sqrt(size))))
    if 4 * panels * _DEGREE > chance.size:
        return None
    width = max((high - low) / panels, 1e-300)
    angle = np.pi * (np.arange(_DEGREE) + 0.5) / _DEGREE
    nodes = low + width * (np.arange(panels)[:, None] + 0.5 * (1.0 + np.cos(angle)))
    checked = np.linspace(low, high, _CHECKED + 2)[1:-1]
    where = np.concatenate([nodes.ravel(), checked])
    known = np.stack(
        [
            _pass_and_fail(np.sin(where)[:, None] ** 2, np.array([size]), shifted)
            for shifted in (Rule(rule.limit - less, rule.scale) for less in range(fewer + 1))
        ]
    )
    transform = np.cos(np.outer(np.arange(_DEGREE), angle)) * (2.0 / _DEGREE)
    transform[0] *= 0.5
    count = nodes.size
    values = known[..., :count].reshape(fewer + 1, 2, panels, _DEGREE)
    coefficients = np.moveaxis(values @ transform.T, -1, 0)

    def interpolated(at: FloatArray) -> FloatArray:
        place = (at - low) / width
        panel = np.clip(place.astype(np.int64), 0, panels - 1)
        unit = 2.0 * (place - panel) - 1.0
        # Clenshaw's recurrence
        ahead = behind = np.zeros((fewer + 1, 2, at.size))
        for row in coefficients[:0:-1]:
            ahead, behind = row[..., panel] + 2.0 * unit * ahead - behind, ahead
        return np.asarray(coefficients[0][..., panel] + unit * ahead - behind)

    if not np.all(np.abs(interpolated(checked) - known[..., count:]) <= _TABULATED):
        return None
    return interpolated(phi)


def _with_singles(table: FloatArray, singles: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Let single vertices be examined besides, or not: each that is leaves the limit one less."""
    for chance in singles.T:
        table = np.logaddexp(table[:-1] + np.log1p(-chance), table[1:] + np.log(chance))
    return table[0, 0], table[0, 1]


def passed(
    points: Weighed,
    futures: Futures,
    sizes: FloatArray,
    rule: Rule,
    spend: Callable[[float], None],
) -> tuple[Mixture, Complex]:
    """Let the winners pass the rule, for the expectations of some products over who is left.

    Derivation: with ``zeta = e^t``, the law tilted by t is again one of independent vertices, and
    ``E[S(B) f] = sum_j k_j M(t_j) E_{t_j} f`` over frequencies on the imaginary axis. The
    expectation on the right is an entire function near it that varies slowly, by the correlation
    of the numbers examined in two rounds; so it is replaced by the polynomial through its values
    at some real tilts, and each of them weighs what its Lagrange polynomial sums to. Where K is
    out of reach one or two tilts are exact. A point counts as good enough if the few products
    most sensitive to it agree with their own quadrature.
    """
    eta = futures.eta
    good = _good_nodes(points, futures, sizes, rule)[points.node]
    lefts, weights = [], []
    step = max(1, _CHUNK // (_TILTS * 30))
    interpolated = np.flatnonzero(good)
    for start in range(0, interpolated.size, step):
        part = interpolated[start : start + step]
        owner, after, share = _tilted(points.left[part], points.above[part], sizes, rule)
        lefts.append(after)
        weights.append(share[:, None] * points.weight[part][owner])
    others = np.flatnonzero(~good)
    # Some thirty frequencies of both signs; complex numbers cost ten real ones.
    spend(others.size * len(eta) * sizes.size * 5.0)
    rest = np.zeros((len(eta), points.weight.shape[1]), dtype=np.complex128)
    for start in range(0, others.size, step):
        part = others[start : start + step]
        exact = _exactly(points.left[part], points.above[part], eta, sizes, rule)
        rest += exact.T @ points.weight[part]
    if not lefts:
        shape = (0, points.left.shape[1]), (0, points.weight.shape[1])
        return Mixture(np.zeros(shape[0]), np.zeros(shape[1])), rest
    return Mixture(np.concatenate(lefts), np.concatenate(weights)), rest


def _exactly(
    left: FloatArray, above: FloatArray, futures: Complex, sizes: FloatArray, rule: Rule
) -> Complex:
    """Compute expectations of passing times each product, at each point, by all frequencies."""
    chance = np.clip(left * above, 1e-300, 1.0 - 1e-16)
    hit, missed = np.log(chance), np.log1p(-chance)
    total = float(sizes.sum())
    direct = chance @ sizes > np.floor(rule.limit) + 0.5
    result = np.zeros((len(left), len(futures)), dtype=np.complex128)
    for turned in (False, True):
        mine = np.flatnonzero(direct != turned)
        if not mine.size:
            continue
        sign = -1.0 if turned else 1.0
        base = (hit if turned else missed)[mine]
        log_odds = sign * (hit - missed)[mine]
        limits = np.full(mine.size, total - rule.limit if turned else rule.limit)
        plan = contour(log_odds, sizes, limits, rule.scale, spare=0.3)
        moment = log_moment(log_odds, base, sizes, plan.tilt, plan.centre)
        zeta = np.exp(sign * (plan.tilt[plan.owner] + 1j * plan.theta))
        who = mine[plan.owner]
        share = plan.kernel * np.exp(plan.log_phi + (moment + plan.log_unit)[plan.owner])
        examined = left[who] * above[who] * (zeta - 1.0)[:, None]
        after = left[who] * (1.0 - above[who]) / (1.0 + examined)
        for number, eta in enumerate(futures):
            # Both signs of the frequency, as neither factor is real.
            one = share * np.exp(np.log1p(after * eta) @ sizes)
            two = share * np.exp(np.log1p(after * eta.conj()) @ sizes)
            sums = np.add.reduceat(0.5 * (one + two.conj()), plan.offset)
            if turned:
                sums = np.exp(np.log1p(left[mine] * (1 - above[mine]) * eta) @ sizes) - sums
            result[mine, number] = sums
    return result


def _good_nodes(
    points: Weighed, futures: Futures, sizes: FloatArray, rule: Rule
) -> NDArray[np.bool_]:
    """Return at which winning scores interpolation is good enough: looked at for some laws each."""
    good = np.zeros(int(points.node.max()) + 1, dtype=bool)
    if 1.0 / rule.scale > _STEEPEST:
        return good
    there = points.left @ sizes
    order = np.lexsort((there, points.node))
    first = np.flatnonzero(np.diff(points.node[order], prepend=-1))
    last = np.append(first[1:], order.size) - 1
    some = order[np.unique(np.concatenate([first, (first + last) // 2, last]))]
    left, above, node = points.left[some], points.above[some], points.node[some]
    pressed = (np.abs(futures.eta) @ sizes) * futures.matters
    most = np.argsort(pressed)[[len(pressed) // 2, -1]]
    probes = futures.eta[np.concatenate([most, futures.partner[most]])]
    exact = _exactly(left, above, probes, sizes, rule)
    owner, after, share = _tilted(left, above, sizes, rule)
    tried = np.zeros_like(exact)
    terms = share[:, None] * np.exp(log_futures(after, probes, sizes, futures.groups))
    np.add.at(tried, owner, terms)
    off = np.abs(tried - exact)[:, : len(most)] * futures.matters[most]
    mass = np.bincount(points.node, points.worth)
    mass = np.minimum(100.0 * mass / mass.sum(), 1.0)
    off *= mass[node, None]
    fine = np.all(off <= _INTERPOLATED * np.abs(exact[:, len(most) :]), axis=1)
    good[node] = True
    np.logical_and.at(good, node, fine)
    return good


def _tilted(
    left: FloatArray, above: FloatArray, sizes: FloatArray, rule: Rule
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return who is left at some tilts of each point, and what each weighs: point, law, weight."""
    chance = np.clip(left * above, 1e-300, 1.0 - 1e-16)
    hit, missed = np.log(chance), np.log1p(-chance)
    total = float(sizes.sum())
    direct = chance @ sizes > np.floor(rule.limit) + 0.5
    owners, tilts, weights = [], [], []
    for turned in (False, True):
        mine = np.flatnonzero(direct != turned)
        if not mine.size:
            continue
        # Failure is the same question asked of the vertices below.
        sign = -1.0 if turned else 1.0
        base = (hit if turned else missed)[mine]
        log_odds = sign * (hit - missed)[mine]
        limits = np.full(mine.size, total - rule.limit if turned else rule.limit)
        if turned:
            owners.append(mine)
            tilts.append(np.zeros(mine.size))
            weights.append(np.ones(mine.size))
        tilt = np.full(mine.size, -1.0 / rule.scale)
        clear = clearance(*tilted_excess(log_odds, sizes, tilt, limits)) >= _CLEAR
        if clear.any():
            moment = log_moment(log_odds[clear], base[clear], sizes, tilt[clear], limits[clear])
            owners.append(mine[clear])
            tilts.append(sign * tilt[clear])
            weights.append(sign * 0.5 * np.exp(moment))
        near = ~clear
        if near.any():
            plan = contour(log_odds[near], sizes, limits[near], rule.scale, spare=0.3)
            moment = log_moment(log_odds[near], base[near], sizes, plan.tilt, plan.centre)
            spread = np.sqrt(np.maximum(plan.variance, 1.0))
            lagrange = _lagrange(1j * plan.theta * spread[plan.owner])
            terms = (plan.kernel * np.exp(plan.log_phi))[:, None] * lagrange
            sums = np.add.reduceat(terms.real, plan.offset, axis=0)
            shares = sums * np.exp(moment + plan.log_unit)[:, None]
            owners.append(np.repeat(mine[near], _TILTS))
            tilts.append(sign * (plan.tilt[:, None] + _POINTS / spread[:, None]).ravel())
            weights.append(sign * shares.ravel())
    owner, tilt = np.concatenate(owners), np.concatenate(tilts)
    weight = np.concatenate(weights)
    return owner, _left_after(left[owner], above[owner], tilt), weight


_POINTS = _REACH * np.cos(np.pi * (np.arange(_TILTS) + 0.5) / _TILTS)


def _lagrange(z: NDArray[Any]) -> NDArray[np.complex128]:
    """Return the Lagrange polynomials of the tilts, at numbers that are none of them."""
    gaps = _POINTS[:, None] - _POINTS
    np.fill_diagonal(gaps, 1.0)
    apart = z[:, None] - _POINTS
    return np.asarray(apart.prod(axis=1)[:, None] / apart / gaps.prod(axis=1))


def _left_after(left: FloatArray, above: FloatArray, tilt: FloatArray) -> FloatArray:
    """Return how likely a vertex is left after a round, under the law tilted by ``tilt``."""
    return np.asarray(left * (1.0 - above) / (1.0 + left * above * np.expm1(tilt)[:, None]))


def log_futures(
    left: FloatArray, futures: Complex, sizes: FloatArray, groups: Sequence[IntArray] | None = None
) -> Complex:
    """Logarithms of expectations of products over who is left.

    ``sum_c n_c log(1 + q_c eta_c)``. Each logarithm is expanded in Chebyshev polynomials on the
    range of q_c, so that the sum is one product of matrices, to about 1e-13.
    """
    columns, coefficients = [], []
    result = np.zeros((len(left), len(futures)), dtype=np.complex128)
    for group in _alike(left) if groups is None else groups:
        q = left[:, group[0]]
        low, high = float(q.min()), float(q.max())
        eta, size = futures[:, group], sizes[group]
        degree = _degree(low, high, eta, float(size.sum()))
        if degree > _MOST_DEGREE or degree >= len(left):
            for number, count in enumerate(size):
                result += count * np.log1p(np.multiply.outer(q, eta[:, number]))
            continue
        angle = np.pi * (np.arange(degree + 1) + 0.5) / (degree + 1)
        nodes = 0.5 * (low + high) + 0.5 * (high - low) * np.cos(angle)
        values = np.log1p(nodes[:, None, None] * eta) @ size
        transform = np.cos(np.outer(np.arange(degree + 1), angle)) * (2.0 / (degree + 1))
        transform[0] *= 0.5
        coefficients.append(transform @ values)
        unit = (2.0 * q - low - high) / (high - low) if high > low else np.zeros(q.size)
        columns.append(np.polynomial.chebyshev.chebvander(unit, degree))
    if columns:
        result += np.hstack(columns) @ np.vstack(coefficients)
    return result


def _alike(left: FloatArray) -> list[IntArray]:
    """Return classes of which equally many are left, whatever the law."""
    _, inverse = np.unique(left, axis=1, return_inverse=True)
    inverse = inverse.ravel()
    return [np.flatnonzero(inverse == number) for number in range(inverse.max() + 1)]


def _degree(low: float, high: float, eta: Complex, size: float) -> int:
    """Return how far to expand log(1 + q eta) on low..high; its pole bounds the coefficients."""
    steepest = float(np.abs(eta).max())
    if high - low < 1e-15 or steepest == 0.0 or size == 0.0:
        return 0
    z = (-2.0 / eta[np.abs(eta) > 0.0] - low - high) / (high - low)
    root = np.sqrt(z * z - 1.0)
    ellipse = float(np.maximum(np.abs(z + root), np.abs(z - root)).min())
    if ellipse <= 1.0 + 1e-6:
        return _MOST_DEGREE + 1
    return int(np.ceil(np.log(size / _EXPANDED) / np.log(ellipse)))


def condense(
    mixture: Mixture,
    rest: Complex,
    candidates: FloatArray,
    worth: FloatArray,
    futures: Futures,
    sizes: FloatArray,
    spared: NDArray[np.bool_],
) -> tuple[Mixture, Mixture]:
    """Say the same by few of the candidates, twice.

    Least squares over the candidates that a pivoted QR factorisation finds independent.
    """
    eta, partner = futures.eta, futures.partner
    typical = (worth @ candidates / worth.sum())[None]
    top = log_futures(typical, eta[partner], sizes)[0].real
    values = rest * np.exp(-top)[:, None]
    step = max(1, _CHUNK // len(eta))
    for start in range(0, len(mixture.left), step):
        part = slice(start, start + step)
        logs = log_futures(mixture.left[part], eta, sizes, futures.groups) - top
        values += np.exp(logs).T @ mixture.weight[part]
    scale = values[partner].real.sum(axis=1)
    if not np.all(scale > 0.0):
        raise LawUnavailable(
            "the law of so many search rounds is too improbable to tell: ask for fewer "
            "components, or sample (--samples)"
        )
    scale = scale / futures.matters
    wanted = values / scale[:, None]
    logs = log_futures(candidates, eta, sizes, futures.groups) - top
    matrix = np.exp(logs).T / scale[:, None]
    everything = np.ones(len(eta), dtype=bool)
    first, second = (
        _fit(matrix[chosen], wanted[chosen], candidates, worth) for chosen in (everything, ~spared)
    )
    return first, second


def _fit(matrix: Complex, wanted: Complex, candidates: FloatArray, worth: FloatArray) -> Mixture:
    system = np.vstack([matrix.real, matrix.imag])
    answer = np.vstack([wanted.real, wanted.imag])
    # What hardly counts is not resolved as finely.
    length = np.sqrt(np.linalg.norm(system, axis=0) / worth)
    q, r, order = scipy.linalg.qr(system / length, mode="economic", pivoting=True)
    size = np.abs(np.diag(r))
    rank = int(np.count_nonzero(size > _DEPENDENT * size[0]))
    weight = scipy.linalg.solve_triangular(r[:rank, :rank], q[:, :rank].T @ answer)
    chosen = order[:rank]
    return Mixture(candidates[chosen], weight / length[chosen, None])
