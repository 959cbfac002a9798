"""The recorded losses, a JSON file made to be read in a diff; and whether one has grown.

The null hypothesis is that the loss has not grown. What was recorded has an upper confidence
limit, what is measured now on fresh samples a lower one, each at half of the error level; where
the lower lies above the upper the loss has grown, wrongly so with no more probability than the
error level, whatever the counts (union bound). Exact losses are just compared.
"""

from __future__ import annotations

import json
import math
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from statsmodels.stats.proportion import proportion_confint

from pdpaudit.core.errors import InputError, described
from pdpaudit.core.network import Network
from pdpaudit.core.privacy_loss import exact_loss
from pdpaudit.core.protocols import LawUnavailable
from pdpaudit.core.subject import Subject
from pdpaudit.inference import lower_bound
from pdpaudit.io.source import open_file
from pdpaudit.outputs import JSON, event_from_json
from pdpaudit.replay.claims import candidate_of
from pdpaudit.report.findings import log_ratio
from pdpaudit.results.files import Fields, plain_fields, whole, write_text
from pdpaudit.results.pairs import pair_from_json
from pdpaudit.results.results import ClaimResult
from pdpaudit.sampling import Misbehaviour, hits

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
    _, high = proportion_confint(x, n, alpha, method="beta")
    low, _ = proportion_confint(y, m, alpha, method="beta")
    return log_ratio(high, low, delta)


def entry_of(claim: ClaimResult) -> JSON | None:
    """Return what to record of a claim; None where nothing was measured, or not in ε."""
    seen, witness, promise = claim.event.counts, claim.witness, claim.promise
    stands = claim.status in ("not_rejected", "inconclusive", "certified")
    if not stands or not witness or not promise.approximate:
        return None
    counts = {}
    loss = claim.exact
    if loss is None:
        if seen is None:
            return None
        x, y, n = seen.inside, seen.inside_other, seen.runs_a_side
        counts = {"counts": [x, n, y, n]}
        loss = log_ratio(x / n, y / n, promise.delta)
    entry: JSON = plain_fields(
        {
            "claim": claim.statement,
            "delta": promise.delta,
            "exact": claim.exact is not None,
            "event": witness.event.to_json(),
            "pair": witness.pair.to_json(),
            "event_words": claim.event.words,
            "loss": round(loss, DECIMALS) if math.isfinite(loss) else loss,
            **counts,
        }
    )
    return entry


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
        pair = pair_from_json(entry["pair"])
        left, right = candidate_of(pair, mechanism, seed, _no_file).inputs()
        delta, then, counts = _numbers(entry)
    except Exception as error:  # whatever a damaged entry leads to
        raise InputError(
            f"{recorded_in}: an entry is damaged or no longer fits ({described(error)}); record it "
            "anew with --pdp-update-baseline"
        ) from None
    most, level = then, alpha
    try:
        if counts is None and mechanism.has("law"):
            with suppress(LawUnavailable):
                now = exact_loss(mechanism.law(left), mechanism.law(right), delta).epsilon
                grew = now > then + tolerance + EXACT_SLACK * max(1.0, abs(then))
                return Growth(grew, then, then, now, now, True, 0)
        if counts is not None:
            most, level = upper_bound(*counts, alpha / 2, delta), alpha / 2
        x, y = (
            int(hits(mechanism, side, size, event, seed=seed, key=(*key, name)).inside)
            for name, side in (("left", left), ("right", right))
        )
    except Misbehaviour as error:
        raise InputError(f"the baseline's pair cannot be measured: {error}") from None
    x, y = (x, y) if event.side == "left" else (y, x)
    least = float(lower_bound(x, size, y, size, level, delta))
    now = log_ratio(x / size, y / size, delta)
    return Growth(least > most + tolerance, then, most, now, least, False, 2 * size)


def _numbers(entry: JSON) -> tuple[float, float, tuple[int, int, int, int] | None]:
    """Return δ, the recorded loss and its counts, once they agree with each other."""
    fields = Fields(entry, "entry", "")
    delta, then = fields.number("delta"), fields.number("loss")
    if delta is None or not 0 <= delta < 1 or then is None or then < 0:
        raise ValueError("its delta or its loss is none")
    if not isinstance(entry["exact"], bool):
        raise ValueError("it does not say whether it is exact")
    if entry["exact"]:
        return delta, then, None
    x, n, y, m = map(whole, fields.listed("counts", 4))
    if not (0 <= x <= n and 0 <= y <= m and n > 0 and m > 0):
        raise ValueError("its counts are none of runs")
    loss = log_ratio(x / n, y / m, delta)
    if not math.isclose(loss, then, abs_tol=10.0**-DECIMALS):
        raise ValueError(f"its counts show a loss of {loss:.6g}, not {then:.6g}")
    return delta, then, (x, n, y, m)


def _no_file(body: JSON, seed: int) -> Network:
    raise ValueError("its network is not written out")


def read_baseline(path: Path, missing_ok: bool = False) -> JSON:
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
    known = body if isinstance(body, dict) and body.get("format") == FORMAT else {}
    losses = known.get("losses")
    if not isinstance(losses, dict) or not all(isinstance(one, dict) for one in losses.values()):
        raise InputError(f"{path}: not a {FORMAT} file; record one anew with --pdp-update-baseline")
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
