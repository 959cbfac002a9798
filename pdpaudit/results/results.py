"""What an audit or a check found: frozen dataclasses with a versioned JSON form."""

from __future__ import annotations

import getpass
import hashlib
import json
import math
import os
import platform
import tempfile
from collections.abc import Iterable, Mapping, Set
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from pdpaudit.core.claim import PrivacyClaim
from pdpaudit.core.errors import InputError
from pdpaudit.io.files import open_file
from pdpaudit.outputs.records import JSON
from pdpaudit.results.difference import FirstDifference
from pdpaudit.results.fields import SEVERITY, Fields, Status
from pdpaudit.results.readable import Readable

__all__ = [
    "FORMAT",
    "SEVERITY",
    "CheckResult",
    "ClaimResult",
    "ExactFinding",
    "Result",
    "SampledFinding",
    "Status",
    "exit_status",
    "load",
    "plain",
    "save",
    "sealed",
    "unchanged",
    "versions",
    "worst",
    "write_bytes",
    "write_text",
]

FORMAT = "pdpaudit-result/1"

#: What a result's digest is not about: what differs from one run to the next, and itself.
UNSEALED = ("elapsed_s", "written", "by", "digest")

#: Nobody draws this often, and counts below it are exact as floats.
MOST_RUNS = 10**15


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

    def to_json(self) -> JSON:
        """Return the JSON form; what is not finite becomes a string."""
        return plain_fields(asdict(self))

    @classmethod
    def from_json(cls, fields: Fields) -> CheckResult:
        """Return the check of a JSON form, every field looked at."""
        return cls(
            name=fields.text("name"),
            status=fields.status(),
            declared=fields.with_infinities("declared"),
            observed=fields.with_infinities("observed"),
            exact=fields.body.get("exact") is True,
            scope=fields.text("scope"),
            witness=fields.mapping("witness") or None,
            detail=fields.text("detail"),
        )


@dataclass(frozen=True)
class ClaimResult:
    """The verdict on one privacy claim; by itself one that nothing was measured for.

    ``claimed`` is the JSON form of the claim; ``lower_bound``, ``exact`` and ``detectable_epsilon``
    are of its own parameter, ε in nats, ρ or μ; ``event`` and ``pair`` say what distinguishes
    the two inputs, each with ``words``; ``witness`` is what ``replay`` needs; ``inference`` is what
    the pair allows an attacker (:mod:`pdpaudit.auditing.attack_metrics`); ``first_difference``
    is where runs on the pair's two sides part, where that was asked for.
    """

    id: str
    statement: str
    source: str
    status: Status
    claimed: JSON
    lower_bound: float | None = None
    exact: float | None = None
    confidence: float | None = None
    method: str = ""
    event: JSON = field(default_factory=dict)
    pair: JSON = field(default_factory=dict)
    samples: Mapping[str, int] = field(default_factory=dict)
    detectable_epsilon: float | None = None
    witness: JSON | None = None
    inference: JSON = field(default_factory=dict)
    detail: str = ""
    first_difference: FirstDifference | None = None

    @property
    def promise(self) -> PrivacyClaim:
        """The claim."""
        return PrivacyClaim.from_json(self.claimed, self.source)

    def to_json(self) -> JSON:
        """Return the JSON form; what is not finite becomes a string."""
        body = asdict(self)
        # What not every result has is there only where it says something.
        optional = ("inference", "detail", "first_difference")
        return plain_fields({k: v for k, v in body.items() if v or k not in optional})

    @classmethod
    def from_json(cls, fields: Fields) -> ClaimResult:
        """Return the claim of a JSON form as what it is: exact, sampled, or not measured."""
        exact, confidence = fields.number("exact"), fields.number("confidence")
        if confidence is not None and not 0 < confidence < 1:
            raise fields.fail("confidence", "a number between 0 and 1")
        samples = fields.inner("samples")
        parted = fields.inner("first_difference")
        known = ClaimResult(
            id=fields.text("id"),
            statement=fields.text("statement"),
            source=fields.text("source"),
            status=fields.status(),
            claimed=_claimed(fields.inner("claimed")),
            lower_bound=fields.number("lower_bound"),
            method=fields.text("method"),
            event=_event(fields.inner("event")),
            pair=_worded(fields.inner("pair")),
            samples={str(key): samples.whole(key) for key in samples.body},
            detectable_epsilon=fields.number("detectable_epsilon"),
            witness=fields.mapping("witness") or None,
            inference=fields.mapping("inference"),
            detail=fields.text("detail"),
            first_difference=FirstDifference.from_json(parted) if parted.body else None,
        )
        if exact is not None:
            return ExactFinding(**{**vars(known), "exact": exact, "confidence": confidence})
        if confidence is not None:
            return SampledFinding(**{**vars(known), "confidence": confidence})
        return known


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


