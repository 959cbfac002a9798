"""The presenter: every sentence and every status word for a claim, a check and what was tried.

Terminal, page, Markdown and test output show what is said here.
"""

from __future__ import annotations

import json
import math
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from pdpaudit.core.registry import KEARNS, UserCodeError, claims_of, loaded, paper_of
from pdpaudit.report.blocks import clip, count, isolate_names, nats, number, times, visible
from pdpaudit.results.files import STATUS_WORDS
from pdpaudit.results.measurements import AtMost, Counts, LawComparison, Rate, Tried
from pdpaudit.results.pairs import NetworkPair
from pdpaudit.results.results import SEVERITY, CheckResult, ClaimResult, Result, Status
from pdpaudit.results.witnesses import THEOREM, Difference, Kind

#: Stands first where a network's people are called by their names.
NAMES_PEOPLE = "This report names people and their contacts."

#: Tell statuses apart without colour, from the worst down.
MARKS: dict[Status, str] = dict(zip(SEVERITY, "✕!?○✓-", strict=True))

#: Methods on a number of runs that is fixed beforehand, and the level below which a violation
#: that is shown is not narrow.
FIXED, CERTAIN = ("exact", "clopper-pearson", "betting"), 1e-3

#: Characters of a fact.
LONGEST_FACT = 1500

#: A curve of attackers of more points is not drawn.
MOST_POINTS = 1000

Point = tuple[float, float]


def totals(findings: Iterable[ClaimResult | CheckResult]) -> str:
    """Say how often each verdict was given, for instance "13 claims: 6 violated, 7 certified"."""
    every = list(findings)
    claims = tally_words("claim", (one.status for one in every if isinstance(one, ClaimResult)))
    checks = tally_words("check", (one.status for one in every if isinstance(one, CheckResult)))
    return "; ".join(filter(None, (claims, checks)))


def tally_words(noun: str, statuses: Iterable[Status]) -> str:
    """Say how often each status was given; nothing where none was."""
    every = list(statuses)
    return f"{count(len(every))} {noun}{'s' * (len(every) != 1)}: {listed(every)}" if every else ""


def listed(statuses: Iterable[Status]) -> str:
    """Return how often each status was given, the worst first."""
    tally = Counter(statuses)
    return ", ".join(f"{count(tally[s])} {STATUS_WORDS[s]}" for s in SEVERITY if tally[s])


@cache
def glossary() -> dict[str, dict[str, str]]:
    """Return what is said of each status, and what the terms of a report mean."""
    text = files("pdpaudit.report").joinpath("templates/glossary.json").read_text(encoding="utf-8")
    read: dict[str, dict[str, str]] = json.loads(text)
    return read


def plain_words(status: Status, findings: Sequence[ClaimResult | CheckResult]) -> str:
    """Say what the worst verdict means, for who does not know the field."""
    claims = [one for one in findings if isinstance(one, ClaimResult) and one.status == status]
    if not findings:
        return "Nothing was judged."
    if status != "violated" or not claims:
        return glossary()["plain"][status]
    worst = max(claims, key=_excess)
    if not worst.promise.approximate:
        return f"The privacy promise is broken: {worst.statement} does not hold."
    least = times(worst.lower_bound or 0.0)
    return (
        f"The privacy promise is broken: some output is "
        f"{'' if worst.exact is not None else 'at least '}{least} as likely for one input as for a "
        f"neighbouring one, and the promise allows {_allowed(worst)}."
    )


def advice(status: Status, findings: Sequence[ClaimResult | CheckResult]) -> str:
    """Say what to do about the worst verdict; nothing where nothing was judged."""
    claims = [one for one in findings if isinstance(one, ClaimResult) and one.status == status]
    if status == "violated" and len(claims) == 1 and not claims[0].promise.delta:
        one, largest = claims[0], least_true(claims[0])
        symbol, needed, shown = one.promise.symbol, "", "the violation again"
        if math.isfinite(largest):
            needed = f", or claim no less than {symbol} = {nats(largest)}"
        if largest > (one.lower_bound or 0.0):
            needed += ", the largest loss known"
            shown = f"a loss of {nats(one.lower_bound)} again"
        return (
            f"Do not rely on the claimed {claimed_words(one)}: fix the mechanism{needed}. "
            f"The last command below shows {shown}."
        )
    if status == "inconclusive" and claims and not any(one.event.words for one in claims):
        return "Choose seeds that leave targets to be found, and run it again."
    return glossary()["advice"][status] if findings else ""


