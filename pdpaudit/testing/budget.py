"""What one test may spend, and what it found."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pdpaudit.core.errors import InputError

if TYPE_CHECKING:
    from pdpaudit.outputs import JSON
    from pdpaudit.results.results import Result

__all__ = ["Budget", "Turn", "current", "enter", "entered", "seed_of", "taken"]

UNANNOUNCED = (
    "this test audits a mechanism, which could not be seen before it ran: mark it with "
    "@pytest.mark.pdp_audit, so that its share of the session's false alarms is set aside"
)


#: Tests that may audit where no number is declared; fixed, or a verdict would depend on selection.
AUDITS = 10


@dataclass(frozen=True)
class Settings:
    """What was asked for."""

    confidence: float = 0.95
    samples: int | None = None
    seed: int = 0
    time_limit: float | None = None
    baseline: Path | None = None
    update: bool = False
    tolerance: float = 0.0
    report: Path | None = None
    audits: int = AUDITS
    strict: bool = False
    summary: Path | None = None
    again: str = ""


@dataclass(frozen=True)
class Turn:
    """What one audit within a test may spend."""

    number: int
    seed: int
    alpha: float


@dataclass(repr=False)
class Budget:
    """One test's share of the session; the fixture ``pdp``."""

    settings: Settings = field(default_factory=Settings)
    nodeid: str = ""
    share: float | None = None
    tests: int = 1
    claim: JSON = field(default_factory=dict)
    rerun: str = ""
    base: Path = field(default_factory=Path.cwd)
    cache: Path | None = None
    recorded: JSON = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)
    properties: list[tuple[str, object]] = field(default_factory=list)
    audits: int = 0
    files: int = 0

    def __repr__(self) -> str:
        """Return little: pytest shows a failing test's arguments."""
        return f"<pdp of {self.nodeid}>"

    @property
    def seed(self) -> int:
        """A seed for this test: the same in every session of this ``--pdp-seed``."""
        return seed_of(self.settings.seed, self.nodeid, 0)

    def turn(self) -> Turn:
        """Return what the next audit may spend: the k-th gets one part in 2^k of the share.

        However many there are, together they spend no more than the share.
        """
        if self.share is None:
            raise InputError(UNANNOUNCED)
        self.audits += 1
        return Turn(
            self.audits,
            seed_of(self.settings.seed, self.nodeid, self.audits),
            self.share * 0.5**self.audits,
        )

    @property
    def assert_private(self) -> Callable[..., Result]:
        """The function :func:`pdpaudit.testing.assert_private`."""
        from pdpaudit.testing import assert_private

        return assert_private

    @property
    def assert_statistic(self) -> Callable[..., Result]:
        """The function :func:`pdpaudit.testing.assert_statistic`."""
        from pdpaudit.testing import assert_statistic

        return assert_statistic


def seed_of(seed: int, nodeid: str, number: int) -> int:
    """Return a seed for the number-th audit of a test, the same wherever and whenever it runs."""
    text = f"{seed}\n{number}\n{nodeid}"
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:6], "big")


#: The test that runs now, made when it is first asked for: most tests never ask. A process runs
#: one test at a time.
_now: Budget | Callable[[], Budget] | None = None


def current() -> Budget:
    """Return the budget of the test that runs; outside pytest one with the defaults."""
    global _now
    if _now is None:
        return Budget(share=1 - Settings.confidence)
    if not isinstance(_now, Budget):
        _now = _now()
    return _now


def enter(budget: Budget | Callable[[], Budget] | None) -> None:
    """Let ``budget``, or what it returns, be the current one."""
    global _now
    _now = budget


def taken() -> list[dict[str, object]]:
    """Return what the test found since it was last asked."""
    if not isinstance(_now, Budget):
        return []
    rows, _now.rows = _now.rows, []
    return rows


@contextmanager
def entered(budget: Budget | None) -> Generator[None]:
    """Let ``budget`` be the current one for a while; sessions may run within tests."""
    before = _now
    enter(budget)
    try:
        yield
    finally:
        enter(before)
