"""Result files as a report takes them in: every field it relies on is looked at here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pdpaudit.reporting.fields import Fields
from pdpaudit.results import CheckResult, ClaimResult, Result, load

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
    fields = Fields(body, name, "")
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


def _check(fields: Fields) -> CheckResult:
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


def _claim(fields: Fields) -> ClaimResult:
    claimed = fields.inner("claimed")
    epsilon, delta = claimed.number("epsilon"), claimed.number("delta") or 0.0
    if epsilon is None or epsilon < 0:
        raise claimed.fail("epsilon", "a number of at least 0")
    if not 0 <= delta <= 1:
        raise claimed.fail("delta", "a number between 0 and 1")
    samples = fields.inner("samples")
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
        event=_event(fields.inner("event")),
        pair=_worded(fields.inner("pair")),
        samples={str(key): samples.whole(key) for key in samples.body},
        detectable_epsilon=fields.number("detectable_epsilon"),
        witness=fields.mapping("witness") or None,
        inference=fields.mapping("inference"),
        detail=fields.text("detail"),
    )


def _event(fields: Fields) -> dict[str, Any]:
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


def _worded(fields: Fields) -> dict[str, Any]:
    return {**fields.body, "words": fields.text("words")}