def _allowed(claim: ClaimResult) -> str:
    return times(claim.promise.value) if claim.promise.value else "no difference"


def claimed_words(claim: ClaimResult, *, plain: bool = False) -> str:
    """Return the claimed parameter by its symbol; ``plain`` without it where it is ε."""
    value = nats(claim.promise.value)
    return value if plain and claim.promise.approximate else f"{claim.promise.symbol} = {value}"


def parameter_words(claim: ClaimResult) -> str:
    """Return all parameters of a claim by their symbols, δ too."""
    slack = f", δ = {number(claim.promise.delta, 3)}" if claim.promise.approximate else ""
    return f"{claimed_words(claim)}{slack}"


def shown_words(claim: ClaimResult) -> str:
    """Say what was shown of a claim in its own unit, and what is claimed."""
    symbol, bound = claim.promise.symbol, claim.lower_bound or 0.0
    claimed = f"claimed {claim.promise.value:.6g}."
    if claim.exact is None:
        sure = f"{100 * (claim.confidence or 0.0):.4g} % lower bound on {symbol}"
        return f"{sure} {bound:.4g}, {claimed}"
    words = f"Computed exactly: {symbol} is {bound:.6g}, {claimed}"
    if claim.event.law is not None and claim.event.law.excess:
        below = number(claim.event.law.excess)
        words += f" The trade-off curve falls below the claimed one by {below}."
    return words


def measured_words(findings: Sequence[ClaimResult | CheckResult]) -> str:
    """Say what was claimed and measured, of several claims of the worst; nothing of no claim."""
    known = [
        one for one in findings if isinstance(one, ClaimResult) and one.lower_bound is not None
    ]
    if not known:
        return ""
    one = max(known, key=_excess)
    which = "exceeded most" if one.status == "violated" else "that comes nearest to it"
    of = f" (of the claim {which})" if len(known) > 1 else ""
    if not one.promise.approximate:
        return f"{shown_words(one).removesuffix('.')}{of}."
    how = "exactly" if one.exact is not None else "at least"
    sure = f", with confidence {number(one.confidence)}" if one.confidence else ""
    claimed = f"ε = {nats(one.promise.value)}"
    claimed += f", δ = {number(one.promise.delta, 3)}" if one.promise.delta else ""
    largest, shown = least_true(one), one.lower_bound or 0.0
    more = f"; {nats(largest)} known, without a witness" if largest > shown else ""
    return f"{claimed} claimed; {how} {nats(one.lower_bound)} measured{sure}{of}{more}."


def _excess(claim: ClaimResult) -> float:
    return (claim.lower_bound or 0.0) / (claim.promise.value + 0.1)


def claim_words(claim: ClaimResult) -> str:
    """Say in a sentence or two what was found about a claim."""
    event, pair = claim.event.words, claim.pair.words
    if claim.status == "skipped" or (claim.status in ("error", "inconclusive") and not event):
        return claim.method
    power = _power_words(claim)
    if not claim.promise.approximate and claim.lower_bound is not None:
        return f"{shown_words(claim)} The event: {_effect(claim)}. {power}".rstrip()
    allowed = _allowed(claim)
    if claim.status == "certified":
        said = f"Certified, {claim.method}: the loss is nowhere above the claim."
        return f"{said} The worst: {_effect(claim)}." if claim.exact else said
    if claim.exact is not None:
        if claim.status == "violated":
            said = f"{_effect(claim)}; the claim allows {allowed}. {how_known(claim)}"
            return f"{said} {true_words(claim)}".rstrip()
        return f"{_exactly(claim)} The worst: {_effect(claim)}."
    if claim.status == "violated":
        sure = [f"confidence {claim.confidence:g}"] if claim.confidence else []
        least = ", ".join([*sure, f"at least {times(claim.lower_bound or 0.0)}"])
        more = standing_words(claim), unproved_words(claim)
        said = f"{_effect(claim)} ({least}); the claim allows {allowed}."
        return " ".join([said, *filter(None, more)])
    if claim.status == "inconclusive":
        return f"Nothing was shown, and little could have been. {power}".rstrip()
    return f"The strongest test tried: {pair}, and whether {event}. {power}".rstrip()


