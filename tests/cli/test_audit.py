"""The audit command as a person meets it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import Run

pytestmark = pytest.mark.usefixtures("few_moves", "without_power")

ON_NETWORK = ("--edges", "edges.csv", "--nodes", "nodes.csv")


def test_what_is_read_is_shown_in_two_lines_and_the_seed_aloud(run: Run) -> None:
    ran = run("audit", "SFS", *ON_NETWORK, "--samples", "50", "--seed", "1")
    assert ran.status == 0
    lines = ran.out.splitlines()
    assert lines[0] == "pdpaudit audit SFS, seed 1"
    assert lines[1].startswith("5 vertices, 5 edges; dropped nothing")
    assert lines[2].startswith("3 targeted, 2 protected")
    assert "seed 'person 0'" in ran.out


def test_a_seed_is_drawn_and_printed_and_gives_the_same_again(run: Run) -> None:
    command = ("audit", "PTarget", *ON_NETWORK, "--samples", "500")
    first = run(*command)
    seed = re.search(r"seed (\d+)", first.out)
    assert seed is not None
    again = run(*command, "--seed", seed[1])
    assert again.out == first.out


def test_json_to_a_file_and_to_standard_output(run: Run) -> None:
    command = ("audit", "PTarget:main-text", *ON_NETWORK, "--samples", "500", "--seed", "2")
    assert run(*command, "--json", "out.json").status in (0, 1)
    ran = run(*command, "--json", "-")
    body, printed = json.loads(Path("out.json").read_text()), json.loads(ran.out)
    for one in (body, printed):
        del one["elapsed_s"], one["written"]
    assert body == printed
    assert body["format"] == "pdpaudit-result/1"
    assert body["command"] == "audit"
    assert set(body["claims"][0]) >= {
        "id",
        "statement",
        "source",
        "status",
        "claimed",
        "lower_bound",
        "exact",
        "confidence",
        "method",
        "event",
        "pair",
        "samples",
        "detectable_epsilon",
        "witness",
    }


def test_quiet_says_nothing(run: Run) -> None:
    ran = run("audit", "SFS", *ON_NETWORK, "--samples", "50", "--quiet")
    assert (ran.out, ran.err) == ("", "")


def test_a_violation_is_shown_in_words_and_replays(run: Run) -> None:
    ran = run("audit", "PTarget:main-text", "--seed", "1", "--json", "out.json")
    assert ran.status == 1
    shown = " ".join(ran.out.split())
    assert "violated" in shown
    assert re.search(r"rewiring .* from \{.*\} to \{.*\} makes '.*' [\d.]+ times as likely", shown)
    assert "the claim allows 2.7 times" in shown
    again = run("replay", "out.json")
    assert again.status == 0
    assert ": reproduced" in again.out


def test_sampled_counts_replay_to_the_last_one_and_tampering_shows(run: Run) -> None:
    command = ("audit", "PTarget", *ON_NETWORK, "--samples", "700", "--seed", "3")
    run(*command, "--json", "out.json")
    assert run("replay", "out.json").status == 0
    body = json.loads(Path("out.json").read_text())
    body["claims"][0]["event"]["inside"] += 1
    Path("out.json").write_text(json.dumps(body))
    ran = run("replay", "out.json")
    assert ran.status == 1
    assert "NOT REPRODUCED" in ran.out


def test_a_witness_that_is_no_pair_is_not_reproduced(run: Run) -> None:
    run("audit", "PTarget", *ON_NETWORK, "--samples", "200", "--seed", "3", "--json", "out.json")
    body = json.loads(Path("out.json").read_text())
    claim = body["claims"][0]
    claim["pair"]["vertex"] = claim["witness"]["pair"]["vertex"] = 0
    Path("out.json").write_text(json.dumps(body))
    ran = run("replay", "out.json")
    assert ran.status == 1
    assert "targeted" in ran.out


def test_samples_of_another_version_are_not_trusted(run: Run) -> None:
    run("audit", "PTarget", *ON_NETWORK, "--samples", "200", "--seed", "3", "--json", "out.json")
    body = json.loads(Path("out.json").read_text())
    body["versions"]["pdpaudit"] = "0.0.1"
    Path("out.json").write_text(json.dumps(body))
    ran = run("replay", "out.json")
    assert ran.status == 2
    assert "0.0.1" in ran.err


@pytest.mark.parametrize(
    ("content", "words"),
    [("", "not JSON"), ("[]", "not a pdpaudit-result/1"), ('{"format": "x"}', "not a pdpaudit")],
)
def test_replay_refuses_what_is_no_result(run: Run, content: str, words: str) -> None:
    Path("x.json").write_text(content)
    ran = run("replay", "x.json")
    assert ran.status == 2
    assert words in ran.err


def test_list_names_everything_and_where_it_comes_from(run: Run) -> None:
    ran = run("list")
    assert ran.status == 0
    for name in ("CN", "PTarget:main-text", "SFS", "swap", "pdpaudit.algorithms"):
        assert name in ran.out


def test_help_shows_every_option_and_an_example(run: Run) -> None:
    ran = run("audit", "--help")
    assert ran.status == 0
    for option in ("--epsilon", "--components", "--stop", "--sop", "--edges", "--samples"):
        assert option in ran.out
    assert "pdpaudit audit PTarget:main-text --seed 1" in " ".join(ran.out.split())


def test_both_ways_to_start_it_agree_and_workers_change_nothing(run: Run) -> None:
    """As processes of their own: the module and the script, with one worker and with two."""
    script = Path(sys.executable).with_name("pdpaudit")
    outputs = []
    few = ("--samples", "300", "--try", "3")
    command = ("audit", "PTarget", *ON_NETWORK, *few, "--seed", "7", "--jobs")
    for start, jobs in ([sys.executable, "-m", "pdpaudit"], "1"), ([str(script)], "2"):
        ran = subprocess.run(
            [*start, *command, jobs],
            capture_output=True,
            text=True,
            env={**os.environ, "COLUMNS": "80"},
            check=False,
        )
        assert ran.returncode in (0, 1), ran.stderr
        assert "\x1b" not in ran.stdout
        assert ran.stderr == ""
        outputs.append(ran.stdout)
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize(("mechanism", "status"), [("main-text", 1), ("repaired", 0)])
def test_a_real_network_gives_the_same_verdicts(
    run: Run, shared_data: Path, mechanism: str, status: int
) -> None:
    data = shared_data / "stlouis_crime"
    ran = run(
        "audit",
        f"PTarget:{mechanism}",
        "--seed",
        "1",
        "--edges",
        str(data / "edges.csv"),
        "--nodes",
        str(data / "nodes.csv"),
    )
    assert ran.status == status
    assert "870 vertices" in ran.out
    assert "44 components" in ran.out


LEAKY = """
from pdpaudit import PrivacyClaim

