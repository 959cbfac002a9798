"""The recorded losses, a JSON file made to be read in a diff; and whether one has grown.

The null hypothesis is that the loss has not grown. What was recorded has an upper confidence
limit, what is measured now on fresh samples a lower one, each at half of the error level; where
the lower lies above the upper the loss has grown, wrongly so with no more probability than the
error level, whatever the counts (union bound). Exact losses are just compared.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scipy import special

from pdpaudit.core.errors import InputError, described
from pdpaudit.core.network import Network
from pdpaudit.core.privacy_loss import exact_loss
from pdpaudit.core.protocols import LawUnavailable, Mechanism
from pdpaudit.core.subject import Subject
from pdpaudit.inference import lower_bound
from pdpaudit.io.files import open_file
from pdpaudit.outputs import JSON, Event, event_from_json
from pdpaudit.replay.claims import candidate_of
from pdpaudit.results.fields import Fields
from pdpaudit.results.results import write_text
from pdpaudit.sampling import Misbehaviour, hits

__all__ = [
    "FORMAT",
    "Growth",
    "baseline_text",
    "entry_of",
    "measure_growth",
    "read_baseline",
    "upper_bound",
    "write_baseline",
]

FORMAT = "pdpaudit-baseline/1"

#: Decimals of a recorded loss, and what two exact losses may differ by on two machines.
DECIMALS, EXACT_SLACK = 9, 1e-8


@dataclass(frozen=True)
class Growth:
    """What became of a recorded loss, in nats."""

    grew: bool
    then: float
    then_most: float
    now: float
    now_least: float
    exact: bool
    runs: int


def upper_bound(x: int, n: int, y: int, m: int, alpha: float, delta: float = 0.0) -> float:
    """Bound the loss of an event from above."""
    high = 1.0 if x >= n else float(special.betaincinv(x + 1, n - x, 1 - alpha / 2))
    low = 0.0 if y <= 0 else float(special.betaincinv(y, m - y + 1, alpha / 2))
    return _log_ratio(high, low, delta)


def entry_of(claim: JSON) -> dict[str, object] | None:
    """Return what to record of a claim's result; None where nothing was measured."""
    witness, event = claim.get("witness"), claim.get("event") or {}
    if claim["status"] not in ("not_rejected", "inconclusive", "certified") or not witness:
        return None
    if "kind" in claim["claimed"]:
        return None  # growth is measured in ε
    delta = claim["claimed"]["delta"]
    entry = {
        "claim": claim["statement"],
        "delta": delta,
        "exact": claim["exact"] is not None,
        "event": witness["event"],
        "pair": witness["pair"],
        "event_words": event.get("words", ""),
    }
    if claim["exact"] is not None:
        exact = float(claim["exact"])
        return {**entry, "loss": round(exact, DECIMALS) if math.isfinite(exact) else str(exact)}
    x, y, n = event["inside"], event["inside_other"], event["runs_a_side"]
    loss = _log_ratio(x / n, y / n, delta)
    return {
        **entry,
        "counts": [x, n, y, n],
        "loss": round(loss, DECIMALS) if math.isfinite(loss) else str(loss),
    }


def measure_growth(
    entry: JSON,
    mechanism: Subject,
    *,
    seed: int,
    key: tuple[str | int, ...],
    size: int,
    alpha: float,
    tolerance: float,
    recorded_in: Path,
) -> Growth:
    """Measure a recorded pair and event again, and say whether the loss has grown."""
    try:
        event = event_from_json(entry["event"])
        left, right = candidate_of(entry["pair"], mechanism, seed, _no_file).inputs()
        delta, then, counts = _numbers(entry)
    except Exception as error:  # whatever a damaged entry leads to
        raise InputError(
            f"{recorded_in}: an entry is damaged or no longer fits ({described(error)}); record it "
            "anew with --pdp-update-baseline"
        ) from None
    if counts is None:
        if mechanism.has("law"):
            try:
                laws = mechanism.law(left), mechanism.law(right)
                now = exact_loss(*laws, delta).epsilon
            except LawUnavailable:
                pass
            except Misbehaviour as error:
                raise InputError(f"the baseline's pair cannot be measured: {error}") from None
            else:
                grew = now > then + tolerance + EXACT_SLACK * max(1.0, abs(then))
                return Growth(grew, then, then, now, now, True, 0)
        most, level = then, alpha
    else:
        x, n, y, m = counts
        most, level = upper_bound(x, n, y, m, alpha / 2, delta), alpha / 2
    x, y = _count(mechanism, event, left, right, size, seed, key)
    least = float(lower_bound(x, size, y, size, level, delta))
    now = _log_ratio(x / size, y / size, delta)
    return Growth(least > most + tolerance, then, most, now, least, False, 2 * size)


