"""Result files as a report takes them in, and the commands that give their numbers again."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from pdpaudit.core.errors import InputError
from pdpaudit.core.registry import needs_trust
from pdpaudit.results.fields import Fields
from pdpaudit.results.files import load
from pdpaudit.results.results import ClaimResult, Result

#: Options longer than this are not written into a command.
LONGEST_OPTION = 500


@dataclass(frozen=True)
class Source:
    """One result, where it came from, when it was written and who ran the command."""

    name: str
    result: Result
    versions: Mapping[str, str] = field(default_factory=dict)
    written: str = ""
    by: str = ""


def read_source(path: Path) -> Source:
    """Read a result file."""
    return source_from_json(load(path), path.name)


def source_from_json(body: Mapping[str, object], name: str) -> Source:
    """Return what the JSON form of a result says."""
    fields = Fields(body, name, "")
    versions = {str(key): str(value) for key, value in fields.mapping("versions").items()}
    written, by = fields.text("written"), fields.text("by")
    return Source(name, Result.from_json(body, name), versions, written, by)


def command_of(source: Source) -> str:
    """Return the command that gives a result again."""
    result = source.result
    asked = result.context.get("options")
    against = asked.get("against") if isinstance(asked, Mapping) else None
    # A simulation's subject names its rival too.
    subject = result.subject.removesuffix(f" against {against}") if against else result.subject
    words = ["pdpaudit", result.command, subject]
    if result.claims:
        words += _claim_options(result.claims[0], every="relations" in result.context)
    for place in (asked, result.context.get("network"), _file_of(result.claims)):
        words += _options(place)
    words += ["--exposure"] if isinstance(result.context.get("exposure"), Mapping) else []
    return shlex.join([*words, "--seed", str(result.seed), "--json", source.name])


def replay_of(source: Source) -> str | None:
    """Return the command that re-runs the witnesses of a result; None where it has none."""
    if not any(one.witness for one in source.result.findings):
        return None
    return replay_command(source.result, source.name)


def replay_command(result: Result, file: str) -> str:
    """Return the command that re-runs the witnesses in a file, and trusts the code they name."""
    trust = ["--trust"] if needs_trust(one.witness for one in result.findings) else []
    return shlex.join(["pdpaudit", "replay", file, *trust])


#: Arguments of mechanisms that have an option of their own.
MADE_WITH = ("epsilon", "delta", "components", "stop", "threshold", "noise", "sop")


def listing_of(witness: Mapping[str, object], subject: str) -> str | None:
    """Return Python that shows a check's counterexample; None where the witness is no such thing.

    Only whole numbers of the witness go into the program, so that it runs nothing from the file.
    """
    # The checks take a second to load, and most reports show no counterexample.
    from pdpaudit.checks.witness import as_python

    try:
        return as_python(witness, subject) if len(subject) <= LONGEST_OPTION else None
    except InputError:
        return None


def _claim_options(claim: ClaimResult, *, every: bool) -> list[str]:
    """Return the options that make a mechanism again, and how its claim was judged.

    Where every relation was asked for, only the former: each has its own.
    """
    witness = claim.witness or {}
    made = witness.get("mechanism")
    made = made if isinstance(made, Mapping) else {}
    given = made.get("parameters")
    parameters = given if isinstance(given, Mapping) else {}
    words = _options({key: value for key, value in parameters.items() if key in MADE_WITH})
    for key, value in parameters.items():
        text = value if isinstance(value, str) else repr(value)
        if key not in MADE_WITH and value is not None and len(text) <= LONGEST_OPTION:
            words += ["--with", f"{key}={text}"]
    seen = ("observe",) if every else ("observe", "relation")
    words += _options({key: made.get(key) for key in seen})
    words += _options({"claim": claim.promise.text}) if "claimed" in made else []
    if claim.exact is None and not every:
        keys = ("samples", "confidence", "method", "detect")
        fixed = keys if claim.promise.approximate else keys[:2]
        words += _options({key: witness.get(key) for key in fixed})
    return words


def _file_of(claims: tuple[ClaimResult, ...]) -> object:
    """Return how the user's network was read, where a witness tells."""
    for claim in claims:
        pair = (claim.witness or {}).get("pair")
        base = pair.get("base") if isinstance(pair, Mapping) else None
        if isinstance(base, Mapping) and isinstance(base.get("file"), Mapping):
            return base["file"]
    return None


def _options(values: object) -> list[str]:
    """Return ``--key value`` for each value that can stand on a command line."""
    if not isinstance(values, Mapping):
        return []
    words = []
    for key, value in values.items():
        if key == "names" and value is True:
            words.append("--names")
        if isinstance(value, bool) or not isinstance(value, str | int | float | PurePath):
            continue
        text = repr(value) if isinstance(value, float) else str(value)
        name = str(key).replace("_", "-")
        if len(text) <= LONGEST_OPTION and name.replace("-", "").isalnum():
            words += [f"--{name}", text]
    return words
