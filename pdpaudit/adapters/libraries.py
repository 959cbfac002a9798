"""Other libraries' objects: mechanisms, tools and models of diffprivlib, any estimator, claims.

``diffprivlib:Laplace --with epsilon=1 --with sensitivity=1`` names a mechanism,
``diffprivlib:mean --with bounds=(0,10)`` a tool, ``diffprivlib:LinearRegression`` a model. All are
seeded from our streams by ``random_state``. Neighbouring inputs of simple domains are for any
adapter. Needs nothing but Python 3.8 and the library.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import math
import random
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, Protocol, cast

from pdpaudit import PrivacyClaim

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import TypeVar

    import numpy as np

    #: A stream of ours, or Python's own where there is no numpy.
    Rng = np.random.Generator | random.Random
    Pairs = Sequence[tuple[object, object]]
    T = TypeVar("T")

__all__ = [
    "Estimator", "added", "claimed", "estimator", "of_diffprivlib", "replaced", "scalars",
    "vectors",
]  # fmt: skip

#: Sizes of small data sets, the coordinates of a vector, and pairs of one kind at most.
SIZES, WIDTH, MOST = (1, 2, 5), 3, 60

#: Coordinates of a vector that are changed at most: 2 to that power are combined.
COORDINATES = 5

#: Tools of diffprivlib whose sensitivity is for one record more; of the others, for one replaced.
ADDED = ("histogram", "histogram2d", "histogramdd")

#: Where a curve is read off, ε from 0 up.
STEP, POINTS = 0.125, 65

#: Corners nearer to each other than that are one.
APART = 1e-9


# Neighbouring inputs of simple domains


def scalars(values: Iterable[float], distance: float) -> list[tuple[float, float]]:
    """Return pairs of numbers that far apart, and one whose ends are of opposite signs."""
    pairs = [(value, value + distance) for value in values]
    return [*pairs, (-distance, type(distance)(0))]


def vectors(one: float, width: int = WIDTH) -> list[tuple[list[float], list[float]]]:
    """Return pairs of vectors in which any of the first and the last coordinate differ by one."""
    zero, some = type(one)(0), min(width, COORDINATES)
    rest = [zero] * (width - some)
    corners = [[*corner[:-1], *rest, corner[-1]] for corner in product((zero, one), repeat=some)]
    return _some(list(combinations(corners, 2)))


def bases(values: Sequence[T], sizes: Iterable[int] = SIZES) -> list[list[T]]:
    """Return small data sets: all records alike, half of them, and each value in turn."""
    found: list[list[T]] = []
    for size in sizes:
        alike = [[value] * size for value in values]
        half, rest = size // 2, size - size // 2
        halves = [[one] * half + [other] * rest for one, other in combinations(values, 2)]
        for base in [*alike, *halves]:
            if base not in found:
                found.append(base)
    return found


def _some(pairs: list[T]) -> list[T]:
    """Return some of many pairs, of every size and kind: any step might leave out one kind."""
    kept: Sequence[int] = range(len(pairs))
    if len(pairs) > MOST:
        kept = sorted(random.Random(0).sample(kept, MOST))
    return [pairs[i] for i in kept]


def added(values: Sequence[T], sizes: Iterable[int] = SIZES) -> list[tuple[list[T], list[T]]]:
    """Return pairs of data sets of which one has one record more."""
    return _some([([*base, value], base) for base in bases(values, sizes) for value in values])


def replaced(values: Sequence[T], sizes: Iterable[int] = SIZES) -> list[tuple[list[T], list[T]]]:
    """Return pairs of data sets that differ in one record."""
    others = list(combinations(values, 2))
    found = bases(values, sizes)
    return _some([([*base, one], [*base, other]) for base in found for one, other in others])


# Estimators


class Fitted(Protocol):
    """What scikit-learn calls an estimator."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return what it was made with."""
        ...

    def fit(self, features: object, labels: object) -> object:
        """Learn."""
        ...


