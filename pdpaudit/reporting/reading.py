"""Result files as a report takes them in: every field it relies on is looked at here."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from pdpaudit.errors import InputError
from pdpaudit.reporting.figures import is_number
from pdpaudit.results import SEVERITY, CheckResult, ClaimResult, Result, Status, load

__all__ = ["Source", "read_source", "source_from_json"]

#: Nobody draws this often, and counts below it are exact as floats.
MOST_RUNS = 10**15


@dataclass(frozen=True)
class Source:
    """One result and where it came from.

    Attributes
    ----------
    name : str
        Name of the file, without its folder.
    result : Result
        What it says.
    versions : mapping of str to str
        What it was made with.
    """

    name: str
    result: Result
    versions: Mapping[str, str] = field(default_factory=dict)


def read_source(path: Path) -> Source:
    """Read a result file.

    Parameters
    ----------
    path : Path
        As written with ``--json``.

    Returns
    -------
    Source
        O(size of the file).

    Raises
    ------
    InputError
        If it is missing, is no result of this format, or a field is not what it must be.
    """
    return source_from_json(load(path), path.name)


def source_from_json(body: Mapping[str, Any], name: str) -> Source:
    """Return what the JSON form of a result says.

    Parameters
    ----------
    body : mapping
        As :meth:`pdpaudit.results.Result.to_json` returns it; optional fields may be missing.
    name : str
        What to call the file.

    Raises
    ------
    InputError
        If a field is not what it must be.

    Examples
    --------
    >>> source = source_from_json({"command": "audit", "subject": "A", "seed": 1}, "a.json")
    >>> source.result.subject, source.result.status
    ('A', 'skipped')
    >>> source_from_json({"command": "audit", "subject": "A", "seed": "x"}, "a.json")
    Traceback (most recent call last):
        ...
    pdpaudit.errors.InputError: a.json: seed is 'x', not a whole number; write the file again \
with --json
    """
    fields = _Fields(body, name, "")
    result = Result(
        command=fields.text("command"),
        subject=fields.text("subject"),
        seed=fields.whole("seed"),
        elapsed_s=fields.seconds("elapsed_s"),
        checks=tuple(map(_check, fields.records("checks"))),
        claims=tuple(map(_claim, fields.records("claims"))),
        context=fields.mapping("context"),
    )
    versions = {str(key): str(value) for key, value in fields.mapping("versions").items()}
    return Source(name, result, versions)


@dataclass(frozen=True)
class _Fields:
    """A JSON object whose fields are asked for by kind."""

    body: Mapping[str, Any]
    file: str
    place: str

    def fail(self, key: str, kind: str) -> InputError:
        shown = repr(self.body.get(key))
        shown = shown if len(shown) <= 40 else shown[:40] + "…"
        return InputError(
            f"{self.file}: {self.place}{key} is {shown}, not {kind}; write the file again with "
            "--json"
        )

    def text(self, key: str) -> str:
        value = self.body.get(key, "")
        if not isinstance(value, str):
            raise self.fail(key, "text")
        return value

    def number(self, key: str) -> float | None:
        """Return a number; what is not finite is a string in JSON."""
        value = self.body.get(key)
        if value is None or value == "nan":
            return None
        if value in ("inf", "-inf"):
            return float(value)
        if not is_number(value):
            raise self.fail(key, "a number")
        return None if math.isnan(value) else float(value)

    def seconds(self, key: str) -> float:
        value = self.number(key) or 0.0
        if not 0 <= value < math.inf:
            raise self.fail(key, "a number of seconds")
        return value

    def whole(self, key: str) -> int:
        value = self.body.get(key)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.fail(key, "a whole number")
        return value

    def mapping(self, key: str) -> dict[str, Any]:
        value = self.body.get(key)
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            raise self.fail(key, "an object")
        return dict(value)

    def records(self, key: str) -> list[_Fields]:
        value = self.body.get(key)
        if value is None:
            return []
        listed = isinstance(value, Sequence) and not isinstance(value, str)
        if not listed or not all(isinstance(item, Mapping) for item in value):
            raise self.fail(key, "a list of objects")
        return [
            _Fields(item, self.file, f"{self.place}{key}[{i}].") for i, item in enumerate(value)
        ]

    def status(self) -> Status:
        value = self.body.get("status")
        if value not in SEVERITY:
            raise self.fail("status", "one of " + ", ".join(SEVERITY))
        return cast(Status, value)


def _check(fields: _Fields) -> CheckResult:
    return CheckResult(
        name=fields.text("name"),
        status=fields.status(),
        declared=fields.body.get("declared"),
        observed=fields.body.get("observed"),
        exact=fields.body.get("exact") is True,
        scope=fields.text("scope"),
        witness=fields.mapping("witness") or None,
        detail=fields.text("detail"),
    )


def _claim(fields: _Fields) -> ClaimResult:
    claimed = _Fields(fields.mapping("claimed"), fields.file, fields.place + "claimed.")
    epsilon, delta = claimed.number("epsilon"), claimed.number("delta") or 0.0
    if epsilon is None or epsilon < 0:
        raise claimed.fail("epsilon", "a number of at least 0")
    if not 0 <= delta <= 1:
        raise claimed.fail("delta", "a number between 0 and 1")
    samples = _Fields(fields.mapping("samples"), fields.file, fields.place + "samples.")
    confidence = fields.number("confidence")
    if confidence is not None and not 0 < confidence < 1:
        raise fields.fail("confidence", "a number between 0 and 1")
    return ClaimResult(
        id=fields.text("id"),
        statement=fields.text("statement"),
        source=fields.text("source"),
        status=fields.status(),
        claimed={"epsilon": epsilon, "delta": delta},
        lower_bound=fields.number("lower_bound"),
        exact=fields.number("exact"),
        confidence=confidence,
        method=fields.text("method"),
        event=_event(_Fields(fields.mapping("event"), fields.file, fields.place + "event.")),
        pair=_worded(_Fields(fields.mapping("pair"), fields.file, fields.place + "pair.")),
        samples={str(key): samples.whole(key) for key in samples.body},
        detectable_epsilon=fields.number("detectable_epsilon"),
        witness=fields.mapping("witness") or None,
    )


def _event(fields: _Fields) -> dict[str, Any]:
    """Check counts and probabilities; the rest is shown as it is."""
    event = _worded(fields)
    counts = ("runs_a_side", "inside", "inside_other")
    if any(key in event for key in counts):
        runs, *hits = (fields.whole(key) for key in counts)
        for key, value in zip(counts, (runs, *hits), strict=True):
            if not 0 <= value <= runs < MOST_RUNS:
                raise fields.fail(key, "a count of runs")
    for key in ("probability", "probability_other"):
        if key in event:
            chance = fields.number(key)
            if chance is None or not 0 <= chance <= 1 + 1e-9:
                raise fields.fail(key, "a probability")
            event[key] = min(chance, 1.0)
    return event


def _worded(fields: _Fields) -> dict[str, Any]:
    return {**fields.body, "words": fields.text("words")}
