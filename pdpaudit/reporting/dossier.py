"""The dossier of published claims: what it says is a function of the result's JSON alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pdpaudit.reporting.words import VERDICT, claim_words
from pdpaudit.results import ClaimResult

__all__ = ["dossier", "published", "verdict_words"]

#: Significant digits of a published number: further ones may depend on the machine.
DIGITS = 8


def published(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a result without what differs from one run, or one machine, to the next.

    Examples
    --------
    >>> published({"elapsed_s": 1.2, "versions": {}, "seed": 1, "claims": [{"exact": 1 / 3}]})
    {'seed': 1, 'claims': [{'exact': 0.33333333}]}
    """
    kept = {key: value for key, value in body.items() if key not in ("elapsed_s", "versions")}
    rounded: dict[str, Any] = _rounded(kept)
    return rounded


def _rounded(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    return value


def verdict_words(body: Mapping[str, Any], entry: Mapping[str, Any]) -> list[str]:
    """Say what was found about one entry of the catalogue, a sentence or more for each finding.

    Parameters
    ----------
    body : mapping
        The JSON form of the result.
    entry : mapping
        One of its context's catalogue.
    """
    words = []
    for claim in body.get("claims", ()):
        if claim["id"] == entry["id"]:
            words.append(_claim_words(claim))
    for check in body.get("checks", ()):
        if check["name"].split()[0] == entry["id"]:
            scope = f" Over {check['scope']}." if check["status"] == "certified" else ""
            words.append(f"{check['name']}: {VERDICT[check['status']]}.{scope} {check['detail']}.")
    return words


def _claim_words(claim: Mapping[str, Any]) -> str:
    if claim["status"] == "certified":
        return f"Certified, {claim['method']}: the loss is nowhere above the claim."
    words = claim_words(ClaimResult(**claim))
    if claim["status"] == "not_rejected" and claim["exact"] is not None:
        return f"{words} A larger loss on any pair tried would have been seen."
    return words


def dossier(body: Mapping[str, Any], command: str, replay: str) -> str:
    """Write the dossier in Markdown.

    Parameters
    ----------
    body : mapping
        The published JSON form of a result of ``claims``.
    command, replay : str
        The command that makes this file again, and the one that re-runs its witnesses.
    """
    return "\n".join(_lines(body, command, replay)) + "\n"


def _lines(body: Mapping[str, Any], command: str, replay: str) -> Iterator[str]:
    context = body["context"]
    yield "# The paper's privacy claims, audited"
    yield ""
    yield (
        'The claims of Kearns, Roth, Wu and Yaroslavtsev, "Privacy for the Protected (Only)". '
        "Losses are in nats. Everything here was computed; no verdict is written down anywhere."
    )
    yield ""
    yield "Made again, byte for byte, by (exit status 1, as claims are violated):"
    yield ""
    yield f"    {command}"
    yield ""
    yield "The witnesses, proofs among them, are verified again by code that shares nothing with"
    yield "the search and the prover by:"
    yield ""
    yield f"    {replay}"
    yield ""
    yield "| | claim | claimed ε | true: at least | at most | verdict |"
    yield "|---|---|---|---|---|---|"
    claims = {claim["id"]: claim for claim in body.get("claims", ())}
    for entry in context["catalogue"]:
        yield _row(entry, claims.get(entry["id"]))
    for entry in context["catalogue"]:
        yield ""
        yield f"## {entry['id']}: {entry['statement']}"
        yield ""
        yield f"- Source: {entry['source']}."
        yield f"- Tried: {entry['tried']}."
        for words in verdict_words(body, entry):
            yield f"- {words}"
        single = command.split(" --output")[0]
        yield f"- Alone: `{single} --select {entry['id']}`"
    yield from _composition(context)


def _row(entry: Mapping[str, Any], claim: Mapping[str, Any] | None) -> str:
    claimed = least = most = ""
    if claim is not None:
        claimed = f"{claim['claimed']['epsilon']:.4g}"
        if claim["claimed"]["delta"]:
            claimed += f", δ = {claim['claimed']['delta']:g}"
        least = "" if claim["exact"] is None else f"{claim['exact']:.4f}"
        bound = claim["event"].get("proved_bound")
        most = "" if bound is None else f"{bound['epsilon']:.4f}"
    verdict = VERDICT[entry["status"]]
    if claim is not None and "proof" in claim["event"]:
        verdict += ", proved"
    return f"| {entry['id']} | {entry['statement']} | {claimed} | {least} | {most} | {verdict} |"


def _composition(context: Mapping[str, Any]) -> Iterator[str]:
    yield ""
    yield "## Composition of m = k - 1 rounds"
    yield ""
    yield "What each theorem allows for m rounds of ε, beside the optimal composition (Kairouz, Oh"
    yield "and Viswanath). A budget below the optimal one is false for some mechanism."
    yield ""
    forms = [bound["form"] for bound in context["composition"][0]["bounds"]]
    yield "| ε | m | δ | " + " | ".join(forms) + " | the paper's form |"
    yield "|---" * (len(forms) + 4) + "|"
    for row in context["composition"]:
        budgets = [f"{bound['epsilon']:.3f}" for bound in row["bounds"]]
        paper = next(bound for bound in row["bounds"] if bound["form"] == "paper")
        says = "follows" if paper["proved"] else "holds" if paper["valid"] else "**false**"
        point = f"| {row['epsilon']:g} | {row['rounds']} | {row['delta']:g} | "
        yield point + " | ".join(budgets) + f" | {says} |"
    yield ""
    for bound in context["composition"][0]["bounds"]:
        yield f"- {bound['form']}: `{bound['formula']}`; condition: {bound['condition']}."
    yield ""
    yield "Where the paper's form may be relied on: it follows from the general form up to the one"
    yield "number of rounds, and holds, being no less than optimal, up to the other."
    yield ""
    yield "| ε | δ | follows up to m | holds up to m |"
    yield "|---|---|---|---|"
    for row in context["paper_form"]:
        proved, holds = (
            "all tried" if row[key] is None else str(row[key])
            for key in ("proved_up_to", "holds_up_to")
        )
        yield f"| {row['epsilon']:g} | {row['delta']:g} | {proved} | {holds} |"