class Estimator:
    """An estimator as a mechanism on data sets of records ``(features, label)``.

    Data sets are neighbours where one record is replaced; features and labels take the ends of
    their bounds. The claim is that of the parameter ``epsilon``, where there is one. Every
    attribute that ends in an underscore is seen.
    """

    representation = True

    def __init__(
        self,
        estimator: Fitted,
        bounds: Sequence[float] = (0.0, 1.0),
        labels: Sequence[float] = (0.0, 1.0),
        width: int = 1,
    ) -> None:
        self.estimator = estimator
        self.records = [([end] * width, label) for end in bounds for label in labels]
        epsilon = estimator.get_params().get("epsilon")
        self.claim = None if epsilon is None else PrivacyClaim(float(epsilon), source="epsilon")

    def pairs(self) -> Pairs:
        """Return neighbouring data sets."""
        return replaced(self.records, sizes=(2, 5, 11))

    def run(self, records: Sequence[tuple[Sequence[float], float]], rng: Rng) -> dict[str, object]:
        """Fit one like it, and return what it learned."""
        parameters = self.estimator.get_params(deep=False)
        if "random_state" in parameters:
            parameters["random_state"] = _seed(rng)
        made = type(self.estimator)(**parameters)
        features, labels = [list(row) for row, _ in records], [label for _, label in records]
        made.fit(features, labels)
        return _learned(made)


def _learned(made: object) -> dict[str, object]:
    """Return the attributes that end in an underscore, with those of what they hold."""
    known = sorted(vars(made).items())
    return {name: _plain(value) for name, value in known if name[-1] == "_" != name[0]}


def _plain(value: Any) -> object:
    """Return values for what a library alone knows: other estimators, trees, mixed arrays."""
    if hasattr(value, "fit"):
        return _learned(value)
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if getattr(getattr(value, "dtype", None), "kind", "") in ("O", "V"):
        return _plain(value.tolist())
    ours = type(value).__module__.partition(".")[0] in ("sklearn", "diffprivlib")
    return _plain(value.__getstate__()) if ours and hasattr(value, "__getstate__") else value


def _seed(rng: Rng) -> int:
    """Return a seed from the generator it is given, also where that is Python's own."""
    return rng.randrange(2**31) if isinstance(rng, random.Random) else int(rng.integers(2**31))


def estimator(target: object, **parameters: Any) -> Estimator:
    """Return an estimator as a mechanism; one is handed over, names say too little."""
    if isinstance(target, str) or not hasattr(target, "fit"):
        raise ValueError("hand over an estimator, made with its parameters")
    return Estimator(cast("Fitted", target), **parameters)


# diffprivlib


class Mechanism:
    """A mechanism on numbers that far apart as its sensitivity, or on its two values."""

    representation = True

    def __init__(self, kind: Any, parameters: dict[str, Any]) -> None:
        self.kind, self.parameters = kind, parameters
        made = kind(**parameters)
        self.claim = PrivacyClaim(float(made.epsilon), float(made.delta), source=kind.__name__)

    def pairs(self) -> Pairs:
        """Return neighbouring inputs."""
        known = self.parameters
        if "value0" in known:
            return [(known["value0"], known["value1"])]
        step = known.get("sensitivity", 1)
        whole = "Geometric" in self.kind.__name__ or "Discrete" in self.kind.__name__
        step = int(step) if whole else float(step)
        ends = [0, known.get("lower", 0), known.get("upper", step) - step]
        return scalars([type(step)(end) for end in dict.fromkeys(ends)], step)

    def run(self, x: object, rng: Rng) -> object:
        """Randomise it once."""
        return self.kind(**self.parameters, random_state=_seed(rng)).randomise(x)


class Tool:
    """A function of a list of numbers, two of which differ in one record."""

    representation = True

    def __init__(
        self,
        function: Callable[..., object],
        parameters: dict[str, Any],
        relation: str | None,
        nan: bool,
    ) -> None:
        self.function, self.parameters = function, parameters
        default = "add-remove" if function.__name__ in ADDED else "replace"
        self.relation, self.nan = relation or default, nan
        epsilon = parameters.get("epsilon", 1.0)
        self.claim = PrivacyClaim(float(epsilon), source=f"epsilon of {function.__name__}")

    def pairs(self) -> Pairs:
        """Return neighbouring data sets: records at the ends of the bounds, and between."""
        low, high = self.parameters.get("bounds") or self.parameters.get("range") or (0.0, 1.0)
        values = [float(low), float(high), (low + high) / 2] + [float("nan")] * self.nan
        return (replaced if self.relation == "replace" else added)(values)

    def run(self, x: Sequence[float], rng: Rng) -> object:
        """Ask it once."""
        weights = self.parameters.get("weights")
        given = {**self.parameters, **({"weights": [weights] * len(x)} if weights else {})}
        found = self.function(x, random_state=_seed(rng), **given)
        return found[0] if isinstance(found, tuple) else found


