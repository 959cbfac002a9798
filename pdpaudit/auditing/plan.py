"""What an audit may spend, how sure it must be, and who watches it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from pdpaudit.core.errors import InputError
from pdpaudit.inference import METHODS
from pdpaudit.sampling import Store

__all__ = ["SEQUENTIAL", "Plan", "Silent", "Watcher"]

#: The method that looks at the samples while they come in, and stops.
SEQUENTIAL = "sequential"


class Watcher(Protocol):
    """Told what an audit is doing."""

    def stage(self, words: str, total: int) -> None:
        """Take note that a new stage begins, of ``total`` runs or pairs."""
        ...

    def advance(self, done: int) -> None:
        """Take note that so many more runs or pairs are done."""
        ...


class Silent:
    """A watcher that says nothing."""

    def stage(self, words: str, total: int) -> None:
        """Say nothing."""

    def advance(self, done: int) -> None:
        """Say nothing."""


@dataclass(frozen=True)
class Plan:
    """What an audit may spend and how sure it must be.

    Attributes
    ----------
    seed : int
        Root of all randomness.
    samples : int, optional
        Fresh samples a side for each claim. None: use the exact law where there is one, and
        ``default_samples`` where there is none.
    confidence : float
        That no true claim is called violated, over the whole command.
    method : str
        How ε is bounded from two counts; see :mod:`pdpaudit.inference`. ``"sequential"``: draw
        until the violation is certain; then ``samples`` is the most that is drawn.
    jobs : int
        Worker processes; never changes the result.
    tries : int, optional
        Pairs to try at most, before local moves; None: all.
    time_limit : float, optional
        Seconds after which the search for a pair ends with what it has; what was found then
        depends on the machine. None: no limit.
    store : Store, optional
        Where finished runs are kept and taken from; never changes the result.
    detect : float, optional
        Sequential: stop in vain too, once a loss of so much would have been seen with probability
        0.95. None: only at the violation, or when all samples are drawn.
    default_samples : int
        Fresh samples a side where ``samples`` is None and no law helps.

    Raises
    ------
    InputError
        For numbers outside their range.
    """

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
