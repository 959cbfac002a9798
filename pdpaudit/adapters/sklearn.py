"""Estimators with ``fit``: what one learns, every attribute that ends in an underscore, is seen."""

from __future__ import annotations

import warnings
from typing import Any

from pdpaudit import PrivacyClaim
from pdpaudit.adapters.domains import replaced

__all__ = ["Estimator", "adapt"]


class Estimator:
    """An estimator as a mechanism on data sets of records ``(features, label)``.

    Data sets are neighbours where one record is replaced; features and labels take the ends of
    their bounds. The claim is that of the parameter ``epsilon``, where there is one.
    """

    representation = True

    def __init__(
        self, estimator: Any, bounds: Any = (0.0, 1.0), labels: Any = (0.0, 1.0), width: int = 1
    ) -> None:
        self.estimator = estimator
        self.records = [([end] * width, label) for end in bounds for label in labels]
        epsilon = estimator.get_params().get("epsilon")
        self.claim = None if epsilon is None else PrivacyClaim(float(epsilon), source="epsilon")

    def pairs(self) -> list[Any]:
        """Return neighbouring data sets."""
        return replaced(self.records, sizes=(2, 5))

    def run(self, records: Any, rng: Any) -> dict[str, object]:
        """Fit one like it, and return what it learned."""
        parameters = self.estimator.get_params(deep=False)
        if "random_state" in parameters:
            parameters["random_state"] = _seed(rng)
        made = type(self.estimator)(**parameters)
        features, labels = [list(row) for row, _ in records], [label for _, label in records]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made.fit(features, labels)
        known = vars(made).items()
        return {name: value for name, value in sorted(known) if name[-1] == "_" != name[0]}


def _seed(rng: Any) -> int:
    """Return a seed from the generator it is given, also where that is Python's own."""
    return int(rng.integers(2**31) if hasattr(rng, "integers") else rng.randrange(2**31))


def adapt(target: object, **parameters: Any) -> Estimator:
    """Return an estimator as a mechanism; one is handed over, names say too little."""
    if isinstance(target, str) or not hasattr(target, "fit"):
        raise ValueError("hand over an estimator, made with its parameters")
    return Estimator(target, **parameters)