class Leaky:
    claim = PrivacyClaim(1.0)

    def __init__(self, limit=50, eps=1.0):
        self.limit, self.eps = limit, eps

    def pairs(self):
        return [("an age", [20, 70], [20, 30])]

    def run(self, ages, rng):
        if max(ages) > self.limit:
            return 1
        return rng.random() < 0.5
"""


def test_the_line_that_leaks_is_said_and_replayed(run: Run) -> None:
    Path("mine.py").write_text(LEAKY)
    few = ("--samples", "200", "--seed", "1", "--json", "out.json")
    ran = run("audit", "mine.py:Leaky", *few, "--explain")
    assert ran.status == 1
    shown = " ".join(ran.out.split())
    assert "first parts at mine.py:14, `if max(ages) > self.limit:`, in 100 of 100 runs" in shown
    assert "line 16, `return rng.random() < 0.5` (no call against random())" in shown
    body = json.loads(Path("out.json").read_text())
    assert body["claims"][0]["first_difference"]["places"][0]["line"] == 14
    again = run("replay", "out.json", "--trust")
    assert (again.status, "reproduced" in again.out) == (0, True)
    body["claims"][0]["first_difference"]["places"][0]["line"] = 3
    Path("out.json").write_text(json.dumps(body))
    assert "places.0.line is 3 on file, 14 now" in " ".join(
        run("replay", "out.json", "--trust").out.split()
    )