def standing_words(claim: ClaimResult) -> str:
    """Say at what confidence a violation shown by a fixed number of runs would still stand."""
    chance = mistaken(claim)
    if chance is None:
        return ""
    if chance <= CERTAIN:
        sure = f"1 - {chance:.0e}" if chance > 1e-15 else "1 - 1e-15 and more"
        return f"By itself it stands up to confidence {sure}."
    if 1 - chance <= (claim.confidence or 0.0):
        return "This is narrow: hardly more confidence is left."
    return f"This is narrow, up to confidence {math.floor((1 - chance) * 1e4) / 1e4:g} by itself."


def mistaken(claim: ClaimResult) -> float | None:
    """Return the level from which Clopper-Pearson limits no longer show a violation by themselves.

    None where runs were not counted at a size fixed beforehand.
    """
    seen, epsilon, delta = claim.event.counts, claim.promise.epsilon, claim.promise.delta
    if claim.exact is not None or claim.method not in FIXED or not (seen and seen.runs_a_side):
        return None
    if not claim.promise.approximate:
        return None
    from scipy.optimize import bisect
    from scipy.special import betaincinv  # statsmodels' limits take ten times as long

    def excess(exponent: float) -> float:
        x, y, runs, tail = seen.inside, seen.inside_other, seen.runs_a_side, 10**exponent / 2
        low = betaincinv(x, runs - x + 1, tail) if x else 0.0
        high = 1 - betaincinv(runs - y, y + 1, tail) if y < runs else 1.0
        return math.log(low - delta) - math.log(high) - epsilon if low > delta else -math.inf

    if excess(0.0) <= 0 or excess(-16.0) > 0:
        return 1.0 if excess(0.0) <= 0 else 1e-16
    return float(10 ** bisect(excess, -16.0, 0.0, xtol=1e-6))


def _exactly(claim: ClaimResult) -> str:
    """Say between what ends the loss lies, of a claim that is not violated."""
    exact, claimed = claim.exact or 0.0, claim.promise.value
    known = (claim.event.law and claim.event.law.at_most) or AtMost(exact, 0.0)
    missing = known.left_out
    most = f"at most {upward(known.epsilon)}"
    if missing:
        slack = f"{claim.promise.delta + missing:.3g}"
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


def compared_words(known: LawComparison | None) -> str:
    """Say on how many runs a law was tested, and what would have been seen; nothing if on none."""
    if known is None:
        return ""
    pairs, runs, off = known.pairs, known.runs_a_side, known.deviation
    return (
        f"The law was compared with {runs:,} runs a side on {pairs:,} pair{'s' * (pairs != 1)}; a "
        f"probability off by more than {off:.2g} would have been seen."
    )


def unproved_words(claim: ClaimResult) -> str:
    """Say why a violation is not proved, where a proof was asked for."""
    return f"Not proved: {claim.event.unproved}." if claim.event.unproved else ""


def how_known(claim: ClaimResult) -> str:
    """Say whether a violation is proved, or why it is not."""
    proof = claim.event.proof
    if proof is not None:
        (low, high), (excess, _) = proof.loss, proof.excess
        return (
            f"Proved: the loss lies between {low} and {high}, above the claim by at least "
            f"{float(excess):.6g}; {THEOREM}."
        )
    return f"Computed exactly, no sampling. {unproved_words(claim)}".rstrip()