def of_diffprivlib(
    target: object, representation: bool = True, **parameters: Any
) -> Mechanism | Tool | Estimator:
    """Return a mechanism, a tool (its arguments bound by ``functools.partial``) or a model.

    With ``representation`` false the exact form of their numbers, by which all that are drawn in
    floating point leak, is not looked at.

    ``relation`` is "replace" or "add-remove", for tools; with ``nan`` a record may be no number.
    ``weights`` of a histogram is the weight that each record has.
    """
    made = _made(target, **parameters)
    made.representation = representation
    return made


def _made(
    target: object, relation: str | None = None, nan: bool = False, **parameters: Any
) -> Mechanism | Tool | Estimator:
    """Return what an object of the library, or a name, means."""
    pairs = ("bounds", "bounds_X", "bounds_y", "range")  # lists, where they were in a file
    parameters.update((key, tuple(parameters[key])) for key in pairs if parameters.get(key))
    if isinstance(target, str):
        rooms = [
            importlib.import_module("diffprivlib." + r) for r in ("mechanisms", "tools", "models")
        ]
        found = [getattr(room, target) for room in rooms if hasattr(room, target)]
        if not found:
            raise ValueError("no mechanism, tool or model has that name")
        target = found[0]
        if hasattr(target, "fit"):
            target, parameters = found[0](**parameters), {}
    if isinstance(target, functools.partial):
        parameters = {**target.keywords, **parameters}
        target = target.func
    if inspect.isfunction(target):
        return Tool(target, parameters, relation, nan)
    if hasattr(target, "fit"):
        return _model(cast("Fitted", target), parameters)
    if not inspect.isclass(target):  # an object keeps what it was made with
        names = inspect.signature(type(target)).parameters
        kept = {name: getattr(target, name) for name in names if name != "random_state"}
        target, parameters = type(target), {**kept, **parameters}
    return Mechanism(target, parameters)


def _model(model: Fitted, parameters: Mapping[str, Any]) -> Estimator:
    """Return a model with the domain that its bounds give, where it has bounds."""
    known = model.get_params(deep=False)
    bounds = known.get("bounds_X") or known.get("bounds")
    ends = {"bounds": bounds, "labels": known.get("bounds_y")}
    given = {key: tuple(map(float, two)) for key, two in ends.items() if two is not None}
    return Estimator(model, **{**given, **parameters})


# Events of dp-accounting as claims


def claimed(target: object) -> PrivacyClaim:
    """Return what an event of dp-accounting promises: ``claim=GaussianDpEvent(1.0)``.

    Exact where it is one noise, else the accountant's curve.
    """
    if isinstance(target, str):
        raise ValueError("an event is a claim: give it as claim=")
    library: Any = importlib.import_module("dp_accounting")
    source = type(target).__name__
    if isinstance(target, library.GaussianDpEvent):
        return PrivacyClaim.gaussian(1.0 / float(target.noise_multiplier), source)
    if isinstance(target, library.LaplaceDpEvent):
        return PrivacyClaim(1.0 / float(target.noise_multiplier), source=source)
    if isinstance(target, library.ZCDpEvent):
        return PrivacyClaim.zcdp(float(target.rho), source)
    accountant = importlib.import_module("dp_accounting.pld").PLDAccountant()
    accountant.compose(target)
    deltas = [(STEP * i, float(accountant.get_delta(STEP * i))) for i in range(POINTS)]
    return PrivacyClaim.curve(_trade_off(deltas), source)


def _trade_off(deltas: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return corners of the trade-off curve below which (ε, δ) pairs, ε rising, let nothing fall.

    Each allows what lies above a line; two lines that follow each other meet in a corner. Corners
    above those around them, from rounding, are left out, which only weakens the claim.
    """
    corners = [(0.0, 1.0 - deltas[-1][1])]
    for (large, least), (small, most) in zip(deltas[:0:-1], deltas[-2::-1]):  # noqa: B905 - 3.8
        x = (most - least) / (math.exp(large) - math.exp(small))
        corners.append((x, 1.0 - most - math.exp(small) * x))
    corners += [(y, x) for x, y in reversed(corners)]
    kept: list[tuple[float, float]] = []
    for x, y in corners:
        while len(kept) > 1 and _above(kept[-2], kept[-1], (x, y)):
            kept.pop()
        if not kept or x > kept[-1][0] + APART:
            kept.append((x, y))
    return kept


def _above(one: tuple[float, float], middle: tuple[float, float], two: tuple[float, float]) -> bool:
    """Say whether a point lies on or above the line through its neighbours."""
    rise = (two[1] - one[1]) * (middle[0] - one[0])
    return (middle[1] - one[1]) * (two[0] - one[0]) >= rise
