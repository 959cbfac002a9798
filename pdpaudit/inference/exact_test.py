"""The exact unconditional lower bound on ε, ordered by the score statistic.

Every outcome ``(x, y)`` is ranked once by an approximate lower bound, the score limit; the bound
for an observed outcome is the smallest ε at which outcomes ranked at least as high have, at some
nuisance ``q``, more than probability ``alpha``. Since the ranking does not depend on the ε under
test, the rejection probability grows with ε and the inversion needs no further argument (Buehler's
construction [1]_ with the designated statistic of Chan and Zhang [2]_ and Lloyd and Moldovan
[3]_).

The nuisance is confined to a Clopper-Pearson interval from ``y`` whose error is taken off alpha
(Berger and Boos [4]_): far from the data a discrete law may exceed its nominal level, and would
cost sharpness everywhere. The supremum over the interval is bounded, not sampled. With ``q =
sin(φ)²`` and ``p = exp(ε) q + δ`` the probability of any set of outcomes is an entire function of
φ, at complex φ at most ``(|q| + |1-q|)^m (|p| + |1-p|)^n``; on a small interval it therefore lies
within a computable distance of its Chebyshev interpolant [5]_, whose maximum is bounded from its
values on a finer grid [6]_. Sums over counts leave out tails; Bernstein's inequality bounds them,
and they are added.

References
----------
.. [1] Buehler, "Confidence intervals for the product of two binomial parameters", JASA 52 (1957).
.. [2] Chan and Zhang, "Test-based exact confidence intervals for the difference of two binomial
   proportions", Biometrics 55 (1999).
.. [3] Lloyd and Moldovan, "Exact one-sided confidence bounds for the risk ratio in 2 x 2 tables
   with structural zero", Biometrical Journal 49 (2007).
.. [4] Berger and Boos, "P values maximized over a confidence set for the nuisance parameter", JASA
   89 (1994).
.. [5] Trefethen, "Approximation Theory and Approximation Practice", theorem 8.2.
.. [6] Ehlich and Zeller, "Schwankung von Polynomen zwischen Gitterpunkten", Math. Z. 86 (1964).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
Number = TypeVar("Number", np.int64, np.float64)

SPENT_ON_INTERVAL = 1e-3
"""Share of alpha that pays for restricting ``q`` to an interval."""

NODES = 32
FINER = 32
RADII = np.array([1.3, 1.5, 1.8, 2.1, 2.5, 3.0, 3.6, 4.5, 6.0, 9.0])
SLABS = 8
BISECTIONS = 56
LEAST_QUANTILE = 0.25
MOST_ATTEMPTS = 60
TOLERANCE = 1e-7


def score_limit(
    x: FloatArray, n: FloatArray, y: FloatArray, m: FloatArray, z: float, delta: float
) -> FloatArray:
    """Return the ε at which the score statistic of ``p = exp(ε) q + delta`` equals `z`.

    The statistic is ``(x/n - θ y/m - δ) / sqrt(V)``, its variance taken at the maximum-likelihood
    ``(p, q)`` under the null hypothesis (Koopman 1984; Miettinen and Nurminen 1985). For a
    constrained ``q`` the two equations give ``θ`` as the root of a quadratic, so one bisection in
    ``q`` solves both. Cost: O(1) per event.
    """
    first, second = x / n, y / m
    low, high = second.copy(), wilson_upper(second, m, z)
    theta = np.zeros_like(first)
    with np.errstate(all="ignore"):  # the open ends of the interval divide by zero
        for step in range(BISECTIONS + 1):
            q = (low + high) / 2
            variance = q * (1 - q) / m
            gap = q - second
            kappa = variance * (z * z * variance / gap**2 - 1)
            slope = kappa * gap / variance
            square, linear = slope**2 + n * kappa, slope * (2 * first - 1)
            root = np.sqrt(linear**2 + 4 * square * first * (1 - first))
            theta = (linear + root) / (2 * square)
            if step < BISECTIONS:
                # On the curve p = x/n - slope θ; too large a p asks for a larger q.
                above = first - slope * theta > theta * q + delta
                low, high = np.where(above, q, low), np.where(above, high, q)
        # With x = n the constrained p may be 1, and then only the second sample has a variance.
        end = wilson_upper(second, m, z)
        at_end = (first == 1) & (m * (end - second) <= (1 - delta) * n * (1 - end))
        theta = np.where(at_end, (1 - delta) / end, theta)
        found = np.log(theta)
        # With θ = 0 the hypothesis is p <= δ: Wilson's limit for p decides whether any ε is left.
        hopeless = (first <= delta) | (wilson_lower(first, n, z) <= delta)
    return np.where(hopeless | ~np.isfinite(found), -np.inf, found)


def wilson_upper(share: FloatArray, draws: FloatArray, z: float) -> FloatArray:
    """Return the upper end of Wilson's interval."""
    middle = share + z * z / (2 * draws)
    spread = z * np.sqrt(share * (1 - share) / draws + (z / (2 * draws)) ** 2)
    return np.minimum((middle + spread) / (1 + z * z / draws), 1.0)


