"""Results as SARIF 2.1.0, which code hosts show as alerts at lines of the source."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from hashlib import sha256
from importlib.metadata import version

from pdpaudit.report.findings import claim_words, difference_words
from pdpaudit.report.plaintext import visible
from pdpaudit.report.sources import Source
from pdpaudit.results.results import CheckResult, ClaimResult, Status

__all__ = ["render_sarif"]

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
            "message": {"text": visible(f"{_title(one)}: {_words(one)}")},
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


def _words(one: ClaimResult | CheckResult) -> str:
    if isinstance(one, CheckResult):
        return f"{one.status.replace('_', ' ')}. {one.detail}".strip()
    return " ".join(filter(None, (claim_words(one), difference_words(one))))


def _place(source: Source, one: ClaimResult | CheckResult) -> tuple[str, int]:
    """Return the line that leaks, else that of the claim, else the result's own file."""
    if isinstance(one, ClaimResult) and one.first_difference and one.first_difference.places:
        first = one.first_difference.places[0]
        return first.file, max(first.line, 1)
    file, _, line = str(source.result.context.get("place", "")).rpartition(":")
    return (file, int(line)) if file and line.isdecimal() else (source.name, 1)
