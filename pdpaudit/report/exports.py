"""A report for code hosts, as SARIF 2.1.0, and for reviewers, as a checklist.

SARIF shows alerts at lines of the source. The checklist holds the questions that guidelines for
evaluating differential privacy ask, after NIST SP 800-226 (Near, Darais, Lefkovitz, Howarth:
Guidelines for Evaluating Differential Privacy Guarantees); what was not looked at is said as well.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from hashlib import sha256
from importlib.metadata import version

from pdpaudit.report.blocks import Block, Paragraph, Section, Table
from pdpaudit.report.document import found_words
from pdpaudit.report.findings import compared_words, difference_words, parameter_words, tried_words
from pdpaudit.report.plaintext import clip, nats, visible
from pdpaudit.report.rendering import render_blocks
from pdpaudit.report.sources import Source
from pdpaudit.results.fields import STATUS_WORDS
from pdpaudit.results.results import CheckResult, ClaimResult, Result, Status

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

#: How loud an alert is; what stands, or was not looked at, is none.
LEVELS: dict[Status, str] = {"violated": "error", "error": "warning", "inconclusive": "note"}

RULES = {
    "claim": "A privacy claim is false, or could not be judged.",
    "declaration": "What a statistic declares is false, or could not be judged.",
}


def render_sarif(sources: Sequence[Source]) -> str:
    """Return one run with an alert for every claim and declaration that does not stand."""
    rules = [{"id": name, "shortDescription": {"text": text}} for name, text in RULES.items()]
    driver = {"name": "pdpaudit", "version": version("pdpaudit"), "rules": rules}
    alerts = [alert for source in sources for alert in _alerts(source)]
    run = {"tool": {"driver": driver}, "results": alerts}
    body = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(body, indent=1, ensure_ascii=False) + "\n"


def _alerts(source: Source) -> Iterator[dict[str, object]]:
    for one in source.result.findings:
        if one.status not in LEVELS:
            continue
        uri, line = _place(source, one)
        key = f"{source.result.subject}\n{_title(one)}"
        yield {
            "ruleId": "claim" if isinstance(one, ClaimResult) else "declaration",
            "level": LEVELS[one.status],
            "message": {"text": visible(f"{_title(one)}: {_said(one)}")},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": uri},
                        "region": {"startLine": line},
                    }
                }
            ],
            "partialFingerprints": {"claim/v1": sha256(key.encode()).hexdigest()[:32]},
        }


def _title(one: ClaimResult | CheckResult) -> str:
    if isinstance(one, CheckResult):
        return one.name
    return one.statement or one.id or "a claim"


def _said(one: ClaimResult | CheckResult) -> str:
    if isinstance(one, CheckResult):
        return f"{STATUS_WORDS[one.status]}. {one.detail}".strip()
    return " ".join(filter(None, (found_words(one), difference_words(one))))


def _place(source: Source, one: ClaimResult | CheckResult) -> tuple[str, int]:
    """Return the line that leaks, else that of the claim, else the result's own file."""
    if isinstance(one, ClaimResult) and one.first_difference and one.first_difference.places:
        first = one.first_difference.places[0]
        return first.file, max(first.line, 1)
    file, _, line = source.result.place.rpartition(":")
    return (file, int(line)) if file and line.isdecimal() else (source.name, 1)


UNANSWERED = "Not looked at."

CLOSING = (
    "The questions follow NIST SP 800-226. An audit settles none of them: what was not tried may "
    "leak more."
)


def render_checklist(sources: Sequence[Source]) -> str:
    """Return a table for each result: a row for each question, answered or not, as Markdown."""
    blocks: list[Block] = [Paragraph(CLOSING)]
    for source in sources:
        rows = tuple((name, clip(said, 600)) for name, said in answers(source.result).items())
        table = Table("", ("question", "what this audit says"), rows)
        heading = f"{clip(source.result.subject)} ({source.name})"
        blocks.insert(-1, Section(heading, (table,), ""))
    title = "Checklist for evaluating a privacy guarantee"
    return render_blocks([Section(title, tuple(blocks), "")], 1)


def answers(result: Result) -> dict[str, str]:
    """Return what is asked, in this order, and what the audit says."""
    claims, checks = result.claims, result.checks
    networked = any(_networked(one) for one in claims) or bool(checks)
    sampled = any(one.exact is None and one.samples for one in claims)
    composed = any("components" in str(one.witness) for one in claims)
    tested = filter(None, (tried_words(result.context), compared_words(result.context)))
    statuses = (f"{one.name}: {STATUS_WORDS[one.status]}" for one in checks)
    answered = {
        "Unit of privacy": "One protected person: all contacts of one person may change."
        if networked
        else "As the pairs of inputs say that the mechanism brings; not looked at beyond them.",
        "Neighbouring inputs": _neighbours(result, networked=networked),
        "Privacy parameters": "; ".join(dict.fromkeys(map(_parameters, claims))),
        "Sensitivity": _sensitivity(result),
        "Composition": "A claim about several rounds was tested as one claim about their whole "
        "output."
        if composed
        else "Not looked at: what several releases lose together adds up.",
        "Randomness": "All of it comes from the generator handed in: the same stream gave the same "
        "output again. Whether the generator used in operation can be predicted was not looked at."
        if claims
        else "",
        "Floating-point numbers": "Tested as far as outputs show it: events on values as they come "
        "out, with samples. Rare patterns of last digits may be missed."
        if sampled
        else "Not looked at: probabilities were computed for ideal real-valued noise."
        if claims
        else "",
        "Side channels": "Audited beside the output: how many and which people were examined, "
        "where a limit cut it off, and time."
        if "released" in result.context
        else "Not looked at: the output alone was tested (time, questions asked and errors are "
        "other outputs).",
        "What was tested": " ".join(tested)
        or "; ".join(f"{one.name}: {one.scope}" for one in checks if one.scope),
        "Verdict": "; ".join(_verdict(one) for one in claims) or "; ".join(statuses),
    }
    return {name: said or UNANSWERED for name, said in answered.items()}


def _networked(claim: ClaimResult) -> bool:
    return isinstance((claim.witness or {}).get("base"), dict) or "rewiring" in str(claim.pair)


def _neighbours(result: Result, *, networked: bool) -> str:
    if networked:
        return "Two networks that differ in the contacts of one protected person, in any way."
    worst = next((one.pair.get("words") for one in result.claims if one.pair), None)
    return f"Brought by the mechanism; the worst: {worst}." if worst else UNANSWERED


def _parameters(claim: ClaimResult) -> str:
    source = f" ({claim.source})" if claim.source else ""
    stated = parameter_words(claim) if claim.promise.approximate else claim.statement
    return f"{stated}{source}"


def _sensitivity(result: Result) -> str:
    known = [one for one in result.checks if "sensitivity" in one.name]
    if known:
        return "; ".join(f"{one.name}: {STATUS_WORDS[one.status]}. {one.detail}" for one in known)
    return "Not looked at by itself; `pdpaudit check` tests what a statistic declares."


def _verdict(claim: ClaimResult) -> str:
    what = "loss" if claim.promise.approximate else claim.promise.symbol
    bound = "" if claim.lower_bound is None else f", {what} at least {nats(claim.lower_bound)}"
    return f"{claim.statement or claim.id}: {STATUS_WORDS[claim.status]}{bound}"
