"""Measurements of OpenDP: claim from their privacy map, pairs from input domain and metric.

``opendp:make_laplace --with scale=1.0`` builds one over the first domain and metric that fit; any
other domain is handed over as an object. Their noise has no seed.
"""

from __future__ import annotations

import importlib
import inspect
import math
import re
import warnings
from itertools import product
from typing import TYPE_CHECKING, Any

from pdpaudit import PrivacyClaim
from pdpaudit.adapters.libraries import added, replaced, scalars, vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pdpaudit.adapters.libraries import Pairs

    #: One number, or three for a metric of sparse vectors; None is the least between neighbours.
    Distance = float | tuple[float, ...] | None
    Values = Sequence[object] | None

__all__ = ["Measurement", "adapt"]

#: Domains and metrics that are tried, which ``opendp.prelude`` makes of whole numbers and names.
SPACES: tuple[Callable[[Any, Any, Any], tuple[object, object]], ...] = (
    lambda dp, whole, name: (whole, dp.absolute_distance(T="int")),
    lambda dp, whole, name: (dp.vector_domain(whole), dp.l1_distance(T="int")),
    lambda dp, whole, name: (dp.vector_domain(whole), dp.l2_distance(T="int")),
    lambda dp, whole, name: (dp.vector_domain(whole), dp.linf_distance(T="int")),
    lambda dp, whole, name: (dp.vector_domain(whole), dp.symmetric_distance()),
    lambda dp, whole, name: (dp.bitvector_domain(1), dp.discrete_distance()),
    lambda dp, whole, name: (
        dp.map_domain(name, whole), dp.l01inf_distance(dp.absolute_distance(T="int"))),
    lambda dp, whole, name: (
        dp.map_domain(name, whole), dp.l02inf_distance(dp.absolute_distance(T="int"))),
)  # fmt: skip

#: Metrics that count the records to take away and to add.
ADDED = ("Symmetric", "InsertDelete")

#: Steps of a bisection for the smallest ε that an old release accepts, below that.
STEPS, LARGEST = 60, 64.0

#: The ε at which an (ε, δ) curve and the order at which a Rényi curve is claimed.
DELTA, ORDER = 1e-6, 2.0

#: Names of measures, and what they claim, from what a map gives and its source. Approximate zCDP is
#: (ε, δ), by the bound of Bun and Steinke (2016) for a δ of ours on top.
CLAIMS: dict[str, Callable[[Any, str], PrivacyClaim]] = {
    "MaxDivergence": lambda out, source: PrivacyClaim(out, source=source),
    "ZeroConcentratedDivergence": PrivacyClaim.zcdp,
    r"Approximate\(ZeroConcentratedDivergence\)": lambda out, source: PrivacyClaim(
        out[0] + 2 * math.sqrt(-out[0] * math.log(DELTA)), out[1] + DELTA, source
    ),
    "RenyiDivergence": lambda out, source: PrivacyClaim.renyi(ORDER, out(ORDER), source),
    ".*SmoothedMax.*": lambda out, source: PrivacyClaim(out.epsilon(DELTA), DELTA, source),
    ".*MaxDivergence.*": lambda out, source: PrivacyClaim(out[0], out[1], source),
}


class Measurement:
    """A measurement as a mechanism."""

    seedable = False

    def __init__(self, measurement: Any, d_in: Distance = None, values: Values = None) -> None:
        self.measurement = measurement
        domain = str(getattr(measurement, "input_domain", measurement))
        metric = str(getattr(measurement, "input_metric", ""))
        if not metric and str(getattr(measurement, "input_carrier_type", "")) == "bool":
            domain, metric = "AtomDomain(T=bool)", "DiscreteDistance()"
        # Lists of one length differ by a record that goes and another that comes.
        least = 2 if "size=" in domain and metric.startswith(ADDED) else 1
        default = (1, 1, 1) if re.match("L0[12]Inf", metric) else least
        self.d_in = default if d_in is None else d_in
        if least == 2 and self.d_in in (0, 1):
            raise ValueError(f"neighbours in {domain} differ by 2 under {metric}: take d_in = 2")
        pairs = pairs_under(domain, metric, self.d_in, values)
        self.given = [pair for pair in pairs if all(_belongs(measurement, side) for side in pair)]
        if not self.given:
            raise ValueError(f"no neighbours in {domain} under {metric} are known")
        self.claim = _claim(measurement, self.d_in)

    def pairs(self) -> Pairs:
        """Return neighbouring inputs."""
        return self.given

    def run(self, x: object, rng: object) -> object:
        """Invoke it; the generator is of no use to it."""
        return self.measurement(x)


