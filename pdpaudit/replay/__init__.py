"""Run the witnesses of a result again, and verify its certificates.

A result is somebody else's file: nothing is imported for it but what is registered, unless it is
trusted; no file is read but those its reader is given; and nothing it shows is believed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from pdpaudit.auditing import pipeline
from pdpaudit.auditing.config import Config
from pdpaudit.auditing.law_test import AT_ONCE, ONE_BY_ONE, comparison
from pdpaudit.auditing.provenance import source_digest
from pdpaudit.checks.sensitivity import NAME
from pdpaudit.checks.suite import check_names
from pdpaudit.core.errors import InputError, described
from pdpaudit.core.registry import KEARNS, Find, Group, claims_of, loaded
from pdpaudit.outputs import JSON
from pdpaudit.replay.checks import replay_check
from pdpaudit.replay.claims import Replay, Terms, replay_claim
from pdpaudit.replay.trust import finder, made_again
from pdpaudit.results.files import Fields, unchanged, versions
from pdpaudit.results.measurements import Family, LawComparison, Tried
from pdpaudit.results.pairs import ReadNetwork
from pdpaudit.results.results import CheckResult, ClaimResult, Result
from pdpaudit.results.witnesses import AuditWitness

__all__ = [
    "Replay", "Terms", "finder", "replay_check", "replay_claim", "replay_result", "terms_of",
]  # fmt: skip

#: The method of what is observed anew in each run, and has no witness.
IN_PAIRS = "betting, in pairs"


def terms_of(
    body: JSON, name: str, read: ReadNetwork, *, jobs: int = 1, find: Find | None = None
) -> Terms:
    """Return the terms of a result's own header."""
    version, seed = body.get("versions"), body.get("seed")
    known = version.get("pdpaudit") if isinstance(version, Mapping) else None
    if type(seed) is not int:
        raise InputError(f"{name}: its seed is missing; audit again")
    return Terms(seed, str(known or "unknown"), read, jobs, find or finder(trust=False))


def replay_result(body: JSON, name: str, terms: Terms) -> list[Replay]:
    """Re-run every witness of a result, and compare what is shown above them with them."""
    result = Result.from_json(body, name)
    if not any(one.witness for one in result.findings):
        raise InputError(f"{name}: holds no witness, so there is nothing to replay")
    intact = unchanged(body)
    terms = replace(terms, complete=intact is not None)
    try:
        wrong = [*_header(result)]
    except InputError:
        raise
    except Exception as error:  # whatever a field that was tampered with leads to
        raise InputError(f"{name}: is damaged ({described(error)})") from None
    if body.get("status", result.status) != result.status or (
        terms.complete and "status" not in body
    ):
        wrong.append(f"status is {body.get('status')!r}, the worst in it is {result.status!r}")
    if intact is False:
        wrong.append("the digest is not that of its contents: it was changed after it was written")
    replays = [Replay(name, False, "; ".join(wrong))] if wrong else []
    for claim, plain in zip(result.claims, body.get("claims") or [], strict=True):
        if claim.witness is not None:
            replays.append(replay_claim(plain, terms, _named(result, claim)))
    replays += [replay_check(check, terms.find) for check in result.checks if check.witness]
    replays += [*_unwitnessed(result)]
    remarks = {
        "source": _source_changed(result, terms),
        "versions": _other_versions(Fields(body, name, "").mapping("versions")),
    }
    return [*replays, *(Replay(key, None, words) for key, words in remarks.items() if words)]


def _header(result: Result) -> Iterator[str]:
    """Yield what is shown above the claims and does not follow from them."""
    kinds = {"audit": (True, False), "check": (False, True), "claims": (True, True)}
    for_claims, for_checks = kinds.get(result.command, (False, False))
    if (result.claims and not for_claims) or (result.checks and not for_checks):
        yield f"{result.command!r} is not the command that writes such a result"
    if result.command != "audit":
        subjects = [(check.witness or {}).get("specification") for check in result.checks]
        if result.command == "check" and any(one not in (None, result.subject) for one in subjects):
            yield f"subject is {result.subject!r}, which its witnesses are not about"
        names = [check.name for check in result.checks]
        known = {*check_names(), NAME}.issuperset(names) and len({*names}) == len(names)
        if result.command == "check" and not known:
            yield "a check is listed twice, or there is no such check"
        return
    context, tried = result.context, result.tried
    if result.error_budget != _budget(result):
        yield "context.error_budget is not what the claims' confidence makes it"
    if "released" in context and context["released"] != pipeline.released_rows(result):
        yield "context.released is not what the claims say"
    if tried is None or tried.pairs != sum(tried.by.values()):
        yield "context.tried does not add up"
    elif tried.families is not None:
        # Networks without a title have none in a label.
        titled = Counter({label.removesuffix(" on "): n for label, n in tried.by.items()})
        if _labels(tried.families) != titled:
            yield "context.tried.families are not the pairs of context.tried.by"
    if result.law_compared is not None and not _adds_up(result.law_compared, tried):
        yield "context.law_compared does not add up"
    files = [claim.witness.file for claim in result.claims if claim.witness]
    if any(file is not None and repr(file) != repr(context.get("network")) for file in files):
        yield "context.network is not the network of the witnesses"


