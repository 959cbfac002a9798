"""Change the statistics' code in every small way, and see whether the tests notice.

    python tests/mutation/run.py                       all modules, about 90 minutes of one core
    python tests/mutation/run.py budget betting        some of them
    python tests/mutation/run.py --folder F --show     only write down what a run in F left so far

needs ``mutmut`` (3.8), which is no dependency of the project. It works on a copy in the layout in
which the package is installed, never on the checkout, and takes up what an earlier run in the same
folder left. The result is written to ``result.json`` beside this file, which the README explains
and ``test_result.py`` holds against the sources.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
from explained import reason

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
RESULT, README = HERE / "result.json", HERE / "README.md"

#: What is below it in the README is written anew.
MARK = "## Result\n\n"

EVIDENCE, ATTACKS = "tests/inference/test_{}.py", "tests/attacks/test_{}.py"
OUTPUTS = "tests/outputs/test_{}.py"
CHOOSING = tuple(map(ATTACKS.format, ("thresholds", "candidates", "events", "vector_events")))

#: Modules by name: their source in the checkout, and the tests that must notice.
MODULES = {
    "betting": ("pdpaudit/inference/sequential.py", (EVIDENCE.format("betting"),)),
    "bounds": (
        "pdpaudit/inference/bounds.py",
        (EVIDENCE.format("bounds"), EVIDENCE.format("error_budget")),
    ),
    "power": ("pdpaudit/inference/power.py", (EVIDENCE.format("power"),)),
    "exact": (
        "pdpaudit/inference/exact_test.py",
        (EVIDENCE.format("exact_test_parts"), EVIDENCE.format("exact_test")),
    ),
    "aim": ("pdpaudit/inference/claim_bounds.py", (EVIDENCE.format("expected_bound"),)),
    "records": ("pdpaudit/outputs/records.py", (OUTPUTS.format("records"),)),
    "draws": (
        "pdpaudit/outputs/draws.py",
        (
            OUTPUTS.format("records"),
            OUTPUTS.format("events"),
            "tests/sampling/test_misbehaviour.py",
        ),
    ),
    "columns": ("pdpaudit/outputs/columns.py", (OUTPUTS.format("columns"),)),
    "output_events": ("pdpaudit/outputs/events.py", (OUTPUTS.format("events"),)),
    "words": ("pdpaudit/outputs/words.py", (OUTPUTS.format("events"),)),
    "thresholds": ("attacks/thresholds.py", CHOOSING[:1]),
    "candidates": ("attacks/candidates.py", CHOOSING[1:3]),
    "events": ("attacks/events.py", CHOOSING[1:3]),
    "vector_events": ("attacks/vector_events.py", CHOOSING[3:]),
}

#: What tests of outputs share.
SHARED = ("tests/outputs/made_up.py",)

#: Tests about chance that take seconds: left out, so that no mutant is killed by them.
LONG = tuple(
    f"tests/attacks/test_{name}"
    for name in (
        "events.py::test_where_nothing_leaks_chance_is_not_taken_for_a_leak",
        "events.py::test_the_chosen_event_holds_its_level_on_fresh_samples",
        "vector_events.py::test_caution_takes_back_most_of_what_chance_promises",
    )
)

ROOMS = ("algorithms", "attacks")
SKIP = shutil.ignore_patterns("__pycache__")

CONFIG = """\
[mutmut]
source_paths=pdpaudit
only_mutate={only}
also_copy=
    conftest.py
    pytest.ini
pytest_add_cli_args_test_selection={tests}
use_git_change_detection=false
track_dependencies=false
timeout_constant=5.0
timeout_multiplier=2.0
"""


PYTEST = """\
[pytest]
addopts =
    --import-mode=importlib -p no:cacheprovider -p no:xdist -p no:unraisableexception
    -p no:threadexception -m "not slow" {deselected}
filterwarnings = error
markers =
    slow: takes more than a few seconds
