"""Opening a result runs nothing it names and reads nothing it points to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from pdpaudit import Result, audit
from pdpaudit.core.errors import InputError
from pdpaudit.results.files import sealed

from .conftest import Body, result_of

#: Runs commands in one process and tells of each how it ended, and what it opened or started that
#: lies in the folder or is a program; python's own files are no matter.
WATCH = """
import contextlib, io, json, os, sys
import pdpaudit.cli, pdpaudit.replay, pdpaudit.report.rendering
import numpy.random, scipy.special, hypothesis, rich.text, jinja2, joblib, flint

here, seen, ended = os.getcwd(), [], []

def watch(event, arguments):
    if event in ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork"):
        seen.append(event)
    elif event == "open" and isinstance(arguments[0], (str, bytes)):
        path = os.path.realpath(os.fsdecode(arguments[0]))
        # An editable installation has a path of its own, which metadata is looked for in.
        if path.startswith((here, "/etc")) and "__editable__" not in path:
            seen.append("open " + os.path.relpath(path, here))
    elif event == "import" and arguments[0] in ("canary", "mechanisms", "sops", "listed"):
        seen.append("import " + arguments[0])

sys.addaudithook(watch)
for command in json.load(open("commands.json")):
    seen.clear()
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            pdpaudit.cli.main(command)
        except SystemExit as end:
            status = end.code
    ended.append([status, out.getvalue(), err.getvalue(), [*seen]])
print(json.dumps(ended))
"""

CANARY = """
from pathlib import Path
Path("touched").touch()
class Thing:
    claim = None
    def run(self, instance, rng): return 1