def _labels(families: Iterable[Family]) -> Counter[str]:
    """Count pairs by the label that family and network make."""
    labels: Counter[str] = Counter()
    for one in families:
        labels[one.label] += one.pairs
    return labels


def _adds_up(recorded: LawComparison, tried: Tried | None) -> bool:
    """Return whether what is said of a law's comparison with runs is what it must be."""
    pairs, runs = recorded.pairs, recorded.runs_a_side
    if tried is None or not 1 <= pairs <= tried.pairs or runs not in (AT_ONCE[0], ONE_BY_ONE[0]):
        return False
    # A result of before does not list them.
    times = (pairs,) if recorded.which is None else tuple(recorded.which.values())
    if 0 in times or sum(times) != pairs:
        return False
    return replace(recorded, which=None) == comparison(pairs, runs)


def _budget(result: Result) -> str:
    """Say how the probability of a false positive was spent, from what the claims show."""
    levels = {claim.confidence for claim in result.claims if claim.confidence is not None}
    try:
        if "released" in result.context:
            return pipeline.shares_words(float(result.context["options"]["confidence"]))
        if "relations" in result.context:
            asked, names = result.context["options"], result.context["relations"]
            return pipeline.relations_budget(result.claims, float(asked["confidence"]), len(names))
        if len(levels) > 1:
            return ""
        exact = not levels
        config = Config(0) if exact else Config(0, confidence=levels.pop())
    except (InputError, LookupError, TypeError, ValueError):
        return ""
    return pipeline.budget_words(config, len(result.claims), exact=exact)


def _named(result: Result, claim: ClaimResult) -> dict[str, str]:
    """Return the fields of a claim that say what it is called."""
    if result.command == "claims":
        paper = result.context.get("paper")
        known = claims_of(paper.get("name", KEARNS) if isinstance(paper, Mapping) else KEARNS)
        if claim.id not in known:
            raise InputError(f"{claim.id}: there is no such published claim; audit again")
        published = loaded(known[claim.id])
        return {key: getattr(published, key) for key in ("id", "statement", "source")}
    witness, subject = claim.witness, result.subject
    made = witness and witness.mechanism
    if made and "relations" in result.context:
        subject = f"{subject} {made.relation}"
    elif made and "released" in result.context:
        subject = f"{subject} {made.observe or pipeline.LIST}"
    return {"id": f"{subject} #{witness and witness.claim}"}


def _unwitnessed(result: Result) -> Iterator[Replay]:
    """Yield what has no witness: a violation must have one."""
    silent = []
    for one in result.findings:
        if one.witness is not None:
            continue
        called = one.id if isinstance(one, ClaimResult) else one.name
        if _needs_witness(one, result):
            yield Replay(called, False, f"{one.status}, but it holds no witness")
        else:
            silent.append(called)
    if silent:
        yield Replay(", ".join(silent), None, "no witness; run the command again to see")


def _needs_witness(one: ClaimResult | CheckResult, result: Result) -> bool:
    if isinstance(one, CheckResult):
        return one.status == "violated" and one.name != "own-network"
    if one.status in ("error", "skipped") or one.method == IN_PAIRS:
        return False
    return one.status == "violated" or result.command != "claims"


def _other_versions(recorded: JSON) -> str:
    """Say with what other versions it was written; nothing where there are none."""
    now = versions()
    other = [f"{key} {value}, now {now.get(key)}" for key, value in recorded.items()]
    same = [f"{key} {value}, now {value}" for key, value in now.items()]
    found = [words for words in other if words not in same]
    return f"written with {'; '.join(found)}" if found else ""


def _source_changed(result: Result, terms: Terms) -> str:
    """Say that the code is not what it was; nothing where it is, or was not written down."""
    if not result.source:
        return ""
    witness = next(one.witness for one in result.findings if one.witness)
    if result.command == "claims":
        now = source_digest(None)
    elif isinstance(witness, AuditWitness):
        made = witness.mechanism and made_again(witness.mechanism, terms.find)[0]
        now = source_digest(made)
    else:
        group: Group = "functions" if "sides" in witness else "sops"
        now = source_digest(terms.find(group, witness["specification"]))
    if now == result.source:
        return ""
    at = f", at commit {result.commit[:12]}" if result.commit else ""
    return f"the code has changed since the result was written{at} ({result.source}, now {now})"