def _claimed(fields: Fields) -> dict[str, object]:
    if "kind" in fields.body:
        try:
            return PrivacyClaim.from_json(fields.body).to_json()
        except (KeyError, TypeError, ValueError):
            raise fields.fail("kind", "a kind of claim with its parameters") from None
    epsilon, delta = fields.number("epsilon"), fields.number("delta") or 0.0
    if epsilon is None or epsilon < 0:
        raise fields.fail("epsilon", "a number of at least 0")
    if not 0 <= delta <= 1:
        raise fields.fail("delta", "a number between 0 and 1")
    return {"epsilon": epsilon, "delta": delta}


def _event(fields: Fields) -> dict[str, object]:
    """Check counts and probabilities; the rest is shown as it is."""
    event = _worded(fields)
    counts = ("runs_a_side", "inside", "inside_other")
    if any(key in event for key in counts):
        runs, *hits = (fields.whole(key) for key in counts)
        for key, value in zip(counts, (runs, *hits), strict=True):
            if not 0 <= value <= runs < MOST_RUNS:
                raise fields.fail(key, "a count of runs")
    for key in ("probability", "probability_other"):
        if key in event:
            chance = fields.number(key)
            if chance is None or not 0 <= chance <= 1 + 1e-9:
                raise fields.fail(key, "a probability")
            event[key] = min(chance, 1.0)
    return event


def _worded(fields: Fields) -> dict[str, object]:
    return {**fields.body, "words": fields.text("words")}


