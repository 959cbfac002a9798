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
from typing import TYPE_CHECKING, Any, Protocol, cast

from pdpaudit import PrivacyClaim
from pdpaudit.adapters.libraries import added, replaced, scalars, vectors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pdpaudit.adapters.libraries import Pairs

    #: One number, or three for a metric of sparse vectors.
    Distance = float | tuple[float, ...]

__all__ = ["Measurement", "adapt"]

#: Domains and metrics that are tried, as functions of ``opendp.prelude``.
TRIED = (
    ("atom_domain", "int", "absolute_distance"),
    ("vector_domain", "int", "l1_distance"),
    ("vector_domain", "int", "l2_distance"),
    ("vector_domain", "int", "linf_distance"),
    ("vector_domain", "int", "symmetric_distance"),
    ("bitvector_domain", "", "discrete_distance"),
    ("map_domain", "int", "l01inf_distance"),
    ("map_domain", "int", "l02inf_distance"),
)

#: Metrics that count the records to take away and to add.
ADDED = ("Symmetric", "InsertDelete")

#: Steps of a bisection for the smallest ε that an old release accepts, below that.
STEPS, LARGEST = 60, 64.0

#: The ε at which an (ε, δ) curve and the order at which a Rényi curve is claimed.
DELTA, ORDER = 1e-6, 2.0


class Measured(Protocol):
    """What OpenDP calls a measurement; before 0.5 it has ``check`` in place of ``map``."""

    output_measure: object

    def __call__(self, x: object) -> object:
        """Invoke it."""
        ...

    def map(self, d_in: object) -> Any:
        """Return what is lost at a distance."""
        ...

    def check(self, d_in: object, d_out: float) -> bool:
        """Say whether no more is lost at a distance."""
        ...


class Measurement:
    """A measurement as a mechanism."""

    seedable = False

    def __init__(
        self,
        measurement: Measured,
        d_in: Distance | None = None,
        values: Sequence[object] | None = None,
    ) -> None:
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
        self.given = [
            pair
            for pair in pairs_under(domain, metric, self.d_in, values)
            if all(_belongs(measurement, side) for side in pair)
        ]
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
    target: Measured | str,
    d_in: Distance | None = None,
    values: Sequence[object] | None = None,
    **parameters: Any,
) -> Measurement:
    """Return a measurement, or the name of a constructor, as a mechanism."""
    if isinstance(target, str):
        target = _constructed(target, parameters)
    return Measurement(target, d_in, values or parameters.get("categories"))


def _constructed(name: str, parameters: dict[str, Any]) -> Measured:
    core = importlib.import_module("opendp.mod")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the second feature has another name now
        core.enable_features("contrib", "floating-point")
    try:
        make = getattr(importlib.import_module("opendp.measurements"), name)
    except ImportError:  # before 0.5
        return cast("Measured", getattr(importlib.import_module("opendp.meas"), name)(**parameters))
    needed = inspect.signature(make).parameters
    if "input_domain" not in needed:
        return cast("Measured", make(**parameters))
    dp, why = importlib.import_module("opendp.prelude"), ""
    measures: list[dict[str, object]] = [{}]
    if "output_measure" in needed:
        measures = [{"output_measure": dp.max_divergence()}]
        if hasattr(dp, "approximate"):
            measures.append({"output_measure": dp.approximate(dp.max_divergence())})
    for (container, kind, metric), measure in product(TRIED, measures):
        try:
            atom = dp.atom_domain(T=kind or "int")
            inside: Any = (dp.atom_domain(T=str), atom) if container == "map_domain" else (atom,)
            builder = getattr(dp, container)
            domain = atom if container == "atom_domain" else builder(*inside if kind else (1,))
            distance = dp.absolute_distance(T=kind) if metric[:2] == "l0" else None
            build = getattr(dp, metric)
            typed = {"T": kind} if metric[0] in "al" and distance is None else {}
            space = build(distance) if distance is not None else build(**typed)
            return cast("Measured", make(domain, space, **parameters, **measure))
        except Exception as error:
            why = why or " ".join(str(error).split())
    raise ValueError(f"no domain and metric fit; hand over the measurement itself ({why})")


def _claim(measurement: Measured, d_in: Distance) -> PrivacyClaim:
    if not hasattr(measurement, "map"):
        return PrivacyClaim(_smallest(measurement, d_in), source="its privacy relation")
    measure, out = str(measurement.output_measure), measurement.map(d_in)
    source = f"map({d_in}), {measure}"
    if measure == "MaxDivergence":
        return PrivacyClaim(out, source=source)
    if measure == "ZeroConcentratedDivergence":
        return PrivacyClaim.zcdp(out, source)
    if measure == "Approximate(ZeroConcentratedDivergence)":
        # As (ε, δ), by the bound of Bun and Steinke (2016) for a δ of ours on top.
        rho, delta = out
        return PrivacyClaim(rho + 2 * math.sqrt(-rho * math.log(DELTA)), delta + DELTA, source)
    if measure == "RenyiDivergence":
        return PrivacyClaim.renyi(ORDER, out(ORDER), source)
    if "SmoothedMax" in measure:
        return PrivacyClaim(out.epsilon(DELTA), DELTA, source)
    if "MaxDivergence" in measure:
        return PrivacyClaim(out[0], out[1], source)
    raise ValueError(f"no claim is known for the measure {measure}")


def _smallest(measurement: Measured, d_in: Distance) -> float:
    low, high = 0.0, LARGEST
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if measurement.check(d_in, middle) else (middle, high)
    return high


def _belongs(measurement: Measured, x: object) -> bool:
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


def pairs_under(domain: str, metric: str, d_in: Distance, values: Sequence[object] | None) -> Pairs:
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