def true_words(claim: ClaimResult) -> str:
    """Say what is true instead of a claim that is not; nothing where it is not known."""
    law = claim.event.law
    if claim.exact is None or claim.promise.delta or not claim.promise.approximate or law is None:
        return ""
    bound, found = law.proved_bound, law.largest_found
    most = "" if bound is None else f", and at most {bound.epsilon:.3f} ({bound.words})"
    how = ""
    if found is not None and found.epsilon > claim.exact:
        how = f" ({found.words}; {claim.exact:.3f} by this pair)"
    least = least_true(claim)
    true = "unbounded" if math.isinf(least) else f"at least {least:.3f}{how}{most}"
    return f"Claimed {claim.promise.value:.3f}, true for this configuration: {true}."


def least_true(claim: ClaimResult) -> float:
    """Return the most that any pair is known to lose, with a witness or without."""
    found = claim.event.law and claim.event.law.largest_found
    shown = (claim.lower_bound or 0.0) if claim.exact is None else claim.exact
    return max(shown, found.epsilon if found else 0.0)


def _effect(claim: ClaimResult) -> str:
    """Say what the rewiring does."""
    law, seen = claim.event.law, claim.event.counts
    ours, theirs = (law.probability, law.probability_other) if law else (0.0, 0.0)
    if law is None and seen is not None:
        ours, theirs = seen.inside, seen.inside_other
    if claim.exact is not None and claim.promise.approximate:
        how = f"{times(claim.exact)} as likely"
    elif ours and theirs:
        how = f"{times(math.log(ours / theirs))} as likely"
    else:
        how = "happen, never seen otherwise" if ours else "no likelier"
    return f"{claim.pair.words} makes '{claim.event.words}' {how} ({_chance(claim)})"


def _chance(claim: ClaimResult) -> str:
    """Say how likely the event is on the two sides, or how often it was seen."""
    law, seen = claim.event.law, claim.event.counts
    if law is not None:
        return f"{law.probability:.4g} against {law.probability_other:.4g}"
    if seen is not None:
        return f"{seen.inside} against {seen.inside_other} of {seen.runs_a_side} runs"
    return ""


# What a failing test says, a line for each


def promised_words(claim: ClaimResult) -> str:
    """Say what is claimed, where, and what that allows."""
    source = f" ({claim.source})" if claim.source else ""
    if not claim.promise.approximate:
        return f"{claim.statement}{source}"
    return f"{claim.statement}{source}: no outcome more than {times(claim.promise.value)} as likely"


def bound_words(claim: ClaimResult, confidence: float) -> str:
    """Say what loss was shown; ``confidence`` is of this claim alone."""
    if not claim.promise.approximate:
        return shown_words(claim)
    if claim.exact is not None:
        return f"loss {claim.exact:.6g}, computed exactly: {times(claim.exact)} as likely"
    least = claim.lower_bound or 0.0
    return f"loss at least {least:.4g} at confidence {confidence:.6g}: {times(least)} as likely"


def pair_words(claim: ClaimResult) -> str:
    """Say what the pair's two inputs are, long names cut."""
    pair = claim.pair
    where = f", on {pair.network}" if isinstance(pair, NetworkPair) and pair.network else ""
    return _shortened(f"{pair.words}{where}", claim)


def event_words(claim: ClaimResult) -> str:
    """Say what the event is and how likely, or why nothing was measured; long names cut."""
    if not claim.event.words or claim.status in ("error", "skipped"):
        return claim.method
    words, seen = _shortened(claim.event.words, claim), claim.event.counts
    if claim.event.law is None and seen is not None:
        return f"{words}: {_hits(seen)} of {count(seen.runs_a_side)} runs"
    return f"{words}: probability {_chance(claim)}"


def _hits(seen: Counts) -> str:
    return f"{count(seen.inside)} against {count(seen.inside_other)}"


def _shortened(words: str, claim: ClaimResult) -> str:
    """Cut long names in a sentence, so that the rest of it can be read."""
    pair, names = claim.pair, []
    if isinstance(pair, NetworkPair):
        names = [*pair.lost, *pair.gained, *filter(None, (pair.vertex_name, pair.network))]
    return "".join(piece for piece, _ in isolate_names(words, names))