def _numbers(entry: JSON) -> tuple[float, float, list[int] | None]:
    """Return δ, the recorded loss and its counts, once they agree with each other."""
    fields = Fields(entry, "entry", "")
    delta, then = fields.number("delta"), fields.number("loss")
    if delta is None or not 0 <= delta < 1 or then is None or then < 0:
        raise ValueError("its delta or its loss is none")
    if not isinstance(entry["exact"], bool):
        raise ValueError("it does not say whether it is exact")
    if entry["exact"]:
        return delta, then, None
    fields.listed("counts", 4)
    x, n, y, m = (
        Fields({"count": count}, "entry", "counts.").count("count") for count in entry["counts"]
    )
    if not (x <= n and y <= m and n > 0 and m > 0):
        raise ValueError("its counts are none of runs")
    loss = _log_ratio(x / n, y / m, delta)
    if not math.isclose(loss, then, abs_tol=10.0**-DECIMALS):
        raise ValueError(f"its counts show a loss of {loss:.6g}, not {then:.6g}")
    return delta, then, [x, n, y, m]


def _count(
    mechanism: Mechanism,
    event: Event,
    left: object,
    right: object,
    size: int,
    seed: int,
    key: tuple[str | int, ...],
) -> tuple[int, int]:
    """Return how many fresh runs fall into the event, on its own side and on the other."""
    inside = {}
    try:
        for side, instance in (("left", left), ("right", right)):
            inside[side] = hits(
                mechanism, instance, size, event, seed=seed, key=(*key, side)
            ).inside
    except Misbehaviour as error:
        raise InputError(f"the baseline's pair cannot be measured: {error}") from None
    return inside[event.side], inside["right" if event.side == "left" else "left"]


def _log_ratio(p: float, q: float, delta: float) -> float:
    excess = p - delta
    if excess <= 0:
        return 0.0
    return math.inf if q <= 0 else max(0.0, math.log(excess / q))


def _no_file(body: JSON, seed: int) -> Network:
    raise ValueError("its network is not written out")


def read_baseline(path: Path, missing_ok: bool = False) -> dict[str, object]:
    """Return the entries of a baseline by test."""
    if missing_ok and not path.exists():
        return {}
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: is no file; check the path of the baseline")
    try:
        with open_file(path) as file:
            body = json.loads(file.read())
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; check the path of the baseline") from None
    except (ValueError, RecursionError):
        body = None
    if (
        not isinstance(body, dict)
        or body.get("format") != FORMAT
        or not isinstance(body.get("losses"), dict)
        or not all(isinstance(entry, dict) for entry in body["losses"].values())
    ):
        raise InputError(f"{path}: not a {FORMAT} file; record one anew with --pdp-update-baseline")
    losses: dict[str, Any] = body["losses"]
    return losses


def write_baseline(path: Path, losses: JSON) -> None:
    """Write a baseline whole or not at all."""
    write_text(path, baseline_text(losses))


def baseline_text(losses: JSON) -> str:
    """Return a baseline as text: sorted, one line for each thing a reviewer would look at."""
    entries = []
    for name in sorted(losses):
        fields = [f"   {_line(key)}: {_line(losses[name][key])}" for key in sorted(losses[name])]
        entries.append(f"  {_line(name)}: {{\n" + ",\n".join(fields) + "\n  }")
    body = "{\n" + ",\n".join(entries) + "\n }" if entries else "{}"
    return f'{{\n "format": "{FORMAT}",\n "losses": {body}\n}}\n'


def _line(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=True, allow_nan=False)