def adapt(
    target: Any, d_in: Distance = None, values: Values = None, **parameters: Any
) -> Measurement:
    """Return a measurement, or the name of a constructor, as a mechanism."""
    if isinstance(target, str):
        target = _constructed(target, parameters)
    return Measurement(target, d_in, values or parameters.get("categories"))


def _constructed(name: str, parameters: dict[str, Any]) -> Any:
    core = importlib.import_module("opendp.mod")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the second feature has another name now
        core.enable_features("contrib", "floating-point")
    try:
        make = getattr(importlib.import_module("opendp.measurements"), name)
    except ImportError:  # before 0.5
        return getattr(importlib.import_module("opendp.meas"), name)(**parameters)
    needed = inspect.signature(make).parameters
    if "input_domain" not in needed:
        return make(**parameters)
    dp: Any = importlib.import_module("opendp.prelude")
    atoms, why = [dp.atom_domain(T=kind) for kind in ("int", str)], ""
    measures: list[dict[str, object]] = [{}]
    if "output_measure" in needed:
        measures = [{"output_measure": dp.max_divergence()}]
        if hasattr(dp, "approximate"):
            measures.append({"output_measure": dp.approximate(dp.max_divergence())})
    for space, measure in product(SPACES, measures):
        try:
            return make(*space(dp, *atoms), **parameters, **measure)
        except Exception as error:
            why = why or " ".join(str(error).split())
    raise ValueError(f"no domain and metric fit; hand over the measurement itself ({why})")


def _claim(measurement: Any, d_in: Distance) -> PrivacyClaim:
    if not hasattr(measurement, "map"):  # before 0.5
        return PrivacyClaim(_smallest(measurement, d_in), source="its privacy relation")
    measure, out = str(measurement.output_measure), measurement.map(d_in)
    for name, claim in CLAIMS.items():
        if re.fullmatch(name, measure):
            return claim(out, f"map({d_in}), {measure}")
    raise ValueError(f"no claim is known for the measure {measure}")


def _smallest(measurement: Any, d_in: Distance) -> float:
    low, high = 0.0, LARGEST
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if measurement.check(d_in, middle) else (middle, high)
    return high


def _belongs(measurement: Any, x: object) -> bool:
    """Say whether its domain has an input; releases before domains could say so have any."""
    member = getattr(getattr(measurement, "input_domain", None), "member", None)
    return member is None or bool(member(x))


def _atoms(domain: str) -> list[object]:
    """Return values of an atom: both ends of its bounds, the middle, and no number where one is."""
    if "T=String" in domain:
        return ["a", "b", ""]
    if "T=bool" in domain:
        return [False, True]
    bounds = re.search(r"bounds=\[([^,]+), ([^\]]+)\]", domain)
    low, high = map(float, bounds.groups()) if bounds else (0.0, 8.0)
    number: Any = int if re.search(r"T=([iu]\d|usize)", domain) else float
    ends = [number(low), number((low + high) / 2), number(high)]
    return [*ends, math.nan] if "nan=true" in domain else ends


def pairs_under(domain: str, metric: str, d_in: Distance, values: Values) -> Pairs:
    """Return neighbouring inputs of a domain under a metric, both as OpenDP writes them."""
    atoms: Sequence[Any] = values or _atoms(domain.rpartition("value_domain")[2])
    number: Any = type(atoms[0])
    found = re.search(r"size=(\d+)", domain)
    size = int(found[1]) if found else 0
    if domain.startswith("BitVector"):
        weight = int((re.search(r"weight=(\d+)", domain) or [0, 8])[1])
        full = [(1 << weight) - 1, 255 & ~((1 << 8 - weight) - 1)]
        return [(b"\0", bytes([bits])) for bits in [*full, *(1 << i for i in range(8))]]
    if domain.startswith("Map"):
        step = number(d_in[-1] if isinstance(d_in, tuple) else d_in)
        return [({}, {"a": step}), *(({"a": n}, {"a": n + step}) for n in atoms if n)]
    if "Discrete" in metric:
        return [(one, other) for one in atoms for other in atoms if one != other]
    lists = [size - 1] if size else (1, 2, 5)
    if "ChangeOne" in metric or "Hamming" in metric or (size and metric.startswith(ADDED)):
        return replaced(atoms, lists)
    if metric.startswith(ADDED):
        return [*added(atoms, lists), *(([atom], []) for atom in atoms)]
    step = number(d_in)
    if domain.startswith("Vector"):
        width = size or 3
        if "LInf" in metric:
            return vectors(step, width)
        share = step if number is int else step / (math.sqrt(width) if "L2" in metric else width)
        spread = [] if number is int else [([0.0] * width, [share] * width)]
        return [([number(0)] * width, [step, *[number(0)] * (width - 1)]), *spread]
    return scalars(atoms if "bounds" in domain else atoms[:1], step)
