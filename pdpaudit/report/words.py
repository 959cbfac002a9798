"""Verdicts in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pdpaudit.results.results import ClaimResult

__all__ = [
    "NAMES_PEOPLE",
    "VERDICT",
    "claim_words",
    "compared_words",
    "how_known",
    "least_true",
    "true_words",
]

#: Stands first where a network's people are called by their names.
NAMES_PEOPLE = "This report names people and their contacts."

VERDICT = {
    "violated": "VIOLATED",
    "error": "ERROR",
    "inconclusive": "inconclusive",
    "not_rejected": "not rejected",
    "certified": "certified",
    "skipped": "skipped",
}


def times(epsilon: float) -> str:
    """Return a privacy loss as a factor of likelihood."""
    if math.isinf(epsilon):
        return "infinitely many times"
    if epsilon > 700:
        return f"e^{epsilon:.6g} times"
    factor = math.exp(epsilon)
    if 1 < factor < 1.5:
        return f"{factor:.3f} times"  # what is claimed and what is found are this near
    return f"{factor:.1f} times" if factor < 1e5 else f"{factor:.1e} times"


def claim_words(claim: ClaimResult) -> str:
    """Say in a sentence or two what was found about a claim."""
    if claim.status == "skipped" or (claim.status == "error" and not claim.event.get("words")):
        return claim.method
    allowed = times(claim.claimed["epsilon"]) if claim.claimed["epsilon"] else "no difference"
    if claim.status == "certified":
        return f"Certified, {claim.method}: the loss is nowhere above the claim."
    event, pair = claim.event.get("words", ""), claim.pair.get("words", "")
    bound = claim.lower_bound or 0.0
    if claim.exact is not None:
        if claim.status == "violated":
            told = f"{_effect(claim)}; the claim allows {allowed}. {how_known(claim)}"
            return f"{told} {true_words(claim)}".rstrip()
        return f"{_exactly(claim)} The worst: {_effect(claim)}."
    sure = f"with confidence {claim.confidence:g}" if claim.confidence else ""
    seen = claim.detectable_epsilon
    power = _power_words(seen)
    if claim.status == "violated":
        told = f"{_effect(claim)} ({sure}, at least {times(bound)}); the claim allows {allowed}."
        return f"{told} {unproved_words(claim)}".rstrip()
    if claim.status == "inconclusive":
        return f"Nothing was shown, and little could have been: {power}"
    return f"The sharpest test tried: {pair}, and whether {event}. {power}"


def _exactly(claim: ClaimResult) -> str:
    """Say between what ends the loss lies, of a claim that is not violated."""
    exact, claimed = claim.exact or 0.0, claim.claimed["epsilon"]
    known = claim.event.get("at_most", {"epsilon": exact, "left_out": 0.0})
    missing = known["left_out"]
    most = f"at most {upward(float(known['epsilon']))}"
    if missing:
        slack = f"{claim.claimed.get('delta', 0.0) + missing:.3g}"
        most += (
            f" with a slack of δ = {slack}, for the laws leave out outputs of probability "
            f"{missing:.3g}"
        )
    if claim.status == "inconclusive":
        return (
            f"Computed from laws that leave it open whether the claim of {claimed:.4g} holds: the "
            f"loss is at least {claim.lower_bound or 0.0:.4f}, and on every pair tried {most}."
        )
    seen = (
        "whatever they lose was not seen" if missing else "any loss above it would have been seen"
    )
    return (
        f"Computed exactly: on every pair tried the loss is {most}, within the claim of "
        f"{claimed:.4g}, and {seen}."
    )


def upward(epsilon: float) -> str:
    """Return a loss with four decimals, no less than it is but for the error of computing it."""
    if math.isinf(epsilon):
        return "inf"
    return f"{math.ceil((epsilon - 1e-9) * 1e4) / 1e4 + 0.0:.4f}"


def compared_words(context: Mapping[str, Any]) -> str:
    """Say on how many runs a law was tested, and what would have been seen; nothing if on none."""
    told = context.get("law_compared")
    known = told if isinstance(told, Mapping) else {}
    pairs, runs, off = (known.get(key) for key in ("pairs", "runs_a_side", "deviation"))
    if type(pairs) is not int or type(runs) is not int or type(off) is not float:
        return ""
    return (
        f"The law was compared with {runs:,} runs a side on {pairs:,} pair{'s' * (pairs != 1)}; a "
        f"probability off by more than {off:.2g} would have been seen."
    )


def unproved_words(claim: ClaimResult) -> str:
    """Say why a violation is not proved, where a proof was asked for."""
    unproved = claim.event.get("unproved")
    return f"Not proved: {unproved}." if unproved else ""


def how_known(claim: ClaimResult) -> str:
    """Say whether a violation is proved, or why it is not."""
    proof = claim.event.get("proof")
    if proof:
        (low, high), (excess, _) = proof["loss"], proof["excess"]
        return (
            f"Proved: the loss lies between {low} and {high}, above the claim by at least "
            f"{float(excess):.6g}; {proof['words']}."
        )
    return f"Computed exactly, no sampling. {unproved_words(claim)}".rstrip()


def true_words(claim: ClaimResult) -> str:
    """Say what is true instead of a claim that is not; nothing where it is not known."""
    if claim.exact is None or claim.claimed.get("delta"):
        return ""
    bound = claim.event.get("proved_bound")
    most = "" if bound is None else f", and at most {bound['epsilon']:.3f} ({bound['words']})"
    found = claim.event.get("largest_found")
    how = ""
    if found is not None and found["epsilon"] > claim.exact:
        how = f" ({found['words']}; {claim.exact:.3f} by this pair)"
    return (
        f"Claimed {claim.claimed['epsilon']:.3f}, true for this configuration: at least "
        f"{least_true(claim.exact, claim.event):.3f}{how}{most}."
    )


def least_true(exact: float, event: Mapping[str, Any]) -> float:
    """Return the most that any pair is known to lose in the configuration a pair was found in."""
    return max(exact, float(event.get("largest_found", {}).get("epsilon", 0.0)))


def _effect(claim: ClaimResult) -> str:
    """Say what the rewiring does."""
    event, pair = claim.event, claim.pair
    if claim.exact is not None:
        how = f"{times(claim.exact)} as likely"
        ours, theirs = event["probability"], event["probability_other"]
        chance = f"{ours:.4g} against {theirs:.4g}"
    else:
        x, y, n = event["inside"], event["inside_other"], event["runs_a_side"]
        how = f"{times(math.log(x / y))} as likely" if x and y else "happen, never seen otherwise"
        if not x:
            how = "no likelier"
        chance = f"{x} against {y} of {n} runs"
    return f"{pair.get('words', '')} makes '{event.get('words', '')}' {how} ({chance})"


def _power_words(seen: float | None) -> str:
    if seen is None:
        return ""
    if math.isinf(seen):
        return "No loss, however large, would have been seen: draw more --samples."
    return (
        f"A loss of {seen:.3f} would have been found: 19 of 20 planted leaks of that size are, in "
        "events of probability 0.1 to 0.5."
    )
