"""Audit released packages, each in an environment of its own, and write the page.

    python reports/wild/run.py --environments FOLDER [--seeds 1 2 3] [--only WORD] [--part control]

An environment is made for each package and version where FOLDER has none. Of a machine that others
use too an audit gets a part of each second: there ``--time-limit`` may be more than a minute, and
the seconds that count are the processor's. The constructors of OpenDP are audited by ``--sweep
PYTHON --time-limit 40 --seeds 1``, an interpreter that has OpenDP; a violation is no finding before
it is worked out by hand.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import time
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from pdpaudit import audit
from pdpaudit.adapters.elsewhere import Elsewhere
from pdpaudit.core.errors import InputError, Misbehaviour
from pdpaudit.outputs.records import JSON
from pdpaudit.results.files import plain

HERE = Path(__file__).parent

#: Share of a finite truth that a bound is to reach.
NEAR = 0.9

#: What is audited by default: nobody had looked at these when the numbers were made.
SEEDS = (10, 11, 12)

#: What the page takes from the list of bugs as it is now.
SHOWN = ("truth", "why", "sound")

#: Seconds that one audit may take on a machine of its own, and that installing a package may.
LIMIT_S, INSTALL_S = 60.0, 900.0

#: How many times as long the clock lets a fixed number of runs take, and the seconds of work by
#: which it is measured how much of a processor there is.
FIXED, TRIED_S = 2.5, 1.0


def environment(folder: Path, bug: JSON) -> Path:
    """Return the interpreter that has a version of a package, made where there is none."""
    package, version = bug["package"], bug["version"]
    place = folder / f"{package}-{version}"
    python = place / "bin" / "python"
    if not python.is_file():
        with_python = f"python{bug['python']}" if "python" in bug else sys.executable
        subprocess.run([with_python, "-m", "venv", str(place)], check=True)
        wanted = [f"{package}=={version}", *bug.get("also", ())]
        subprocess.run(
            [python, "-m", "pip", "install", "-q", *wanted], check=True, timeout=INSTALL_S
        )
    return python


def spent() -> float:
    """Return the seconds that a processor has worked for this process and those that have ended."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def slowed() -> float:
    """Return how many seconds by the clock a second of work takes now."""
    began, before = time.monotonic(), time.process_time()
    while time.process_time() - before < TRIED_S:
        sum(range(1000))
    return max(1.0, (time.monotonic() - began) / TRIED_S)


def audited(bug: JSON, python: Path, seed: int, limit: float) -> JSON:
    """Return what one audit found."""
    name = bug["mechanism"]
    name = str(HERE / name) if name.startswith("mechanisms.py:") else name
    made = Elsewhere(str(python), name, bug.get("with"))
    # How long a fixed number of runs takes is not for the clock to say.
    samples = bug.get("samples")
    limit = round(limit * slowed() * (FIXED if samples else 1.0), 1)
    began, before = time.monotonic(), spent()
    result = audit(
        made,
        claim=bug.get("claim"),
        seed=seed,
        samples=samples,
        time_limit=limit,
        budget="default" if samples else "quick",
    )
    [claim] = result.claims
    versions = made.known["versions"]
    del made  # ends the other process
    return {
        "seed": seed,
        "status": claim.status,
        "claimed": claim.statement,
        "bound": claim.lower_bound,
        "words": claim.event.words or claim.method,
        "detail": getattr(claim, "detail", ""),
        "pair": claim.pair.words,
        "draws": sum(claim.samples.values()),
        "seconds": round(spent() - before, 1),
        "elapsed": round(time.monotonic() - began, 1),
        "limit": limit,
        "load": round(os.getloadavg()[0], 1),
        "versions": versions,
    }


def row(bug: JSON, folder: Path, parts: Sequence[str], seeds: Sequence[int], limit: float) -> JSON:
    """Return what all audits of one bug and of its control found, or why there are none."""
    found: dict[str, object] = {"name": bug["name"], "package": bug["package"]}
    found.update(version=bug["version"], truth=bug["truth"], why=bug["why"])
    control = bug.get("control")
    made = {"bug": bug}
    if control is not None:
        # Stages have the power that is stated; what is not there needs no exact bound.
        made["control"] = {**bug, "samples": None, **control}
        found["control_version"] = made["control"]["version"]
    for part, asked in made.items():
        if part not in parts:
            continue
        try:
            python = environment(folder, asked)
            found[part] = [audited(asked, python, seed, limit) for seed in seeds]
        except (InputError, Misbehaviour, OSError, subprocess.SubprocessError) as error:
            found[part] = " ".join(str(error).split())[:300]
        print(bug["name"], bug["version"], part, _short(found[part]), flush=True)  # noqa: T201
    return found