def blind_words(claim: ClaimResult) -> str:
    """Say why an inconclusive claim stands."""
    seen, why = claim.detectable_epsilon, claim.method
    if claim.event.words:
        unseen = seen is None or math.isinf(seen)
        least = "no loss, however large," if unseen else f"only a loss of {seen:.3g} or more"
        why = (
            f"{least} would have been seen; draw more samples (--pdp-samples, or samples= in the "
            "test)"
        )
    return f"{claim.statement} stands because {why}"


def grown_words(
    then: tuple[float, float], now: tuple[float, float], confidence: float, runs: int | None
) -> tuple[str, str]:
    """Say what a recorded loss was, with its upper limit, and is now, with its lower limit.

    ``runs`` are fresh; None where both losses are exact.
    """
    most = "" if then[0] == then[1] else f", at most {then[1]:.4g}"
    shown = f"loss {now[0]:.4g}, exact"
    if runs is not None:
        shown = (
            f"loss about {now[0]:.4g}, at least {now[1]:.4g} at confidence {confidence:.6g} "
            f"({runs:,} fresh runs)"
        )
    return f"loss {then[0]:.4g}{most}", shown


def next_words(result: Result, file: str, replay: str) -> tuple[str, ...]:
    """Say what to do next: replay, report, and where the same mechanism is known to break."""
    if result.status == "error":
        return ()
    words = [f"To keep it: the same command with --seed {result.seed} --json result.json"]
    if file:
        page = shlex.join(["pdpaudit", "report", file])
        words = [*([f"to replay: {replay}"] if replay else []), f"to report: {page}"]
    spec = next((one.witness.mechanism for one in result.claims if one.witness), None)
    name = "" if spec is None else spec.name
    paper = paper_of(name)
    known = []
    for item in claims_of(paper).values() if name and paper else ():
        with suppress(UserCodeError):  # a package that is broken is no fault of this result's
            known.append(loaded(item))
    claims = [one for one in known if getattr(one, "known_violated", False)]
    broken = [one.id for one in claims if one.mechanism == name]
    if names := sorted(broken, key=lambda one: (len(one), one)):
        whose = "" if paper == KEARNS else f"--paper {paper} "
        select = whose + " ".join(f"--select {one}" for one in names)
        words.append(f"Known violated elsewhere: {', '.join(names)} (pdpaudit claims {select})")
    return tuple(words)


#: What is said of where two runs first differ.
DIFFERS: dict[Kind, str] = {
    "line": "parts at",
    "draw": "random draw that differs:",
    "oracle": "oracle call that differs:",
    "value": "value that differs:",
    "output": "difference is what is returned:",
}


def difference_words(claim: ClaimResult) -> str:
    """Say where runs on the two sides first differ; nothing where that was not asked for."""
    found = claim.first_difference
    if found is None:
        return ""
    if not found.places:
        return f"With the same random stream nothing looked at differs in {found.runs} runs."
    first, *others = found.places
    if not first.file:
        return visible(
            f"With the same random stream on both sides what is returned differs ({first.ours} "
            f"against {first.theirs}), in {first.runs} of {found.runs} runs; no line that was "
            "followed leads to it."
        )
    said = [_place_words(first, f"{first.file}:{first.line}", found.runs)]
    for one in others:
        where = f"line {one.line}" if one.file == first.file else f"{one.file}:{one.line}"
        said.append(_place_words(one, where, found.runs))
    return visible(f"With the same random stream on both sides: {'; '.join(said)}.")


def _place_words(one: Difference, where: str, runs: int) -> str:
    differs = (
        "" if one.kind == "line" else f" ({_rounded(one.ours)} against {_rounded(one.theirs)})"
    )
    return f"first {DIFFERS[one.kind]} {where}, `{one.code}`{differs}, in {one.runs} of {runs} runs"


