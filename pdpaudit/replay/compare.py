"""Compare what a result shows with what its witness gives now, field by field."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping

from pdpaudit.report.plaintext import clip
from pdpaudit.results.fields import is_number

__all__ = ["compared", "differences"]

#: What is published keeps eight digits, and the last of these may depend on the machine.
RELATIVE = 1e-6

#: Numbers near 0 that are differences of others: losses, curves, rates of attackers.
ROUNDED = {
    "at_most",
    "exact",
    "lower_bound",
    "hockey_stick",
    "trade_off",
    "inference",
    "largest_found",
    "observed",
}
ABSOLUTE = 1e-7

#: Fields named in a sentence, and characters of a value.
SHOWN, LONGEST = 3, 60


def differences(
    now: object, recorded: object, *, complete: bool, place: tuple[str, ...] = ()
) -> Iterator[str]:
    """Yield every field of a result that is not what it is now."""
    if isinstance(now, Mapping) and isinstance(recorded, Mapping):
        for key in sorted({*now, *recorded}):
            if key not in recorded:
                if complete:
                    yield f"{'.'.join((*place, key))} is missing"
            elif key not in now:
                yield f"{'.'.join((*place, key))} does not belong there"
            else:
                yield from differences(
                    now[key], recorded[key], complete=complete, place=(*place, key)
                )
    elif isinstance(now, list) and isinstance(recorded, list) and len(now) == len(recorded):
        for i, (one, other) in enumerate(zip(now, recorded, strict=True)):
            yield from differences(one, other, complete=complete, place=(*place, str(i)))
    elif not _same(now, recorded, place):
        yield f"{'.'.join(place)} is {_short(recorded)} on file, {_short(now)} now"


def compared(found: list[str]) -> str:
    """Return differences in a sentence, a few of them."""
    more = [f"and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
    return "; ".join([*found[:SHOWN], *more])


def _same(now: object, recorded: object, place: tuple[str, ...]) -> bool:
    if is_number(now) and is_number(recorded):
        near = ABSOLUTE if ROUNDED & {*place} else 0.0
        return math.isclose(now, recorded, rel_tol=RELATIVE, abs_tol=near)
    return type(now) is type(recorded) and now == recorded


def _short(value: object) -> str:
    return clip(json.dumps(value, ensure_ascii=False), LONGEST)