def _short(found: object) -> str:
    if not isinstance(found, list):
        return str(found)
    bounds = [one["bound"] or 0.0 for one in found]
    statuses = [one["status"].replace("_", " ") for one in found]
    seconds = max(one["seconds"] for one in found)
    return f"{', '.join(statuses)}; bounds {', '.join(f'{b:.3f}' for b in bounds)}; {seconds} s"


def page(rows: Sequence[JSON], earlier: Mapping[str, Sequence[JSON]]) -> str:
    """Return the page, in Markdown; ``earlier`` are audits on other seeds by earlier versions."""
    text, lines = (HERE / "page.md.in").read_text(encoding="utf-8"), list[str]()
    for seeds, found in earlier.items():
        lines += [f"Seeds {seeds}: {summary(found)}", "", *_undecided(found), ""]
    parts = {"table": table(rows), "summary": [summary(rows)], "undecided": _undecided(rows)}
    parts["earlier"], lines = lines, []
    for one in rows:
        lines += [f"## {one['name']} ({one['version']})", "", one["why"], ""]
        for part in ("bug", "control"):
            found = one.get(part)
            if isinstance(found, str):
                lines += [f"- {part}: not carried out: {found}"]
            for single in found if isinstance(found, list) else ():
                lines += [_sentence(part, single)]
        lines.append("")
    for name, listed in {**parts, "audits": lines}.items():
        text = text.replace(f"{{{name}}}", "\n".join(listed))
    return text.rstrip() + "\n"


def table(rows: Sequence[JSON]) -> list[str]:
    """Return the lines of a table of what was found."""
    lines = []
    for one in rows:
        truth = "∞" if math.isinf(float(one["truth"])) else f"{one['truth']:g}"
        verdicts, bounds, cost = _cells(one.get("bug"))
        cells = [one["name"], f"{one['package']} {one['version']}", verdicts, bounds, truth, cost]
        control = _cells(one["control"])[0] if "control" in one else "not run"
        cells.append(f"{one['control_version']}: {control}" if "control_version" in one else "none")
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _undecided(rows: Sequence[JSON]) -> list[str]:
    """Say of every audit that is inconclusive why it is, and which bugs were missed."""
    return [
        _sentence(f"{one['name']} ({one['version']}), {part}", single)
        for one in rows
        for part in ("bug", "control")
        for single in one.get(part) or ()
        if single["status"] == "inconclusive"
        or (part == "bug" and not one.get("sound") and single["status"] == "not_rejected")
    ]


def summary(rows: Sequence[JSON]) -> str:
    """Say how many bugs were caught, what the controls showed, and how near the bounds come."""
    bugs = [row for row in rows if not row.get("sound")]
    caught = sum(all(one["status"] == "violated" for one in row["bug"]) for row in bugs)
    once = sum(any(one["status"] == "violated" for one in row["bug"]) for row in bugs)
    sound = [one for row in rows for one in row.get("control") or ()]
    sound += [one for row in rows if row.get("sound") for one in row["bug"]]
    false = sum(one["status"] == "violated" for one in sound)
    finite = [row for row in bugs if math.isfinite(float(row["truth"]))]
    shares = [(one["bound"] or 0.0) / row["truth"] for row in finite for one in row["bug"]]
    near, above = (sum(one > least for one in shares) for least in (NEAR, 1.0))
    longest = max(one["seconds"] for row in bugs for one in row["bug"])
    return (
        f"{caught} of {len(bugs)} bugs were caught with every seed, {once} with one at least. Of "
        f"{len(sound)} audits of controls {false} found a violation, where {0.05 * len(sound):.1f} "
        f"may by chance. Of {len(shares)} bounds on a finite truth {near} are above {NEAR:.0%} of "
        f"it, the least {min(shares):.0%}, and {above} above it, where {0.05 * len(shares):.1f} "
        f"may be. The longest audit of a bug took {longest:g} s."
    )


def _cells(found: object) -> tuple[str, str, str]:
    """Return verdicts, bounds, and what the longest audit took."""
    if not isinstance(found, list):
        return "not carried out" if found else "none", "", ""
    statuses = [one["status"].replace("_", " ") for one in found]
    verdicts = (f"{statuses.count(one)} {one}" for one in dict.fromkeys(statuses))
    bounds = (f"{one['bound']:.3f}" for one in found if one["bound"] is not None)
    most = max(found, key=lambda one: one["seconds"])
    cost = f"{most['draws']:,}, {most['seconds']:g}"
    return ", ".join(verdicts), ", ".join(bounds), cost


