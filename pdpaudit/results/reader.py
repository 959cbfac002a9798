"""Read a result file back into the objects it was written from: every field is looked at here.

What is not finite is a string in JSON; here it becomes a number again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pdpaudit.results.fields import Fields
from pdpaudit.results.results import CheckResult, ClaimResult, Result

__all__ = ["claim_from_json", "result_from_json"]

#: Nobody draws this often, and counts below it are exact as floats.
MOST_RUNS = 10**15

#: How numbers that are not finite are written.
NOT_FINITE = ("inf", "-inf", "nan")


def result_from_json(body: Mapping[str, Any], name: str) -> Result:
    """Return the result of a JSON form."""
    fields = Fields(body, name, "")
    return Result(
        command=fields.text("command"),
        subject=fields.text("subject"),
        seed=fields.whole("seed"),
        elapsed_s=fields.seconds("elapsed_s"),
        checks=tuple(map(_check, fields.records("checks"))),
        claims=tuple(map(_claim, fields.records("claims"))),
        context=fields.mapping("context"),
        source=fields.text("source"),
        commit=fields.text("commit"),
    )


def claim_from_json(body: Mapping[str, Any], name: str = "result") -> ClaimResult:
    """Return one claim's result of its JSON form."""
    return _claim(Fields(body, name, ""))


def _check(fields: Fields) -> CheckResult:
    return CheckResult(
        name=fields.text("name"),
        status=fields.status(),
        declared=_numbers(fields.body.get("declared")),
        observed=_numbers(fields.body.get("observed")),
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


def _numbers(value: Any) -> Any:
    """Return what was declared or observed, a number or many, with what is not finite."""
    if isinstance(value, Mapping):
        return {key: _numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_numbers(item) for item in value]
    return float(value) if value in NOT_FINITE else value
