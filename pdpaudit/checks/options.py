"""How far the checks go: all of it in one place, checked at the door."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from pdpaudit.checks.enumeration import LARGEST_LABELLED
from pdpaudit.core.errors import InputError, ParameterError
from pdpaudit.core.network import Network

__all__ = ["LARGEST_EXHAUSTIVE", "Options"]

LARGEST_EXHAUSTIVE = 8


@dataclass(frozen=True)
class Options:
    """What ``check_sop`` looks at."""

    max_vertices: int = 6
    labelled_vertices: int = 5
    time_limit: float = 120.0
    jobs: int = 1
    seed: int = 0
    examples: int = 3000
    network: Network | None = None
    max_degree: int | None = None
    select: tuple[str, ...] | None = None
    skip: tuple[str, ...] = ()
    expected_failures: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what cannot be carried out."""
        if not 1 <= self.max_vertices <= LARGEST_EXHAUSTIVE:
            raise ParameterError(
                "max_vertices",
                self.max_vertices,
                f"exhaustive search covers 1 to {LARGEST_EXHAUSTIVE} vertices",
            )
        if not 1 <= self.labelled_vertices <= LARGEST_LABELLED:
            raise ParameterError(
                "labelled_vertices",
                self.labelled_vertices,
                f"every labelled network is enumerated up to 1 to {LARGEST_LABELLED} vertices",
            )
        if not (self.time_limit > 0 and math.isfinite(self.time_limit)):
            raise ParameterError("time_limit", self.time_limit, "give a positive number of seconds")
        if self.jobs < 1:
            raise ParameterError("jobs", self.jobs, "give at least 1 worker process")
        if self.examples < 0:
            raise ParameterError("examples", self.examples, "give 0 or more")
        if self.max_degree is not None and self.max_degree < 0:
            raise ParameterError("max_degree", self.max_degree, "a degree bound is at least 0")
        for name, reason in self.expected_failures.items():
            if not reason.strip():
                raise InputError(f"expected failure of {name!r}: say why, the reason is empty")
