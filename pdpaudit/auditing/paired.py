"""Confirm what differs from run to run, such as the time taken: pairs of runs, in turn.

How long a run takes depends on what else the machine does, which changes while one samples: a
hundred runs on one side and then a hundred on the other would tell the machine's moods apart, not
the networks. So each pair of runs, one a side, is made at once and in an order that a coin decides.
If no event is more than ``exp(ε)`` times as likely on one network than on the other at any moment,
up to δ, then the expectation of ``a - exp(ε) b - δ`` given all earlier pairs is at most 0, whatever
the moment: that is all that :class:`pdpaudit.inference.Betting` needs. The runs need not be
independent, nor alike.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pdpaudit.core.protocols import Mechanism
from pdpaudit.inference import Betting
from pdpaudit.outputs import Side
from pdpaudit.sampling import Hits, Progress, hits, stream

__all__ = ["BLOCK", "draw_in_pairs"]

#: Pairs after which progress is told, and the bets are looked at.
BLOCK = 100


def draw_in_pairs(
    mechanism: Mechanism,
    inputs: Mapping[Side, Any],
    event: Any,
    side: Side,
    state: Betting,
    size: int,
    *,
    seed: int,
    number: int,
    counted: Mapping[Side, Hits],
    progress: Progress | None = None,
    enough: float = math.inf,
    single: bool = False,
) -> Betting:
    """Make pairs of runs, one a side in an order decided by a coin, and bet on each."""
    coins = stream(seed, "confirm", number, "order").random(size) < 0.5
    other: Side = "right" if side == "left" else "left"
    for begin in range(0, size, BLOCK):
        seen = {(True, True): 0, (True, False): 0, (False, True): 0, (False, False): 0}
        for i in range(begin, min(begin + BLOCK, size)):
            fell: dict[Side, bool] = {}
            for one in (side, other) if coins[i] else (other, side):
                total = counted[one]
                before = total.inside
                hits(
                    mechanism,
                    inputs[one],
                    1,
                    event,
                    seed=seed,
                    key=("confirm", number, one, i),
                    total=total,
                    single=single,
                )
                fell[one] = bool(total.inside > before)
            seen[fell[side], fell[other]] += 1
        state = state.update(
            both=seen[True, True],
            first_only=seen[True, False],
            second_only=seen[False, True],
            neither=seen[False, False],
        )
        if progress is not None:
            progress(2 * sum(seen.values()))
        if state.bound > enough:
            break
    return state