def wilson_lower(share: FloatArray, draws: FloatArray, z: float) -> FloatArray:
    """Return the lower end of Wilson's interval."""
    return 1.0 - wilson_upper(1.0 - share, draws, z)


def least_hits(y: FloatArray, theta: float, z: float, n: int, m: int, delta: float) -> IntArray:
    """Return, for each ``y``, the least ``x`` whose score statistic at θ is at least `z`.

    The curve on which the statistic equals z is explicit in the constrained ``q``: with ``A``,
    ``B`` the two variances and ``V = A + θ² B``, ``x/n = p + z A/√V`` and ``y/m = q - z θ B/√V``.
    ``n + 1`` where the curve leaves the range of counts. `y` must be contiguous and increasing.
    """
    second = y / m
    low = second.copy()
    high = np.minimum(wilson_upper(second, np.full_like(second, m), z), (1 - delta) / theta)

    def variances(q: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        p = np.minimum(theta * q + delta, 1.0)
        a, b = p * (1 - p) / n, q * (1 - q) / m
        return p, a, b, np.sqrt(np.maximum(a + theta * theta * b, 1e-300))

    _, _, b, root = variances(high)
    beyond = (low >= high) | (high - z * theta * b / root < second - 1e-12)
    for _ in range(BISECTIONS):
        q = (low + high) / 2
        _, _, b, root = variances(q)
        above = q - z * theta * b / root > second
        low, high = np.where(above, low, q), np.where(above, q, high)
    p, a, _, root = variances((low + high) / 2)
    # A hair below the curve: rounding may only add outcomes to the region, never take one out.
    least = np.clip(np.ceil(n * (p + z * a / root - 1e-10) - 1e-6), 0, n + 1)
    least = np.where(beyond & (high < 1.0), n + 1.0, least)
    # A region that contains (x, y) must contain (x, y - 1), so that its probability falls in q.
    return np.minimum.accumulate(least[::-1])[::-1].astype(np.int64)


@dataclass(frozen=True)
class Region:
    """Outcomes ``x >= least[y - first]``, with what is needed to sum their probability."""

    n: int
    m: int
    first: int
    least: IntArray
    tail: float

    def probability(self, p: FloatArray, q: FloatArray) -> FloatArray:
        """Bound the region's probability at each pair ``(p, q)`` from above, within ``4 tail``."""
        starts, law = binomial(self.m, q, self.tail)
        bases, upper = binomial(self.n, p, self.tail)
        width = upper.shape[1]
        reach = np.zeros((p.size, width + 1))  # P(X >= x), 0 beyond the window
        np.cumsum(upper[:, ::-1], axis=1, out=reach[:, width - 1 :: -1])
        reach += self.tail
        reach[:, 0] = 1.0  # all counts at or below the window's start, within its tail
        least = rows_from(self.least, starts - self.first, law.shape[1])
        place = np.clip(least - bases[:, None], 0, width)
        total = (law * np.take_along_axis(reach, place, axis=1)).sum(axis=1)
        # Logarithms of factorials carry a rounding error of a few units in their last place.
        rounding = 1e-15 * float(special.gammaln(self.n + 1.0) + special.gammaln(self.m + 1.0))
        bound: FloatArray = (total + 2 * self.tail) * (1.0 + rounding)
        return bound


def rows_from(values: NDArray[Number], starts: IntArray, width: int) -> NDArray[Number]:
    """Stack the slices of `width` values from each start; the ends repeat where they run out."""
    before = max(0, -int(starts.min()))
    after = max(0, int(starts.max()) + width - values.size)
    padded = np.pad(values, (before, after), mode="edge") if before or after else values
    return np.stack([padded[s : s + width] for s in starts + before])


def windows(draws: int, share: FloatArray, tail: float) -> tuple[IntArray, IntArray]:
    """Return first and last counts per share that leave out at most `tail` at either end."""
    log_tail = -math.log(tail)
    spread = 2 * log_tail * draws * share * np.clip(1 - share, 0.0, 1.0)
    radius = log_tail / 3 + np.sqrt(log_tail**2 / 9 + spread)
    start = np.maximum(np.floor(draws * share - radius), 0)
    stop = np.minimum(np.ceil(draws * share + radius), draws)
    return start.astype(np.int64), stop.astype(np.int64)


def log_choose(draws: int, counts: IntArray) -> FloatArray:
    """Return the logarithm of the binomial coefficients, -inf beyond `draws`."""
    inside = np.minimum(counts, draws).astype(np.float64)
    result: FloatArray = -special.gammaln(inside + 1) - special.gammaln(draws - inside + 1)
    result += special.gammaln(draws + 1.0)
    result[counts > draws] = -np.inf
    return result


def binomial(draws: int, share: FloatArray, tail: float) -> tuple[IntArray, FloatArray]:
    """Return first counts and rows of binomial probabilities, 0 beyond `draws`."""
    starts, stops = windows(draws, share, tail)
    width = int((stops - starts).max()) + 1
    base, stop = int(starts.min()), int(starts.max()) + width
    if stop - base <= starts.size * width:
        choose = rows_from(log_choose(draws, np.arange(base, stop)), starts - base, width)
    else:  # the rows lie far apart
        choose = log_choose(draws, starts[:, None] + np.arange(width))
    log_odds, log_rest = np.log(share) - np.log1p(-share), np.log1p(-share)
    law = np.multiply.outer(log_odds, np.arange(width, dtype=np.float64))
    law += (starts * log_odds + draws * log_rest)[:, None]
    law += choose
    return starts, np.exp(law, out=law)


@lru_cache(maxsize=1)
def chebyshev() -> tuple[FloatArray, FloatArray]:
    """Return the nodes in [-1, 1] and the matrix from values there to values on the finer grid."""
    angles = (np.arange(NODES) + 0.5) * math.pi / NODES
    finer = (np.arange(FINER * NODES) + 0.5) * math.pi / (FINER * NODES)
    order = np.arange(NODES)
    weights = np.cos(np.outer(order, angles)) * 2 / NODES
    weights[0] /= 2
    return np.cos(angles), np.cos(np.outer(finer, order)) @ weights


def distance_bound(
    left: FloatArray, right: FloatArray, theta: float, delta: float, n: int, m: int
) -> FloatArray:
    """Bound, per interval of φ, how far an event's probability is from its interpolant.

    ``|f| <= M`` on the ellipse of radius r around the interval gives ``4 M r^-d / (r - 1)`` for
    degree d. ``|q| + |1-q|`` is ``cosh(2 Im φ)``; ``|p| + |1-p|`` is convex in the complex p, so
    over a box it is largest at a corner: the ellipse is covered by slabs and their boxes.
    """
    half = ((right - left) / 2)[:, None]
    tall = half * (RADII - 1 / RADII) / 2
    wide = half * (RADII + 1 / RADII) / 2
    edges = ((left + right) / 2)[:, None, None] + wide[..., None] * np.linspace(-1, 1, SLABS + 1)
    begin, end = 2 * edges[..., :-1], 2 * edges[..., 1:]

    def holds(point: float) -> NDArray[np.bool_]:
        return (begin <= point) & (point <= end)

    cosine = np.cos(2 * edges)
    most = np.maximum(cosine[..., :-1], cosine[..., 1:])
    most = np.where(holds(0.0), 1.0, most)
    least = np.minimum(cosine[..., :-1], cosine[..., 1:])
    least = np.where(holds(math.pi) | holds(-math.pi), -1.0, least)
    sine = np.abs(np.sin(2 * edges))
    sine = np.maximum(sine[..., :-1], sine[..., 1:])
    for turn in (-math.pi / 2, math.pi / 2, 3 * math.pi / 2):
        sine = np.where(holds(turn), 1.0, sine)
    with np.errstate(over="ignore", invalid="ignore"):  # far too large an ellipse is no use, only
        grow = np.cosh(np.minimum(2 * tall, 700.0))[..., None]
        lowest = (1 - np.where(most > 0, most * grow, most)) / 2
        highest = (1 - np.where(least < 0, least * grow, least)) / 2
        aside = theta * sine * np.sqrt(grow**2 - 1) / 2
        size = np.zeros_like(aside)
        for real in (delta + theta * lowest, delta + theta * highest):
            size = np.maximum(size, np.hypot(real, aside) + np.hypot(1 - real, aside))
        log_m = m * np.log(grow[..., 0]) + n * np.log(size.max(axis=-1))
        log_distance = log_m + math.log(4) - (NODES - 1) * np.log(RADII) - np.log(RADII - 1)
        distance: FloatArray = np.exp(np.minimum(log_distance.min(axis=-1), 0.0))
    return distance


def shares_at(phi: FloatArray, theta: float, delta: float) -> tuple[FloatArray, FloatArray]:
    """Return p and q on the boundary of the hypothesis, where ``q = sin² φ``."""
    q = np.clip(np.sin(phi) ** 2, 1e-300, 1 - 1e-16)
    return np.clip(theta * q + delta, 1e-300, 1 - 1e-16), q


def largest_on(region: Region, left: float, right: float, theta: float, delta: float) -> float:
    """Bound the interpolant of the region's probability on one piece from above."""
    nodes, refine = chebyshev()
    p, q = shares_at((left + right) / 2 + (right - left) / 2 * nodes, theta, delta)
    values = refine @ region.probability(p, q)
    centre = (values.max() + values.min()) / 2
    swing = (values.max() - centre) / math.cos((NODES - 1) * math.pi / (2 * FINER * NODES))
    return float(centre + swing) + 16 * region.tail


def supremum(
    region: Region, low: float, high: float, theta: float, delta: float, enough: float
) -> tuple[float, tuple[float, float]]:
    """Bound the region's probability over φ in ``[low, high]``; also say on which piece it is.

    Pieces that cannot reach `enough` are passed over (the bound is then at least `enough`).
    """
    edges = np.linspace(low, high, 5)
    left, right = edges[:-1], edges[1:]
    passed = 0.0
    pieces: list[tuple[float, float, float, float]] = []
    while left.size:
        # The probability grows in p and falls in q: a piece is at most its value at opposite ends.
        crude = np.concatenate(
            [
                region.probability(
                    shares_at(ends, theta, delta)[0], shares_at(begins, theta, delta)[1]
                )
                for begins, ends in zip(batches(left), batches(right), strict=True)
            ]
        )
        low_enough = crude <= enough / 2
        passed = max(passed, float(crude[low_enough].max(initial=0.0)))
        left, right, crude = left[~low_enough], right[~low_enough], crude[~low_enough]
        distance = distance_bound(left, right, theta, delta, region.n, region.m)
        close = distance <= 1e-5 * enough
        kept = (a[close] for a in (crude, left, right, distance))
        pieces.extend(zip(*(a.tolist() for a in kept), strict=True))
        left, right = left[~close], right[~close]
        middle = (left + right) / 2
        left = np.sort(np.concatenate([left, middle]))
        right = np.sort(np.concatenate([middle, right]))
    best, where = passed, (low, high)
    for crude_value, start, stop, off in sorted(pieces, reverse=True):
        if crude_value <= best:
            break
        value = min(largest_on(region, start, stop, theta, delta) + off, crude_value)
        if value > best:
            best, where = value, (start, stop)
    return best, where


def batches(values: FloatArray) -> list[FloatArray]:
    """Split into pieces of at most ``NODES`` values."""
    return np.array_split(values, math.ceil(values.size / NODES))


def crossing(excess: Callable[[float], float], start: float, slope: float) -> float:
    """Return a root at least 0 near `start` of an increasing function of about the given slope.

    0 where the function is positive throughout.
    """
    value = excess(start)
    other, step = start, 1.2 * abs(value) / slope + 1e-7
    for _ in range(60):
        other = max(start - math.copysign(step, value), 0.0)
        if excess(other) * value <= 0:
            left, right = sorted((start, other))
            from scipy.optimize import brentq  # takes long to import

            return float(brentq(excess, left, right, xtol=1e-8))
        if other == 0.0:
            break
        step *= 2
    return other


@dataclass(frozen=True)
class PreparedTest:
    """The fixed region of one observed outcome and the range of ``q`` to take the supremum over."""

    region: Region
    low: float
    high: float
    delta: float
    allowed: float
    start: float
    slope: float

    def ends(self, epsilon: float) -> tuple[float, float]:
        """Return the angles between which q lies under the hypothesis."""
        # Where exp(ε) q + δ > 1 the hypothesis allows p = 1: no more than at the largest q here.
        top = max(self.low, min(self.high, (1 - self.delta) * math.exp(-epsilon)))
        return math.asin(math.sqrt(self.low)), math.asin(math.sqrt(top))

    def supremum(self, epsilon: float) -> tuple[float, tuple[float, float]]:
        """Bound the probability of the region under the hypothesis, and say where it is largest."""
        theta = math.exp(epsilon)
        return supremum(self.region, *self.ends(epsilon), theta, self.delta, self.allowed)


def prepare(x: int, n: int, y: int, m: int, alpha: float, delta: float) -> PreparedTest | None:
    """Rank one observed outcome; None where even the plain estimate or its limit shows nothing."""
    if x <= delta * n or (x - delta * n) * m <= y * n:
        return None
    z = max(float(special.ndtri(1 - alpha)), LEAST_QUANTILE)
    hits, draws, other_hits, other_draws = np.array([[x], [n], [y], [m]], dtype=np.float64)
    rank = float(score_limit(hits, draws, other_hits, other_draws, z, delta)[0])
    if not math.isfinite(rank):
        return None
    spent, tail = SPENT_ON_INTERVAL * alpha, 1e-7 * alpha
    low = float(special.betaincinv(y, m - y + 1, spent / 2)) if y > 0 else 0.0
    high = float(special.betainccinv(y + 1, m - y, spent / 2))
    starts, stops = windows(m, np.array([low, high]), tail)
    first, last = int(starts[0]), int(stops[1])
    least = least_hits(np.arange(first, last + 1.0), math.exp(rank), z, n, m, delta)
    least[: y - first + 1] = np.minimum(least[: y - first + 1], x)  # certain, whatever the rounding
    slope = z / max(math.log((x / n - delta) * m / max(y, 0.5)) - rank, 1e-9)
    region = Region(n, m, first, least, tail)
    return PreparedTest(region, low, high, delta, alpha - spent, max(rank, 0.0), slope)


def probit(value: float) -> float:
    """Return the normal quantile, finite at 0 and 1 too."""
    return float(special.ndtri(min(max(value, 1e-300), 1 - 1e-12)))


def invert(test: PreparedTest) -> float:
    """Return the largest ε at which the supremum stays within what is allowed, 0 if none does."""
    goal = probit(test.allowed * (1 - 1e-4))
    kept, refused = 0.0, math.inf  # 0 needs no evidence
    epsilon = test.start
    for attempt in range(MOST_ATTEMPTS):
        value, piece = test.supremum(epsilon)
        if value <= test.allowed:
            kept = epsilon
            if goal - probit(value) < 1e-3:
                break
        elif epsilon == 0.0:
            break
        else:
            refused = epsilon
        if refused - kept < TOLERANCE:
            break

        def excess(trial: float, piece: tuple[float, float] = piece, at: float = epsilon) -> float:
            # The worst q stays about where it is, or its p does: the bound is the worse of both.
            scale, end = math.exp((at - trial) / 2), test.ends(trial)[1]
            value = 0.0
            for left, right in (piece, (piece[0] * scale, piece[1] * scale)):
                left, right = min(left, end), min(right, end)
                found = largest_on(test.region, left, right, math.exp(trial), test.delta)
                value = max(value, found)
            return probit(value) - goal

        # The crossing on the worst piece is usually the bound, unless another piece takes over.
        epsilon = crossing(excess, epsilon, test.slope) if attempt < 8 else -1.0
        if attempt and kept <= epsilon < kept + TOLERANCE:
            break
        if not kept <= epsilon < refused:
            epsilon = (kept + refused) / 2 if refused < math.inf else 2 * kept + 1e-3
    return kept


def one_bound(x: int, n: int, y: int, m: int, alpha: float, delta: float) -> float:
    """Return the bound from one table of counts."""
    test = prepare(x, n, y, m, alpha, delta)
    if test is None:
        return 0.0
    estimate = math.log((x / n - delta) * m / y) if y > 0 else math.inf
    return min(invert(test), estimate)


def rejects(
    x: int, n: int, y: int, m: int, alpha: float, delta: float = 0.0, epsilon: float = 0.0
) -> bool:
    """Say whether the exact test rejects ``p <= exp(epsilon) q + delta``.

    Guarantee: true under the hypothesis with probability at most `alpha`. Cost: a fifth of `exact`.
    """
    epsilon = min(epsilon, 700.0)  # allows p = 1 at a q no count tells from 0: never rejected
    test = prepare(x, n, y, m, alpha, delta)
    if test is None or (x / n - delta) * m <= math.exp(epsilon) * y:
        return False
    return test.supremum(epsilon)[0] <= test.allowed


def exact(
    x: ArrayLike, n: ArrayLike, y: ArrayLike, m: ArrayLike, alpha: float, delta: float = 0.0
) -> FloatArray:
    """Bound ε by the exact unconditional test ordered by the score limit.

    Guarantee: exceeds the true ε with probability at most `alpha`, whatever n, m, p and q. It never
    falls as ``x`` rises; as ``y`` falls or `alpha` rises it may dip by a hair in samples of a few
    dozen, where the interval or the ranking changes. About a third of the draws give the same bound
    as `clopper_pearson`'s. Cost: equal counts are computed once; each distinct one takes 20 to 50
    ms up to a million draws, 0.1 to 1 s at ten million, growing with the square root of the draws.
    """
    rows = np.broadcast_arrays(*(np.asarray(c).astype(np.int64) for c in (x, n, y, m)))
    table = np.stack([r.ravel() for r in rows], axis=1)
    distinct, where = np.unique(table, axis=0, return_inverse=True)
    bounds = np.array(
        [one_bound(a, b, c, d, alpha, delta) for a, b, c, d in distinct.tolist()], dtype=np.float64
    )
    return bounds[where].reshape(rows[0].shape)
