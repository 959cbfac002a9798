"""What an audit may spend, how sure it must be, and who watches it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pdpaudit.core.errors import InputError, ParameterError, number, whole
from pdpaudit.inference import METHODS
from pdpaudit.sampling import Silent, Store, Watcher

__all__ = ["BUDGETS", "SEQUENTIAL", "Budget", "Config", "Silent", "Watcher"]

#: The method that looks at the samples while they come in, and stops.
SEQUENTIAL = "sequential"


@dataclass(frozen=True)
class Budget:
    """What a staged audit spends where no number of samples is asked for, counted in runs.

    ``discovery`` and ``share`` are multiples of the subject's default: discovery runs a side of a
    pair that is looked at to the end, and confirming runs a side at most. Sampling stops once a
    loss of ``times`` the claim plus ``plus`` would have been found.
    """

    discovery: float
    share: float
    times: float
    plus: float


#: The quick one detects what :func:`pdpaudit.auditing.verdict` asks for, and no less.
BUDGETS = {
    "quick": Budget(1 / 60, 0.1, 2.0, 0.5),
    "default": Budget(1 / 15, 1.0, 1.5, 0.2),
    "thorough": Budget(1.0, 10.0, 1.1, 0.05),
}


#: What is a whole number, and what is any; from a program they may come in types of numpy.
WHOLE = ("seed", "samples", "jobs", "tries")
REAL = ("confidence", "time_limit", "detect")


@dataclass(frozen=True)
class Config:
    """What an audit may spend and how sure it must be."""

    seed: int
    samples: int | None = None
    confidence: float = 0.95
    method: str | None = None
    jobs: int = 1
    tries: int | None = None
    time_limit: float | None = None
    store: Store | None = None
    detect: float | None = None
    default_samples: int = 30_000
    budget: str = "default"
    explain: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot be carried out."""
        for names, read in ((WHOLE, whole), (REAL, number)):
            for name in names:
                if (value := getattr(self, name)) is not None:
                    object.__setattr__(self, name, read(name, value))
        if self.samples is not None and self.samples <= 0:
            raise ParameterError("samples", self.samples, "must be at least 1")
        if not 0 < self.confidence < 1:
            raise ParameterError(
                "confidence", self.confidence, "must lie between 0 and 1, for example 0.95"
            )
        if self.jobs == 0 or self.jobs < -1:
            raise ParameterError(
                "jobs", self.jobs, "give a number of processes, or -1 for all cores"
            )
        if self.method not in (None, *METHODS, SEQUENTIAL):
            known = ", ".join((*METHODS, SEQUENTIAL))
            raise ParameterError("method", self.method, f"choose one of {known}")
        if self.detect is not None and not self.sequential:
            raise InputError(
                "`detect` says when to stop; give it without `samples`, or with `sequential`"
            )
        if self.budget not in BUDGETS:
            raise ParameterError("budget", self.budget, f"choose one of {', '.join(BUDGETS)}")
        if self.budget != "default" and self.samples is not None:
            raise InputError(f"`{self.budget}` is a number of runs; leave out `samples`")
        if self.detect is not None and not 0 < self.detect < math.inf:
            raise ParameterError("detect", self.detect, "give a loss above 0, in nats")
        if self.tries is not None and self.tries < 1:
            raise ParameterError("tries", self.tries, "must be at least 1")
        if self.time_limit is not None and not self.time_limit > 0:
            raise ParameterError("time_limit", self.time_limit, "give seconds above 0")

    @property
    def staged(self) -> bool:
        """Whether the plan is the default one: stages that end once enough is known."""
        return self.samples is None and self.method is None

    @property
    def rule(self) -> str:
        """How ε is bounded from samples."""
        return self.method or (SEQUENTIAL if self.staged else "exact")

    @property
    def sequential(self) -> bool:
        """Whether sampling stops as soon as it has shown enough."""
        return self.rule == SEQUENTIAL

    @property
    def size(self) -> int:
        """Fresh samples a side for each claim that is sampled, at most."""
        if self.samples is not None:
            return self.samples
        return max(1, round(self.default_samples * BUDGETS[self.budget].share))

    @property
    def discovery(self) -> int | None:
        """Discovery runs a side of a pair looked at to the end; None where the plan is fixed."""
        if not self.staged:
            return None
        return max(1, round(self.default_samples * BUDGETS[self.budget].discovery))

    def wanted(self, claimed: float) -> float | None:
        """Return the loss that must have been detectable before a claim is let stand."""
        if self.detect is not None or not self.staged:
            return self.detect
        budget = BUDGETS[self.budget]
        return budget.times * claimed + budget.plus
