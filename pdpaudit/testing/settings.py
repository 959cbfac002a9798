"""What the session may spend and where it writes: from the command line, else the ini file."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest

__all__ = ["Settings", "read_settings"]

T = TypeVar("T")

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


def read_settings(config: pytest.Config) -> Settings:
    """Return the settings of a session."""
    here, ini = config.invocation_params.dir, config.inipath
    again = []

    def given(name: str, parse: Callable[[str], T], default: T, remedy: str) -> T:
        """Return one setting; a path on the command line is relative to where that was typed."""
        text, told = config.getoption(f"pdp_{name}"), f"--pdp-{name.replace('_', '-')}"
        if text is not None and name in (
            "confidence",
            "samples",
            "time_limit",
            "tolerance",
            "audits",
            "fail_on",
        ):
            again.append(f"{told} {shlex.quote(str(text))}")
        if text is None:
            text, told = config.getini(f"pdp_{name}") or None, f"pdp_{name}"
        if text is None:
            return default
        try:
            return parse(str(text))
        except ValueError:
            raise pytest.UsageError(f"{told} {text}: {remedy}") from None

    def path(name: str) -> Path | None:
        typed = config.getoption(f"pdp_{name}") is not None
        base = here if typed or ini is None else ini.parent
        return given(name, lambda text: base / Path(text).expanduser(), None, "")

    confidence = given(
        "confidence", _between_0_and_1, 0.95, "must lie between 0 and 1, for example 0.95"
    )
    whole = "must be a whole number of at least "
    samples = given("samples", lambda text: _least(int(text), 1), None, whole + "1")
    seed = given("seed", lambda text: _least(int(text), 0), 0, whole + "0")
    audits = given("audits", lambda text: _least(int(text), 1), AUDITS, whole + "1")
    strict = given("fail_on", _inconclusive, False, "must be inconclusive")
    limit = given("time_limit", lambda text: _above(float(text)), None, "give seconds above 0")
    tolerance = given("tolerance", lambda text: _least(float(text), 0.0), 0.0, "give nats from 0")
    baseline, report, summary = path("baseline"), path("report"), path("summary")
    update: bool = config.getoption("pdp_update_baseline")
    if update and baseline is None:
        raise pytest.UsageError("--pdp-update-baseline: say which, with --pdp-baseline FILE")
    if baseline is not None:
        _require_baseline(baseline, update=update)
    if summary is None and os.environ.get("GITHUB_STEP_SUMMARY"):
        summary = Path(os.environ["GITHUB_STEP_SUMMARY"])
    if baseline is not None and config.getoption("pdp_baseline") is not None:
        again.append(f"--pdp-baseline {shlex.quote(str(config.getoption('pdp_baseline')))}")
    return Settings(
        confidence,
        samples,
        seed,
        limit,
        baseline,
        update,
        tolerance,
        report,
        audits,
        strict,
        summary,
        " ".join([*again, f"--pdp-seed {seed}"]),
    )


def _require_baseline(path: Path, *, update: bool) -> None:
    if not path.parent.is_dir():
        raise pytest.UsageError(f"{path}: the folder {path.parent} does not exist; make it first")
    if not update and not path.is_file():
        raise pytest.UsageError(
            f"{path}: there is no such baseline; record one with --pdp-update-baseline"
        )


def _inconclusive(text: str) -> bool:
    if text != "inconclusive":
        raise ValueError
    return True


def _between_0_and_1(text: str) -> float:
    value = float(text)
    if not 0 < value < 1:
        raise ValueError
    return value


def _least(value: Any, least: Any) -> Any:
    if not least <= value < float("inf"):
        raise ValueError
    return value


def _above(value: float) -> float:
    if not 0 < value < float("inf"):
        raise ValueError
    return value
