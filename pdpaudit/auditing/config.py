"""What an audit may spend, how sure it must be, and who watches it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from pdpaudit.core.errors import InputError
from pdpaudit.inference import METHODS
from pdpaudit.sampling import Store

__all__ = ["SEQUENTIAL", "Config", "Silent", "Watcher"]

#: The method that looks at the samples while they come in, and stops.
SEQUENTIAL = "sequential"


class Watcher(Protocol):
    """Follows what an audit is doing."""

    def stage(self, words: str, total: int) -> None:
        """Take note that a new stage begins, of ``total`` runs or pairs."""
        ...

    def advance(self, done: int) -> None:
        """Take note how many more runs or pairs are done."""
        ...


class Silent:
    """A watcher that says nothing."""

    def stage(self, words: str, total: int) -> None:
        """Say nothing."""

    def advance(self, done: int) -> None:
        """Say nothing."""


@dataclass(frozen=True)
class Config:
    """What an audit may spend and how sure it must be."""

    seed: int
    samples: int | None = None
    confidence: float = 0.95
    method: str = "exact"
    jobs: int = 1
    tries: int | None = None
    time_limit: float | None = None
    store: Store | None = None
    detect: float | None = None
    default_samples: int = 100_000

    def __post_init__(self) -> None:
        """Refuse what cannot be carried out."""
        if self.samples is not None and self.samples <= 0:
            raise InputError(f"--samples {self.samples}: must be at least 1")
        if not 0 < self.confidence < 1:
            raise InputError(
                f"--confidence {self.confidence}: must lie between 0 and 1, for example 0.95"
            )
        if self.jobs == 0 or self.jobs < -1:
            raise InputError(f"--jobs {self.jobs}: give a number of processes, or -1 for all cores")
        if self.method not in (*METHODS, SEQUENTIAL):
            known = ", ".join((*METHODS, SEQUENTIAL))
            raise InputError(f"--method {self.method}: choose one of {known}")
        if self.detect is not None and self.method != SEQUENTIAL:
            raise InputError("--detect says when to stop; give it with --sequential")
        if self.detect is not None and not 0 < self.detect < math.inf:
            raise InputError(f"--detect {self.detect}: give a loss above 0, in nats")
        if self.tries is not None and self.tries < 1:
            raise InputError(f"--try {self.tries}: must be at least 1")
        if self.time_limit is not None and not self.time_limit > 0:
            raise InputError(f"--time-limit {self.time_limit}: give seconds above 0")

    @property
    def sequential(self) -> bool:
        """Whether sampling stops as soon as it has shown enough."""
        return self.method == SEQUENTIAL

    @property
    def size(self) -> int:
        """Fresh samples a side for each claim that is sampled."""
        return self.default_samples if self.samples is None else self.samples