"""


#: A failing example is enough, the smallest is not needed; the same ones are tried on all mutants.
#: A mutant ends with the first test that fails, so the quick ones come first.
CONFTEST = """
import json
from pathlib import Path
from hypothesis import Phase

def pytest_collection_modifyitems(items):
    stats = Path("mutmut-stats.json")
    times = json.loads(stats.read_text())["duration_by_test"] if stats.exists() else {}
    items.sort(key=lambda item: times.get(item.nodeid, 0.0))

settings.register_profile(
    "quick",
    settings.get_profile("quick"),
    phases=(Phase.explicit, Phase.generate),
    derandomize=True,
    database=None,
)
"""


def installed(source: str) -> str:
    """Return where a source lies in the installed package."""
    return source if source.startswith("pdpaudit/") else f"pdpaudit/{source}"


def digest(source: str | Path) -> str:
    """Return a short digest of a module's source."""
    return hashlib.sha256((ROOT / source).read_bytes()).hexdigest()[:16]


def lay_out(folder: Path, name: str) -> None:
    """Copy what one module's run needs, in the installed layout; newer files replace older."""
    source, tests = MODULES[name]
    (folder / "mutants").mkdir(exist_ok=True)  # a path that is not there at the start is never read
    for room, place in (("pdpaudit", "pdpaudit"), *((r, f"pdpaudit/{r}") for r in ROOMS)):
        shutil.copytree(ROOT / room, folder / place, dirs_exist_ok=True, ignore=SKIP)
    for file in ("conftest.py", *tests, *SHARED):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / file, folder / file)
    config = CONFIG.format(only=installed(source), tests="\n    ".join(("", *tests)))
    (folder / "setup.cfg").write_text(config)
    with (folder / "conftest.py").open("a") as conftest:
        conftest.write(CONFTEST)
    deselected = " ".join(f"--deselect={test}" for test in LONG)
    (folder / "pytest.ini").write_text(PYTEST.format(deselected=deselected))


def mutate(folder: Path, name: str, patterns: list[str]) -> dict[str, object]:
    """Run one module's mutants, and return how many there were and which survived."""
    if patterns != [SHOWN]:
        lay_out(folder, name)
    meta = folder / "mutants" / f"{installed(MODULES[name][0])}.meta"
    before: dict[str, int | None] = {}
    if patterns[:1] == [AGAIN]:
        # Which tests reach which function is found out anew: they may have changed.
        (folder / "mutants" / "mutmut-stats.json").unlink(missing_ok=True)
        before = json.loads(meta.read_text())["exit_code_by_key"]
        alive = [key for key, code in before.items() if code in SURVIVED]
        told = dict(zip(alive, differences(folder, alive), strict=True))
        left = [key for key, change in told.items() if reason(change) is None]
        left += [key for key, code in before.items() if code in LATE]
        patterns = [key for key in left if any(fnmatch(key, p) for p in patterns[1:] or "*")]
    environment = {**os.environ, "PYTHONPATH": str(folder / "mutants"), "OMP_NUM_THREADS": "1"}
    run = [sys.executable, "-m", "mutmut", "run", "--max-children", "1", *patterns]
    if patterns != [SHOWN]:
        with (folder / "mutmut.log").open("w") as log:
            subprocess.run(run, cwd=folder, env=environment, check=True, stdout=log, stderr=log)
    after = json.loads(meta.read_text())["exit_code_by_key"]
    # Newer tests make mutmut forget what older ones killed, which they still do.
    codes = {k: before.get(k) if code is None else code for k, code in after.items()}
    if before:
        meta.write_text(json.dumps({**json.loads(meta.read_text()), "exit_code_by_key": codes}))
    tried = {key: code for key, code in codes.items() if code is not None}
    alive = [key for key, code in tried.items() if code in SURVIVED]
    return {
        "source": digest(folder / installed(MODULES[name][0])),
        "mutants": len(codes),
        "tried": len(tried),
        "killed": len(tried) - len(alive),
        "survivors": dict(zip(map(named, alive), differences(folder, alive), strict=True)),
    }


