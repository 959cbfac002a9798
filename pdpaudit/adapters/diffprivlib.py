"""Mechanisms, tools and models of diffprivlib: claim from ``epsilon``, domain from the bounds.

``diffprivlib:Laplace --with epsilon=1 --with sensitivity=1`` names a mechanism,
``diffprivlib:mean --with bounds=(0,10)`` a tool, ``diffprivlib:LinearRegression`` a model. All are
seeded from our streams by ``random_state``.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import warnings
from typing import Any

from pdpaudit import PrivacyClaim
from pdpaudit.adapters import domains
from pdpaudit.adapters.sklearn import Estimator, _seed

__all__ = ["adapt"]

#: Tools whose sensitivity is for one record more; that of the others is for one replaced.
ADDED = ("histogram", "histogram2d", "histogramdd")


class Mechanism:
    """A mechanism on numbers that far apart as its sensitivity, or on its two values."""

    representation = True

    def __init__(self, kind: Any, parameters: dict[str, Any]) -> None:
        self.kind, self.parameters = kind, parameters
        made = kind(**parameters)
        self.claim = PrivacyClaim(float(made.epsilon), float(made.delta), source=kind.__name__)

    def pairs(self) -> list[Any]:
        """Return neighbouring inputs."""
        known = self.parameters
        if "value0" in known:
            return [(known["value0"], known["value1"])]
        step = known.get("sensitivity", 1)
        whole = "Geometric" in self.kind.__name__ or "Discrete" in self.kind.__name__
        step = int(step) if whole else float(step)
        ends = [0, known.get("lower", 0), known.get("upper", step) - step]
        return domains.scalars([type(step)(end) for end in dict.fromkeys(ends)], step)

    def run(self, x: Any, rng: Any) -> Any:
        """Randomise it once."""
        return self.kind(**self.parameters, random_state=_seed(rng)).randomise(x)


class Tool:
    """A function of a list of numbers, two of which differ in one record."""

    representation = True

    def __init__(self, function: Any, parameters: dict[str, Any], relation: Any, nan: bool) -> None:
        self.function, self.parameters = function, parameters
        default = "add-remove" if function.__name__ in ADDED else "replace"
        self.relation, self.nan = relation or default, nan
        epsilon = parameters.get("epsilon", 1.0)
        self.claim = PrivacyClaim(float(epsilon), source=f"epsilon of {function.__name__}")

    def pairs(self) -> list[Any]:
        """Return neighbouring data sets: records at the ends of the bounds, and between."""
        low, high = self.parameters.get("bounds") or self.parameters.get("range") or (0.0, 1.0)
        values = [float(low), float(high), (low + high) / 2] + [float("nan")] * self.nan
        make = domains.replaced if self.relation == "replace" else domains.added
        return make(values)

    def run(self, x: Any, rng: Any) -> Any:
        """Ask it once."""
        weights = self.parameters.get("weights")
        given = {**self.parameters, **({"weights": [weights] * len(x)} if weights else {})}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = self.function(x, random_state=_seed(rng), **given)
        return found[0] if isinstance(found, tuple) else found


def adapt(target: object, representation: bool = True, **parameters: Any) -> Any:
    """Return a mechanism, a tool (its arguments bound by ``functools.partial``) or a model.

    With ``representation`` false the exact form of their numbers, by which all that are drawn in
    floating point leak, is not looked at.

    ``relation`` is "replace" or "add-remove", for tools; with ``nan`` a record may be no number.
    ``weights`` of a histogram is the weight that each record has.
    """
    made = _made(target, **parameters)
    made.representation = representation
    return made


def _made(target: Any, relation: Any = None, nan: bool = False, **parameters: Any) -> Any:
    """Return what an object of the library, or a name, means."""
    pairs = ("bounds", "bounds_X", "bounds_y", "range")  # lists, where they were in a file
    parameters.update((key, tuple(parameters[key])) for key in pairs if parameters.get(key))
    if isinstance(target, str):
        rooms = [importlib.import_module("diffprivlib." + r) for r in ("mechanisms", "tools")]
        rooms.append(importlib.import_module("diffprivlib.models"))
        found = [getattr(room, target) for room in rooms if hasattr(room, target)]
        if not found:
            raise ValueError("no mechanism, tool or model has that name")
        target = found[0]
        if hasattr(target, "fit"):
            target, parameters = target(**parameters), {}
    if isinstance(target, functools.partial):
        target, parameters = target.func, {**target.keywords, **parameters}
    if inspect.isfunction(target):
        return Tool(target, parameters, relation, nan)
    if hasattr(target, "fit"):
        return _model(target, parameters)
    if not inspect.isclass(target):  # an object keeps what it was made with
        names = inspect.signature(type(target)).parameters
        kept = {name: getattr(target, name) for name in names if name != "random_state"}
        target, parameters = type(target), {**kept, **parameters}
    return Mechanism(target, parameters)


def _model(model: Any, parameters: dict[str, Any]) -> Estimator:
    """Return a model with the domain that its bounds give, where it has bounds."""
    known = model.get_params(deep=False)
    bounds = known.get("bounds_X") or known.get("bounds")
    for name, given in (("bounds", bounds), ("labels", known.get("bounds_y"))):
        if given is not None:
            parameters.setdefault(name, tuple(map(float, given)))
    return Estimator(model, **parameters)
