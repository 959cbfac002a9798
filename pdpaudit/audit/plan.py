"""What an audit may spend, how sure it must be, and who watches it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pdpaudit.errors import InputError

__all__ = ["Plan", "Silent", "Watcher"]


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
        ``DEFAULT_SAMPLES`` where there is none.
    confidence : float
        That no true claim is called violated, over the whole command.
    method : str
        How ε is bounded from two counts; see :mod:`pdpaudit.evidence`.
    jobs : int
        Worker processes; never changes the result.

    Raises
    ------
    InputError
        For numbers outside their range.
    """

    seed: int
    samples: int | None = None
    confidence: float = 0.95
    method: str = "clopper-pearson"
    jobs: int = 1

    DEFAULT_SAMPLES = 100_000

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

    @property
    def size(self) -> int:
        """Fresh samples a side for each claim that is sampled."""
        return self.DEFAULT_SAMPLES if self.samples is None else self.samples