def named(key: str) -> str:
    """Return a mutant's name for readers: the function, and a number within it."""
    function, _, number = key.rpartition(".")[2].partition("__mutmut_")
    return f"{function[1:].strip('_ǁ').replace('ǁ', '.')} {number}"


#: What pytest, or mutmut for it, says where no test failed: all passed, none ran.
SURVIVED = (0, 5, 33)

#: What mutmut says of mutants that were stopped, since they took several times as long.
LATE = (-24, 24, 36, 152)


#: Prints, as JSON, how each of the mutants named differs from the code.
SHOW = """
import json, sys
from mutmut.mutation.diff_apply import get_diff_for_mutant
print(json.dumps([get_diff_for_mutant(key).splitlines() for key in sys.argv[1:]]))
"""


def differences(folder: Path, keys: list[str]) -> list[list[str]]:
    """Return, for each mutant, the lines that it takes out and puts in."""
    command = [sys.executable, "-c", SHOW, *keys]
    shown = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return [
        [" ".join(s.split()) for s in lines if s[:1] in "+-" and s[:3] not in ("+++", "---")]
        for lines in json.loads(shown.stdout)
    ]


def page(record: dict[str, Any]) -> str:
    """Return the table and the survivors, one by one, in Markdown."""
    lines = ["| module | mutants | tried | killed | survived | of these no gap |"]
    lines += ["|---|---|---|---|---|---|"]
    for name, row in record.items():
        alive = row["survivors"]
        fine = sum(reason(change) is not None for change in alive.values())
        share = f"{row['killed']} ({row['killed'] / row['tried']:.0%})"
        lines.append(
            f"| {name} | {row['mutants']} | {row['tried']} | {share} | {len(alive)} | {fine} |"
        )
    for name, row in record.items():
        lines += ["", f"### {name}", ""]
        for key, change in row["survivors"].items():
            put_in = "; ".join(line[1:].strip() for line in change if line.startswith("+"))
            lines.append(f"- `{key}`: `{put_in}`: {reason(change) or OPEN}")
    return "\n".join(lines) + "\n"


OPEN = "open, no test tells it apart"

AGAIN, SHOWN = "again", "shown"
FUNCTIONS = "only mutants of these functions"
ENDING = "only mutants whose number ends so: one digit is a tenth of them"


def main() -> None:
    """Run the modules asked for and write the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", metavar="module", help=", ".join(MODULES))
    parser.add_argument("--folder", type=Path, help="where to work; a new one if not given")
    parser.add_argument("--ending", nargs="*", default=[], metavar="digit", help=ENDING)
    parser.add_argument("--functions", nargs="*", default=[], metavar="name", help=FUNCTIONS)
    parser.add_argument("--again", action="store_true", help="only what is open, or took too long")
    parser.add_argument("--show", action="store_true", help="try nothing, record what was tried")
    asked = parser.parse_args()
    if unknown := set(asked.modules) - set(MODULES):
        parser.error(f"no such module: {', '.join(sorted(unknown))}")
    folder = asked.folder or Path(tempfile.mkdtemp(prefix="mutants-"))
    patterns = [AGAIN] if asked.again else [f"*__mutmut_*{digit}" for digit in asked.ending]
    patterns = [SHOWN] if asked.show else patterns
    patterns += [f"*.x_{name}__mutmut_*" for name in asked.functions]
    for name in asked.modules or MODULES:
        (folder / name).mkdir(parents=True, exist_ok=True)
        row = mutate(folder / name, name, patterns)
        known = json.loads(RESULT.read_text()) if RESULT.exists() else {}
        known[name] = row
        told = {module: known[module] for module in MODULES if module in known}
        RESULT.write_text(json.dumps(told, indent=1) + "\n")
        head, mark, _ = README.read_text().partition(MARK)
        README.write_text(head + mark + page(told))
        sys.stdout.write(f"{name}: {row['killed']} of {row['tried']} killed\n")


if __name__ == "__main__":
    main()
