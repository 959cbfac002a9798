"""The questions that guidelines for evaluating differential privacy ask, and what an audit says.

After NIST SP 800-226 (Near, Darais, Lefkovitz, Howarth: Guidelines for Evaluating Differential
Privacy Guarantees): unit of privacy, neighbours, parameters, sensitivity, composition, randomness
and floating point, side channels; and what was tested. What was not looked at is said as well.
"""

from __future__ import annotations

from collections.abc import Sequence

from pdpaudit.report.findings import STATUS_WORDS, compared_words, tried_words
from pdpaudit.report.markdown import escape
from pdpaudit.report.plaintext import clip, nats, number
from pdpaudit.report.sources import Source
from pdpaudit.results.results import ClaimResult, Result

__all__ = ["QUESTIONS", "render_checklist"]

#: What is asked, in this order.
QUESTIONS = (
    "Unit of privacy",
    "Neighbouring inputs",
    "Privacy parameters",
    "Sensitivity",
    "Composition",
    "Randomness",
    "Floating-point numbers",
    "Side channels",
    "What was tested",
    "Verdict",
)

UNANSWERED = "Not looked at."


def render_checklist(sources: Sequence[Source]) -> str:
    """Return a table for each result: a row for each question, answered or not, as Markdown."""
    parts = ["# Checklist for evaluating a privacy guarantee"]
    for source in sources:
        answers = _answers(source.result)
        rows = [f"| {name} | {escape(clip(answers[name], 600))} |" for name in QUESTIONS]
        table = "\n".join(["| question | what this audit says |", "| --- | --- |", *rows])
        parts += [f"## {escape(clip(source.result.subject))} ({escape(source.name)})", table]
    parts.append("The questions follow NIST SP 800-226. An audit settles none of them: ")
    parts[-1] += "what was not tried may leak more."
    return "\n\n".join(parts) + "\n"


def _answers(result: Result) -> dict[str, str]:
    claims, checks = result.claims, result.checks
    networked = any(_networked(one) for one in claims) or bool(checks)
    return {
        "Unit of privacy": (
            "One protected person: all contacts of one person may change."
            if networked
            else "As the pairs of inputs say that the mechanism brings; not looked at beyond them."
        ),
        "Neighbouring inputs": _neighbours(result, networked=networked),
        "Privacy parameters": "; ".join(dict.fromkeys(map(_parameters, claims))) or UNANSWERED,
        "Sensitivity": _sensitivity(result),
        "Composition": (
            "A claim about several rounds was tested as one claim about their whole output."
            if any("components" in str(one.witness) for one in claims)
            else "Not looked at: what several releases lose together adds up."
        ),
        "Randomness": (
            "All of it comes from the generator handed in: the same stream gave the same output "
            "again. Whether the generator used in operation can be predicted was not looked at."
            if claims
            else UNANSWERED
        ),
        "Floating-point numbers": (
            "Tested as far as outputs show it: events on values as they come out, with samples. "
            "Rare patterns of last digits may be missed."
            if any(one.exact is None and one.samples for one in claims)
            else "Not looked at: probabilities were computed for ideal real-valued noise."
            if claims
            else UNANSWERED
        ),
        "Side channels": (
            "Audited beside the output: how many and which people were examined, where a limit "
            "cut it off, and time."
            if "released" in result.context
            else "Not looked at: the output alone was tested (time, questions asked and errors "
            "are other outputs)."
        ),
        "What was tested": " ".join(
            filter(None, (tried_words(result.context), compared_words(result.context)))
        )
        or "; ".join(f"{one.name}: {one.scope}" for one in checks if one.scope)
        or UNANSWERED,
        "Verdict": "; ".join(_verdict(one) for one in claims)
        or "; ".join(f"{one.name}: {STATUS_WORDS[one.status]}" for one in checks)
        or UNANSWERED,
    }


def _networked(claim: ClaimResult) -> bool:
    return isinstance((claim.witness or {}).get("base"), dict) or "rewiring" in str(claim.pair)


def _neighbours(result: Result, *, networked: bool) -> str:
    if networked:
        return "Two networks that differ in the contacts of one protected person, in any way."
    worst = next((one.pair.get("words") for one in result.claims if one.pair), None)
    return f"Brought by the mechanism; the worst: {worst}." if worst else UNANSWERED


def _parameters(claim: ClaimResult) -> str:
    if not claim.promise.approximate:
        return f"{claim.statement} ({claim.source})" if claim.source else claim.statement
    delta = claim.promise.delta
    slack = f", δ = {number(delta, 3)}" if delta else ", δ = 0"
    source = f" ({claim.source})" if claim.source else ""
    return f"ε = {nats(claim.promise.epsilon)}{slack}{source}"


def _sensitivity(result: Result) -> str:
    known = [one for one in result.checks if "sensitivity" in one.name]
    if known:
        return "; ".join(f"{one.name}: {STATUS_WORDS[one.status]}. {one.detail}" for one in known)
    return "Not looked at by itself; `pdpaudit check` tests what a statistic declares."


def _verdict(claim: ClaimResult) -> str:
    what = "loss" if claim.promise.approximate else claim.promise.symbol
    bound = "" if claim.lower_bound is None else f", {what} at least {nats(claim.lower_bound)}"
    return f"{claim.statement or claim.id}: {STATUS_WORDS[claim.status]}{bound}"