"""

SHELL = {"args": "touch touched", "shell": True}

#: What a result may name instead of its mechanism.
MECHANISMS: dict[str, Body] = {
    "a shell": {"name": "subprocess:Popen", "parameters": SHELL},
    "a function": {"name": "os:system", "parameters": {"command": "touch touched"}},
    "a thread": {"name": "threading:Thread", "parameters": {}},
    "a builtin": {"name": "builtins:exec", "parameters": {}},
    "a file": {"name": "canary.py:Thing", "parameters": {}},
    "a module": {"name": "canary:Thing", "parameters": {}},
    "a package": {"name": "canary.inner.most:Thing", "parameters": {}},
    "a bare name": {"name": "Thing", "parameters": {}},
    "a statistic's file": {"name": "PTarget", "parameters": {"sop": "canary.py:Thing"}},
    "a shell as a statistic": {"name": "PTarget", "parameters": {"sop": "subprocess:Popen"}},
    "a device": {"name": "/dev/tty:Thing", "parameters": {}},
    "a pipe": {"name": "pipe.py:Thing", "parameters": {}},
    "no name": {"name": ["canary.py:Thing"], "parameters": {}},
    "nothing": {"name": "", "parameters": {}},
    "a zero": {"name": "canary\0.py:Thing", "parameters": {}},
}

#: Those that can be imported without harm, and are no mechanism.
NO_MECHANISM = ("a shell", "a function", "a thread", "a builtin", "a shell as a statistic")

#: Where a result may say its network is.
FILES: dict[str, Any] = {
    "passwords": {"edges": "/etc/passwd"},
    "passwords as people": {"edges": "edges.csv", "nodes": "/etc/passwd"},
    "a pipe": {"edges": "pipe.csv"},
    "a link": {"edges": "link.csv"},
    "another folder": {"edges": "../outside.csv"},
    "a zero": {"edges": "e\0.csv"},
    "a number": {"edges": 3},
    "an unknown option": {"edges": "edges.csv", "command": "touch touched"},
}


def poisoned() -> Iterator[tuple[str, Body]]:
    for name, spec in MECHANISMS.items():
        body = result_of("sampled")
        body["claims"][0]["witness"]["mechanism"] = spec
        yield name, body
    for name, file in FILES.items():
        body = result_of("sampled")
        pair = body["claims"][0]["witness"]["pair"]
        pair["base"] = {key: pair["base"][key] for key in ("n", "seeds", "max_degree")}
        pair["base"]["file"] = body["context"]["network"] = file
        yield f"network: {name}", body
    body = result_of("checked")
    for check in body["checks"]:
        if check["witness"]:
            check["witness"]["specification"] = "canary.py:Thing"
    yield "a check's statistic", body


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """Replay and report each in a folder full of bait, with and without trust."""
    folder = tmp_path_factory.mktemp("safety")
    for name in ("canary.py", "mechanisms.py", "sops.py", "listed.py"):
        (folder / name).write_text(CANARY)
    (folder / "pyproject.toml").write_text('[tool.pdpaudit]\nmodules = ["listed"]\n')
    (folder / "edges.csv").write_text("secret,source\nvery,secret\n")
    (folder / "link.csv").symlink_to("/etc/passwd")
    for name in ("pipe.csv", "pipe.py"):
        os.mkfifo(folder / name)
    commands = {}
    for i, (name, body) in enumerate(poisoned()):
        (folder / f"{i}.json").write_text(json.dumps(sealed(body)))
        commands[f"replay {name}"] = ["replay", f"{i}.json", "--jobs", "1"]
        if name in NO_MECHANISM:
            commands[f"trust {name}"] = ["replay", f"{i}.json", "--jobs", "1", "--trust"]
        # A page takes long, and reads the result as Markdown does.
        page = "out.html" if i % 6 == 0 else "out.md"
        commands[f"report {name}"] = ["report", f"{i}.json", "-o", page]
    (folder / "commands.json").write_text(json.dumps([*commands.values()]))
    done = subprocess.run(
        [sys.executable, "-c", WATCH], cwd=folder, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    assert not (folder / "touched").exists()
    return dict(zip(commands, json.loads(done.stdout), strict=True))


NAMES = [*MECHANISMS, *(f"network: {name}" for name in FILES), "a check's statistic"]


@pytest.mark.parametrize("name", NAMES)
def test_a_replay_runs_nothing_and_reads_only_beside_the_result(
    name: str, watched: dict[str, list[Any]]
) -> None:
    status, out, err, seen = watched[f"replay {name}"]
    own = f"open {NAMES.index(name)}.json"
    assert {*seen} <= {own, "open edges.csv"}
    assert (status, err.count("\n")) == (2, 1)
    assert "secret" not in out + err
    assert "root:" not in out + err


@pytest.mark.parametrize("name", NAMES)
def test_a_report_opens_nothing_but_the_result(name: str, watched: dict[str, list[Any]]) -> None:
    status, _, err, seen = watched[f"report {name}"]
    assert status in (0, 2), err
    assert err.count("\n") <= 1
    own = f"open {NAMES.index(name)}.json"
    assert all(one == own or one.startswith(("open out.", "open .out.")) for one in seen)


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("a file", "canary.py"),
        ("a module", "canary.py"),
        ("a bare name", "./mechanisms.py"),
        ("a statistic's file", "canary.py"),
        ("a check's statistic", "canary.py"),
        ("a shell", "subprocess.py"),
    ],
)
def test_the_message_says_what_would_be_imported_and_how_to_trust_it(
    name: str, file: str, watched: dict[str, list[Any]]
) -> None:
    err = watched[f"replay {name}"][2]
    assert file in err
    assert "--trust" in err


@pytest.mark.parametrize("name", NO_MECHANISM)
def test_with_trust_what_is_no_mechanism_is_not_called(
    name: str, watched: dict[str, list[Any]]
) -> None:
    status, _, err, seen = watched[f"trust {name}"]
    assert (status, seen) == (2, [f"open {NAMES.index(name)}.json"])
    assert "nothing of it was called" in err


def test_no_more_runs_are_drawn_than_the_audit_could_have_taken() -> None:
    """One look of a file at 10^12 runs would keep a replay busy for good."""
    result = audit(lambda x, rng: x + rng.laplace(scale=0.2), epsilon=1, pairs=[(0, 1)], seed=1)
    body = json.loads(json.dumps(result.to_json()))
    witness = body["claims"][0]["witness"]
    assert Result.from_json(body, "r.json").violated
    witness["looks"] = [*witness["looks"], witness["samples"] + 1]
    with pytest.raises(InputError, match=r"looks is \[.*, not a list of at most 30,000 runs each"):
        Result.from_json(body, "r.json")