def _rounded(shown: str) -> str:
    """Shorten the long fractions in a text; what tells arrays apart is for nobody to read."""
    shown = re.sub(r" #[0-9a-f]{8}\b", "", shown)
    return re.sub(r"\d+\.\d{7,}(e[+-]?\d+)?", lambda match: f"{float(match[0]):.6g}", shown)


def _power_words(claim: ClaimResult) -> str:
    """Say what would have been found; nothing of what is exact."""
    seen, symbol = claim.detectable_epsilon, claim.promise.symbol
    if seen is None or claim.exact is not None:
        return ""
    if math.isinf(seen):
        what = "loss" if claim.promise.approximate else symbol
        return (
            f"No {what}, however large, would have been found: draw more, by --thorough or "
            '--samples, in Python by budget="thorough" or samples.'
        )
    if not claim.promise.approximate:
        return f"A {symbol} of {seen:.3g}, shown by one event of that rate, would have been found."
    return (
        f"A loss of {seen:.3f} would have been found: 19 of 20 planted leaks of that size are, in "
        "events of probability 0.1 to 0.5."
    )


@dataclass(frozen=True)
class Attack:
    """What the attackers tried attain: figures in words by their names, and their ROC curve."""

    rates: tuple[tuple[str, str], ...]
    curve: tuple[Point, ...]
    confidence: float | None


def attack_of(claim: ClaimResult) -> Attack | None:
    """Return what a result says of attackers; None where it says nothing."""
    found = claim.inference
    if found is None or len(found.roc[0]) > MOST_POINTS:
        return None
    by = "(ε, δ)" if claim.promise.approximate else "the claim"
    rates = (
        ("advantage (TPR - FPR)", _rate_words(found.advantage, by)),
        (f"TPR at FPR {number(found.low_fpr)}", _rate_words(found.tpr_at_low_fpr, by)),
    )
    return Attack(rates, tuple(zip(*found.roc, strict=True)), found.confidence)


def attack_words(claim: ClaimResult) -> str:
    """Say how well an attacker does; nothing where it is not known."""
    attack = attack_of(claim)
    if attack is None:
        return ""
    sure = "" if attack.confidence is None else f" tried (confidence {number(attack.confidence)})"
    rates = ". ".join(f"{name}: {words}" for name, words in attack.rates)
    return f"Best attacker{sure}: {rates}."


def _rate_words(found: Rate, by: str) -> str:
    """Say what is attained, at least, and what is allowed, which is exceeded if that is certain."""
    least = "" if found.at_least is None else f", at least {_share_words(found.at_least)}"
    sure = found.attained if found.at_least is None else found.at_least
    words = f"{_share_words(found.attained)}{least}; {by} allows {_share_words(found.allowed)}"
    return f"{words}, exceeded" if sure > found.allowed + 1e-7 else words


def _share_words(value: float) -> str:
    return number(value, 2 if value < 0.1 else 3)


@dataclass(frozen=True)
class Chances:
    """How likely the event is on its likelier and on the other side, and what the draws leave open.

    Limits are at the confidence of the claim; they are the values themselves where exact.
    """

    p: float
    q: float
    p_low: float
    p_high: float
    q_low: float
    q_high: float

    def loss(self, delta: float) -> float:
        """Return ``ln((p - δ)/q)``, floored at 0."""
        return log_ratio(self.p, self.q, delta)

    def highest_loss(self, delta: float) -> float:
        """Return the largest loss of this event that the draws leave open."""
        return log_ratio(self.p_high, self.q_low, delta)


def log_ratio(p: float, q: float, delta: float) -> float:
    """Return the loss ``ln((p - δ)/q)``, no less than 0."""
    if p <= delta:
        return 0.0
    return max(0.0, math.log((p - delta) / q)) if q > 0 else math.inf


def trade_off_words(claim: ClaimResult, seen: Chances) -> str:
    """Say what the event is worth to an attacker, and what the claim allows there."""
    least = float(claim.promise.trade_off(seen.q))
    return (
        f"Whoever guesses by the event has a false-positive rate of {number(seen.q)} and a "
        f"false-negative rate of {number(1 - seen.p)}; the claim allows no less than "
        f"{number(least)}."
    )


