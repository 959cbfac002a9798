"""What an audit or a check found: frozen dataclasses with a versioned JSON form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from pdpaudit.core.claim import PrivacyClaim
from pdpaudit.core.errors import InputError
from pdpaudit.outputs.records import JSON
from pdpaudit.results.files import (
    FORMAT,
    SEVERITY,
    STATUS_WORDS,
    Fields,
    Status,
    plain_fields,
    sealed,
    user,
    versions,
    write_text,
)
from pdpaudit.results.measurements import AttackMetrics, ClaimEvent, LawComparison, Tried
from pdpaudit.results.pairs import OwnPair, Pair, pair_from_json
from pdpaudit.results.witnesses import AuditWitness, FirstDifference

__all__ = [
    "SEVERITY",
    "CheckResult",
    "ClaimResult",
    "ExactFinding",
    "Result",
    "SampledFinding",
    "Status",
    "exit_status",
    "worst",
]

#: What lies in the context of a file and has fields of its own here.
OF_AUDITS = ("tried", "error_budget", "law_compared", "remarks")

#: Columns of a summary.
WIDTH = 100


@dataclass(frozen=True)
class CheckResult:
    """The outcome of one check of a statistic; ``observed`` is exact over ``scope`` or not."""

    name: str
    status: Status
    declared: object = None
    observed: object = None
    exact: bool = False
    scope: str = ""
    witness: JSON | None = None
    detail: str = ""

    def of(self, specification: str | None) -> CheckResult:
        """Return the check with the name of what was checked in its witness, if it has both."""
        if self.witness is None or specification is None:
            return self
        return replace(self, witness={**self.witness, "specification": specification})

    def to_json(self) -> JSON:
        """Return the JSON form; what is not finite becomes a string."""
        return plain_fields(asdict(self))

    @classmethod
    def from_json(cls, fields: Fields) -> CheckResult:
        """Return the check of a JSON form, every field looked at."""
        return fields.make(
            cls,
            **{key: fields.with_infinities(key) for key in ("declared", "observed")},
            exact=fields.body.get("exact") is True,
            witness=fields.mapping("witness") or None,
        )


@dataclass(frozen=True)
class ClaimResult:
    """The verdict on one privacy claim; by itself one that nothing was measured for.

    ``promise`` is the claim; ``lower_bound``, ``exact`` and ``detectable_epsilon`` are of its own
    parameter, ε in nats, ρ or μ; ``event`` and ``pair`` say what distinguishes the two inputs;
    ``witness`` is what ``replay`` needs; ``inference`` is what the pair allows an attacker
    (:mod:`pdpaudit.auditing.attack_metrics`); ``first_difference`` is where runs on the pair's two
    sides part, where that was asked for.
    """

    id: str
    statement: str
    source: str
    status: Status
    promise: PrivacyClaim
    lower_bound: float | None = None
    exact: float | None = None
    confidence: float | None = None
    method: str = ""
    event: ClaimEvent = field(default_factory=ClaimEvent)
    pair: Pair = field(default_factory=OwnPair)
    samples: Mapping[str, int] = field(default_factory=dict)
    detectable_epsilon: float | None = None
    witness: AuditWitness | None = None
    inference: AttackMetrics | None = None
    detail: str = ""
    first_difference: FirstDifference | None = None

    def to_json(self) -> JSON:
        """Return the JSON form; what is not finite becomes a string."""
        parted, witness, attack = self.first_difference, self.witness, self.inference
        forms = {
            "promise": self.promise.to_json(),
            "event": self.event.to_json(),
            "pair": self.pair.to_json(),
            "witness": None if witness is None else witness.to_json(),
            "inference": {} if attack is None else attack.to_json(),
            "first_difference": {} if parted is None else asdict(parted),
        }
        # What not every result has is there only where it says something.
        optional = ("inference", "detail", "first_difference")
        body = {k: v for k, v in (vars(self) | forms).items() if v or k not in optional}
        return plain_fields({"claimed" if k == "promise" else k: v for k, v in body.items()})

    @classmethod
    def from_json(cls, fields: Fields) -> ClaimResult:
        """Return the claim of a JSON form as what it is: exact, sampled, or not measured."""
        exact, confidence = fields.number("exact"), fields.number("confidence")
        if confidence is not None and not 0 < confidence < 1:
            raise fields.fail("confidence", "a number between 0 and 1")
        samples, source = fields.inner("samples"), fields.text("source")
        parted, witness = fields.inner("first_difference"), fields.inner("witness")
        kind: type[ClaimResult] = ClaimResult if confidence is None else SampledFinding
        return fields.make(
            ExactFinding if exact is not None else kind,
            status=fields.status(),
            promise=_promise(fields.inner("claimed"), source),
            event=ClaimEvent.from_json(fields.inner("event")),
            pair=fields.read("pair", "a pair", pair_from_json),
            samples={str(key): samples.whole(key) for key in samples.body},
            witness=AuditWitness.from_json(witness) if witness.body else None,
            inference=AttackMetrics.from_json(fields.inner("inference")),
            first_difference=FirstDifference.from_json(parted) if parted.body else None,
        )


@dataclass(frozen=True)
class ExactFinding(ClaimResult):
    """A verdict by exact laws: ``exact`` is the loss of the pair, which may be infinite."""

    exact: float = field(kw_only=True)


@dataclass(frozen=True)
class SampledFinding(ClaimResult):
    """A verdict by samples: ``lower_bound`` holds at ``confidence``, of the whole command.

    ``detectable_epsilon`` is the smallest loss it would have found with probability 0.95.
    """

    confidence: float = field(kw_only=True)


def _promise(fields: Fields, source: str) -> PrivacyClaim:
    if "kind" in fields.body:
        try:
            return PrivacyClaim.from_json(fields.body, source)
        except (KeyError, TypeError, ValueError):
            raise fields.fail("kind", "a kind of claim with its parameters") from None
    epsilon, delta = fields.number("epsilon"), fields.number("delta") or 0.0
    if epsilon is None or epsilon < 0:
        raise fields.fail("epsilon", "a number of at least 0")
    if not 0 <= delta < 1:
        raise fields.fail("delta", "a number between 0 and 1")
    return PrivacyClaim(epsilon, delta, source)


@dataclass(frozen=True, repr=False)
class Result:
    """What one command found: checks of a statistic, or verdicts on claims.

    ``tried`` counts the pairs of an audit, ``error_budget`` says how the probability of a false
    positive was spent, ``law_compared`` on how many runs a law was tested, and ``remarks`` what
    else is to be known; ``context`` is what a report shows beside it, such as the network read;
    ``source`` the digest of the code that was looked at, ``commit`` its git commit and ``place``
    its file and line, if known.
    """

    command: str
    subject: str
    seed: int
    elapsed_s: float
    checks: tuple[CheckResult, ...] = ()
    claims: tuple[ClaimResult, ...] = ()
    tried: Tried | None = None
    error_budget: str = ""
    law_compared: LawComparison | None = None
    remarks: tuple[str, ...] = ()
    context: JSON = field(default_factory=dict)
    source: str = ""
    commit: str = ""
    place: str = ""

    @classmethod
    def from_json(cls, body: Mapping[str, object], file: str) -> Result:
        """Return the result of a JSON form; a wrong field is named as one of ``file``."""
        fields = Fields(body, file, "")
        context = fields.inner("context")
        tried, compared = context.inner("tried"), context.inner("law_compared")
        return fields.make(
            cls,
            seed=fields.whole("seed"),
            elapsed_s=fields.seconds("elapsed_s"),
            checks=tuple(map(CheckResult.from_json, fields.records("checks"))),
            claims=tuple(map(ClaimResult.from_json, fields.records("claims"))),
            tried=Tried.from_json(tried) if tried.body else None,
            error_budget=context.text("error_budget"),
            law_compared=LawComparison.from_json(compared) if compared.body else None,
            remarks=context.texts("remarks"),
            context={key: value for key, value in context.body.items() if key not in OF_AUDITS},
        )

    @property
    def findings(self) -> tuple[ClaimResult | CheckResult, ...]:
        """The claims, and the checks."""
        return (*self.claims, *self.checks)

    @property
    def status(self) -> Status:
        """The worst of what is inside."""
        return worst(one.status for one in self.findings)

    def to_json(self) -> JSON:
        """Return the versioned JSON form; what is not finite becomes a string."""
        of_code = {key: getattr(self, key) for key in ("source", "commit", "place")}
        optional = {
            "checks": [check.to_json() for check in self.checks],
            "claims": [claim.to_json() for claim in self.claims],
            "context": self._context(),
        }
        body: dict[str, object] = {
            "format": FORMAT,
            "command": self.command,
            "subject": self.subject,
            "seed": self.seed,
            "versions": versions(),
            **{key: value for key, value in of_code.items() if value},
            "written": datetime.now(UTC).isoformat(timespec="seconds"),
            **({"by": by} if (by := user()) else {}),
            "elapsed_s": round(self.elapsed_s, 3),
            "status": self.status,
            **{key: value for key, value in optional.items() if value},
        }
        return sealed(plain_fields(body))

    def _context(self) -> dict[str, object]:
        compared = self.law_compared
        of_audit = {
            "tried": {} if self.tried is None else self.tried.to_json(),
            "error_budget": self.error_budget,
            "law_compared": {} if compared is None else compared.to_json(),
            "remarks": list(self.remarks),
        }
        return {key: value for key, value in of_audit.items() if value} | dict(self.context)

    @property
    def violated(self) -> bool:
        """Whether a claim is broken, or a statistic is not what it declares."""
        return self.status == "violated"

    @property
    def lower_bound(self) -> float:
        """The largest loss shown, in nats: exact, or a lower bound at the stated confidence.

        0 where no loss was shown.
        """
        return max((one.lower_bound or 0.0 for one in self.claims), default=0.0)

    def __repr__(self) -> str:
        """Say in one line what was found."""
        return f"<Result: {self._line()}>"

    def _repr_html_(self) -> str:
        """Show the summary in a notebook."""
        from html import escape

        return f"<pre>{escape(self.summary())}</pre>"

    def _line(self) -> str:
        what = f"{self.command} of {self.subject}"
        if "simulation" in self.context:  # nothing was judged
            return what
        head = f"{what}: {STATUS_WORDS[self.status]}"
        if why := [one.method for one in self.claims if one.status == self.status == "error"]:
            return f"{head}, {why[0]}"
        if not self.claims:
            checks = "1 check" if len(self.checks) == 1 else f"{len(self.checks)} checks"
            return f"{head}, {checks}"
        worst = max(self.claims, key=lambda one: one.lower_bound or 0.0)
        loss = "loss" if worst.exact is not None else "loss at least"
        promise = worst.promise
        if not promise.approximate:
            loss = promise.symbol if worst.exact is not None else f"{promise.symbol} at least"
        return f"{head}, {loss} {worst.lower_bound or 0.0:.4g}, {promise.value:.4g} claimed"

    def summary(self) -> str:
        """Return what the command line prints of it."""
        from io import StringIO

        from rich.console import Console

        from pdpaudit.report.terminal import show_audit, show_check

        text = StringIO()
        # A notebook is no reason to show what is only asked for as text.
        console = Console(
            file=text, width=WIDTH, color_system=None, force_terminal=False, force_jupyter=False
        )
        console.print(self._line(), markup=False, highlight=False)
        if self.claims:
            show_audit(console, self)
        for check in self.checks:
            show_check(console, check)
        return "\n".join(line.rstrip() for line in text.getvalue().splitlines())

    def report(self, path: str | Path) -> Path:
        """Write a report for people, as HTML or, where the name ends in .md, as Markdown.

        Raises
        ------
        InputError
            If the name has another ending, or the file cannot be written.
        """
        from pdpaudit.report.rendering import render_html, render_markdown
        from pdpaudit.report.sources import source_from_json

        path = Path(path)
        render = {".html": render_html, ".htm": render_html, ".md": render_markdown}
        if path.suffix.lower() not in render:
            raise InputError(f"{path}: end the name in .html or .md")
        source = source_from_json(self.to_json(), self.subject)
        write_text(path, render[path.suffix.lower()]([source]))
        return path


def worst(statuses: Iterable[Status]) -> Status:
    """Return the worst status; ``skipped`` where there is none."""
    return min(statuses, key=SEVERITY.index, default="skipped")


def exit_status(status: Status, fail_on: str | None = None) -> int:
    """Return the exit status of a command: 1 for a violation, 2 for an error, else 0."""
    return 1 if status == fail_on else {"violated": 1, "error": 2}.get(status, 0)