@dataclass(frozen=True, repr=False)
class Result(Readable):
    """What one command found: checks of a statistic, or verdicts on claims.

    ``context`` is what else a report needs: the network read, what was tried, the error budget;
    ``source`` the digest of the code that was looked at, ``commit`` its git commit and ``place``
    its file and line, if known.
    """

    command: str
    subject: str
    seed: int
    elapsed_s: float
    checks: tuple[CheckResult, ...] = ()
    claims: tuple[ClaimResult, ...] = ()
    context: JSON = field(default_factory=dict)
    source: str = ""
    commit: str = ""
    place: str = ""

    @classmethod
    def from_json(cls, body: Mapping[str, object], file: str) -> Result:
        """Return the result of a JSON form; a wrong field is named as one of ``file``."""
        fields = Fields(body, file, "")
        return cls(
            command=fields.text("command"),
            subject=fields.text("subject"),
            seed=fields.whole("seed"),
            elapsed_s=fields.seconds("elapsed_s"),
            checks=tuple(map(CheckResult.from_json, fields.records("checks"))),
            claims=tuple(map(ClaimResult.from_json, fields.records("claims"))),
            context=fields.mapping("context"),
            source=fields.text("source"),
            commit=fields.text("commit"),
            place=fields.text("place"),
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
        body: dict[str, object] = {
            "format": FORMAT,
            "command": self.command,
            "subject": self.subject,
            "seed": self.seed,
            "versions": versions(),
            **({"source": self.source} if self.source else {}),
            **({"commit": self.commit} if self.commit else {}),
            **({"place": self.place} if self.place else {}),
            "written": datetime.now(UTC).isoformat(timespec="seconds"),
            **({"by": user} if (user := _user()) else {}),
            "elapsed_s": round(self.elapsed_s, 3),
            "status": self.status,
        }
        if self.checks:
            body["checks"] = [check.to_json() for check in self.checks]
        if self.claims:
            body["claims"] = [claim.to_json() for claim in self.claims]
        if self.context:
            body["context"] = dict(self.context)
        return sealed(plain_fields(body))


def sealed(body: Mapping[str, object]) -> dict[str, object]:
    """Return the JSON form of a result with the digest of all that does not change from run to run.

    It shows damage and careless edits. It is no signature: whoever forges a result can seal it
    again, so ``replay`` takes nothing on its word that can be computed.
    """
    return {**body, "digest": _digest(body)}


def unchanged(body: Mapping[str, object]) -> bool | None:
    """Say whether a result is as it was when it was sealed; None where it never was."""
    return None if "digest" not in body else body["digest"] == _digest(body)


def _digest(body: Mapping[str, object]) -> str:
    kept = {key: value for key, value in body.items() if key not in UNSEALED}
    text = json.dumps(kept, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def worst(statuses: Iterable[Status]) -> Status:
    """Return the worst status; ``skipped`` where there is none."""
    return min(statuses, key=SEVERITY.index, default="skipped")


def exit_status(status: Status, fail_on: str | None = None) -> int:
    """Return the exit status of a command: 1 for a violation, 2 for an error, else 0."""
    return 1 if status == fail_on else {"violated": 1, "error": 2}.get(status, 0)


def versions() -> dict[str, str]:
    """Return the versions a result depends on."""
    packages = ("pdpaudit", "numpy", "scipy", "networkx")
    return {"python": platform.python_version(), **{name: version(name) for name in packages}}


def _user() -> str:
    """Return who runs this; empty where the system does not say."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


def save(path: Path, body: Mapping[str, object]) -> None:
    """Write JSON whole or not at all."""
    text = json.dumps(body, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    write_text(path, text)


def write_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all, as :func:`write_bytes` does."""
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"{path}: cannot be written, a name in it is not valid Unicode ({error.reason}); "
            "correct the name"
        ) from None
    write_bytes(path, data)


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, through a temporary file beside it.

    A link is followed; a pipe or device is written to as it is, for it cannot be replaced.
    """
    temporary = None
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            path.write_bytes(data)
            return
        real = path.resolve()
        handle, temporary = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, real)
        temporary = None
    except OSError as error:
        raise InputError(
            f"{path}: cannot be written ({error.strerror}); choose another path"
        ) from None
    finally:
        if temporary is not None:
            os.unlink(temporary)


def load(path: Path) -> JSON:
    """Read the JSON form of a result.

    Raises
    ------
    InputError
        If the file is missing, is not JSON, or is not a result of this format.
    """
    try:
        with open_file(path) as file:
            start = file.read(1)
            body = json.loads(start + file.read() if start.isascii() and start > b"\0" else b"")
    except IsADirectoryError:
        raise InputError(f"{path}: is a folder; name a result file in it") from None
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; check the path") from None
    except (ValueError, RecursionError):  # bad encoding, bad syntax, endless numbers or nesting
        raise InputError(f"{path}: not JSON; give a file written with --json") from None
    if not isinstance(body, dict) or body.get("format") != FORMAT:
        raise InputError(f"{path}: not a {FORMAT} file; give a file written with --json")
    return body


def plain_fields(body: Mapping[str, object]) -> dict[str, object]:
    """Return an object of JSON; what is not finite becomes a string."""
    return {str(key): plain(item) for key, item in body.items()}


def plain(value: object) -> object:
    """Turn numpy scalars, tuples and non-finite floats into what JSON has."""
    if isinstance(value, Mapping):
        return plain_fields(value)
    if isinstance(value, str | bool | int) or value is None:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, Set):
        # Strings hash anew in each process, so a set's own order would differ between two runs.
        return [plain(item) for item in sorted(value, key=repr)]
    if isinstance(value, Iterable):
        return [plain(item) for item in value]
    return str(value)