def _sentence(part: str, one: JSON) -> str:
    bound = "" if one["bound"] is None else f", bound {one['bound']:.3f}"
    words = str(one["words"]).replace("|", "\\|")
    why = f" {one['detail']}" if one["status"] == "inconclusive" and one.get("detail") else ""
    return (
        f"- {part}, seed {one['seed']}: {one['claimed']} {one['status'].replace('_', ' ')}{bound}; "
        f"`{words[:160]}` ({one['draws']:,} draws, {one['seconds']:g} s; {one['versions']}).{why}"
    )


def main() -> None:
    """Audit, and write the numbers and the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environments", type=Path)
    parser.add_argument("--sweep", metavar="PYTHON", help="an interpreter that has OpenDP")
    parser.add_argument("--time-limit", type=float, default=LIMIT_S, help="seconds of an audit")
    parser.add_argument("--part", choices=["bug", "control"], help="one of them alone")
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS)
    parser.add_argument("--only", default="")
    parser.add_argument("--page", action="store_true", help="write the page from results.json")
    asked = parser.parse_args()
    if asked.sweep is not None:
        return sweep(asked.sweep, asked.time_limit, asked.seeds[0])
    if asked.environments is None and not asked.page:
        parser.error("--environments: say where they are, or are to be made")
    listed = tomllib.loads((HERE / "bugs.toml").read_text(encoding="utf-8"))
    file = HERE / "results.json"
    parts = ("bug", "control") if asked.part is None else (asked.part,)
    for bug in listed["bug"]:
        if asked.only in bug["name"] and not asked.page:
            found = row(bug, asked.environments, parts, asked.seeds, asked.time_limit)
            kept, key = _known(file), _key(bug)
            kept[key] = {**kept.get(key, {}), **found}
            text = json.dumps(
                plain(list(kept.values())), indent=1, ensure_ascii=False, allow_nan=False
            )
            file.write_text(text + "\n", encoding="utf-8")
    kept = _known(file)
    rows = [
        {**kept[_key(bug)], **{name: bug[name] for name in SHOWN if name in bug}}
        for bug in listed["bug"]
        if _key(bug) in kept
    ]
    earlier = json.loads((HERE / "earlier.json").read_text(encoding="utf-8"))
    (HERE / "README.md").write_text(page(rows, earlier), encoding="utf-8")


def _known(file: Path) -> dict[tuple[str, str], JSON]:
    """Return what was found before, or by another process."""
    known = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else []
    return {_key(one): one for one in known}


def _key(bug: JSON) -> tuple[str, str]:
    return bug["name"], bug["version"]


#: Lists constructors and what each must be given.
LISTED = """
import inspect, json, opendp.measurements as m
takes = lambda f: inspect.signature(f).parameters.values()
needed = lambda f: [one.name for one in takes(f) if one.default is one.empty]
print(json.dumps({n: needed(getattr(m, n)) for n in dir(m) if n.startswith("make_")}))
"""

#: What an argument of that name is given.
DEFAULTS: dict[str, object] = {
    "scale": 1.0,
    "prob": 0.75,
    "f": 0.5,
    "threshold": 5,
    "k": 2,
    "categories": ["a", "b", "c"],
    "candidates": [0, 2, 4, 6, 8],
    "alpha": 0.5,
    "total_limit": 10,
    "value_limit": 5,
    "optimize": "max",
    "lower": 0,
    "upper": 10,
}

#: Arguments that the adapter finds.
FOUND = {"input_domain", "input_metric", "output_measure"}


def verdict(python: str, name: str, needed: list[str], limit: float, seed: int) -> list[str]:
    """Return a row of the table: claim, bound and verdict, or why there is none."""
    lacking = [one for one in needed if one not in FOUND and one not in DEFAULTS]
    if lacking:
        return ["", "", f"no default for {', '.join(lacking)}"]
    given = {one: DEFAULTS[one] for one in needed if one not in FOUND}
    try:
        made = Elsewhere(python, f"opendp:{name}", given)
        [claim] = audit(made, seed=seed, time_limit=limit, budget="quick").claims
    except (InputError, Misbehaviour) as error:
        return ["", "", " ".join(str(error).split()).rpartition("bin/python: ")[2][:90]]
    bound = "" if claim.lower_bound is None else f"{claim.lower_bound:.3f}"
    words = claim.method[:60] if claim.status == "error" else claim.event.words
    return [claim.statement, bound, f"{claim.status.replace('_', ' ')}: {words}"[:90]]


def sweep(python: str, limit: float, seed: int) -> None:
    """Audit every measurement constructor of OpenDP that default arguments build; print a table."""
    listed = subprocess.run([python, "-c", LISTED], capture_output=True, check=True)
    print("| constructor | claim | bound | verdict |\n|---|---|---|---|")  # noqa: T201
    for name, needed in json.loads(listed.stdout).items():
        row = verdict(python, name, needed, limit, seed)
        print(f"| {name} | {' | '.join(row)} |", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