def claim_facts(claim: ClaimResult, seen: Chances | None) -> tuple[tuple[str, str], ...]:
    """Return the numbers behind a verdict, each with its name."""
    promise, event, sampled = claim.promise, claim.event, claim.exact is None
    counts, pair = event.counts, claim.pair
    sure = f", confidence {number(claim.confidence)}" if claim.confidence else ""
    facts: dict[str, object] = {
        "claimed": parameter_words(claim),
        "source of the claim": clip(claim.source, 300),
    }
    if claim.exact is not None:
        open_end = event.law is not None and event.law.at_most is not None
        facts["loss, at least" if open_end else "exact loss"] = nats(claim.exact)
    elif claim.lower_bound is not None:
        facts["lower bound"] = nats(claim.lower_bound) + sure
    if seen is not None and sampled and promise.approximate:
        most = nats(seen.highest_loss(promise.delta))
        facts["observed"] = f"{nats(seen.loss(promise.delta))}, at most {most} for this event"
    facts["event"] = event.words
    if counts is not None and counts.runs_a_side:
        facts["runs with the event"] = f"{_hits(counts)}, of {count(counts.runs_a_side)} each"
    elif seen is not None:
        facts["probability"] = f"{number(seen.p, 6)} against {number(seen.q, 6)}"
    attack, least = attack_of(claim), claim.detectable_epsilon
    facts |= attack.rates if attack else ()
    if sampled and least is not None:
        loss = f"a loss of {nats(least)}, with probability 0.95"
        none = "no loss, however large: too few runs"
        facts["would have detected"] = none if math.isinf(least) else loss
    spent = ", ".join(f"{count(n)} for {clip(what)}" for what, n in claim.samples.items())
    facts["runs drawn"] = spent if any(claim.samples.values()) else ""
    facts["first difference"] = difference_words(claim)
    facts["sampling"], facts["method"] = claim.detail, claim.method
    if isinstance(pair, NetworkPair):
        facts["family of the pair"], facts["network"] = pair.family, pair.network
    return tuple((name, clip(str(value), LONGEST_FACT)) for name, value in facts.items() if value)


def chances(claim: ClaimResult, claims: int) -> Chances | None:
    """Return how likely a claim's event is on the two sides; None where the file does not say."""
    law, seen = claim.event.law, claim.event.counts
    if law is not None:
        p, q = law.probability, law.probability_other
        return Chances(p, q, p, p, q, q)
    if seen is None or not seen.runs_a_side:
        return None
    x, y, runs = seen.inside, seen.inside_other, seen.runs_a_side
    tail = (1 - (claim.confidence or 0.95)) / max(claims, 1) / 2
    if claim.method == "sequential":  # what was seen decided when to stop
        from pdpaudit.inference.sequential import anytime_limits

        limits = [anytime_limits(hits, runs, 2 * tail) for hits in (x, y)]
    else:
        from statsmodels.stats.proportion import proportion_confint  # imports pandas

        limits = [proportion_confint(hits, runs, 2 * tail, method="beta") for hits in (x, y)]
    (p_low, p_high), (q_low, q_high) = limits
    return Chances(x / runs, y / runs, p_low, p_high, q_low, q_high)


def tried_rows(tried: Tried | None) -> tuple[tuple[str, int, int], ...]:
    """Return families of pairs, how many of each were tried, and on how many networks."""
    pairs: Counter[str] = Counter()
    networks: dict[str, set[str]] = {}
    for one in (tried and tried.families) or ():
        pairs[one.family] += one.pairs
        networks.setdefault(one.family, set()).add(one.network)
    ranked = sorted(pairs.items(), key=lambda item: (-item[1], item[0]))
    return tuple((family, many, len(networks[family])) for family, many in ranked)


def tried_words(tried: Tried | None) -> str:
    """Say how many pairs were tried; nothing where the file does not say."""
    if tried is None or not tried.pairs:
        return ""
    return f"{count(tried.pairs)} neighbouring pair{'s' * (tried.pairs != 1)} tried"
