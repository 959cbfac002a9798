"""How well an attacker tells the two networks of a pair apart, as attacks are judged elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pdpaudit.report.figures import number
from pdpaudit.report.tables import Table
from pdpaudit.results.fields import is_number
from pdpaudit.results.results import ClaimResult

__all__ = ["Attack", "Rate", "attack_of", "attack_table", "attack_words"]

Point = tuple[float, float]

#: A curve of more points is not drawn.
MOST_POINTS = 1000


@dataclass(frozen=True)
class Rate:
    """Something an attacker attains."""

    attained: float
    least: float | None
    allowed: float

    @property
    def beyond(self) -> bool:
        """Whether it is certain that more is attained than is allowed."""
        sure = self.attained if self.least is None else self.least
        return sure > self.allowed + 1e-7

    def words(self) -> str:
        """Return it in words."""
        least = "" if self.least is None else f"at least {number(self.least, 3)}; "
        judged = ": exceeded" if self.beyond else ""
        return f"{number(self.attained, 3)} ({least}allowed {number(self.allowed, 3)}{judged})"


@dataclass(frozen=True)
class Attack:
    """The attackers looked at."""

    advantage: Rate
    low: Rate
    fpr: float
    curve: tuple[Point, ...]
    confidence: float | None


def attack_of(claim: ClaimResult) -> Attack | None:
    """Return what a result says of attackers; None where it says nothing, or nothing that fits."""
    told = claim.inference
    try:
        low, roc = told["tpr_at_low_fpr"], told["roc"]
        curve = tuple((_share(x), _share(y)) for x, y in zip(roc["fpr"], roc["tpr"], strict=True))
        if len(curve) > MOST_POINTS:
            return None
        confidence = told.get("confidence")
        return Attack(
            advantage=_rate(told["advantage"]),
            low=_rate(low),
            fpr=_share(low["fpr"]),
            curve=curve,
            confidence=None if confidence is None else _share(confidence),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def attack_words(claim: ClaimResult) -> str:
    """Say in a sentence how well an attacker does; empty where it is not known."""
    attack = attack_of(claim)
    if attack is None:
        return ""
    who = (
        "The best attacker"
        if attack.confidence is None
        else f"The best attacker looked at (confidence {number(attack.confidence)})"
    )
    return (
        f"{who}: advantage {attack.advantage.words()}; true positives at a rate of "
        f"{number(attack.fpr)} false ones {attack.low.words()}."
    )


def attack_table(claim: ClaimResult) -> Table | None:
    """Return the same as a table."""
    attack = attack_of(claim)
    if attack is None:
        return None
    exact = attack.confidence is None
    rows = []
    for what, rate in (
        ("advantage (true less false positives)", attack.advantage),
        (f"true positives where false ones are {number(attack.fpr)}", attack.low),
    ):
        least = () if exact else (number(rate.least, 3),)
        verdict = "exceeded" if rate.beyond else "kept" if exact else "not shown to be exceeded"
        rows.append((what, number(rate.attained, 3), *least, number(rate.allowed, 3), verdict))
    columns = ("rate", "attained", *(() if exact else ("at least",)), "allowed", "claim")
    note = (
        "Of the best attacker on this pair, from the exact laws."
        if exact
        else "Of the best of some attackers on this pair, chosen on other runs than these; what is "
        f"attained at least holds for all with confidence {number(attack.confidence)}. Another "
        "attacker may be better."
    )
    return Table("As an attack", columns, tuple(rows), note)


def _rate(told: Mapping[str, Any]) -> Rate:
    least = told.get("at_least")
    return Rate(
        _share(told["attained"]), None if least is None else _share(least), _share(told["allowed"])
    )


def _share(value: Any) -> float:
    if not is_number(value) or not 0 <= value <= 1 + 1e-9:
        raise ValueError
    return min(float(value), 1.0)
