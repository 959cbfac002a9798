"""People of a network read from files are named nowhere unless names are asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from pdpaudit.results.files import load

from .conftest import Run

BANNER = "This report names people and their contacts"

#: Tokens that occur in nothing else that is printed.
NAMES = ["Quagga", "Okapi", "Bongo", "Fossa", "Dhole", "Kinkajou"]
EDGES = "Okapi,Quagga\nQuagga,Bongo\nBongo,Fossa\nFossa,Okapi\nDhole,Quagga\nKinkajou,Bongo\n"
LABELS = ["protected", "target", "protected", "target", "target", "protected"]

MINE = """
from pdpaudit.core.protocols import PrivacyClaim


class Popular:
    claim = PrivacyClaim(0.0)

    def run(self, instance, rng):
        ranked = sorted(instance.graph, key=instance.graph.degree, reverse=True)
        return tuple(v for v in ranked if instance.oracle(v))


def contacts(graph, vertex, targets):
    return float(len(graph[vertex]))


contacts.sensitivity = lambda d: 0
contacts.impact_cardinality = lambda d: 1
"""

OF = ("--edges", "theirs.csv", "--nodes", "people.csv")
SEEDED = ("--seed", "1", "--jobs", "1", "--json", "out.json")
COMMANDS = {
    "exact": ("audit", "PTarget:main-text", *OF),
    "exposure": ("audit", "PTarget:repaired", *OF, "--exposure"),
    "sampled": ("audit", "mine.py:Popular", *OF, "--samples", "500", "--seeds", "Fossa;Okapi"),
    "observed": ("audit", "SFS", *OF, "--observe", "queries", "--samples", "200"),
    "simulated": ("simulate", "PTarget:repaired", *OF, "--runs", "5", "--seeds", "Dhole"),
    "infected": (
        *("simulate", "PTarget:repaired", "--edges", "theirs.csv", "--runs", "5"),
        *("--infect", "0.9,0.1,1", "--infect-from", "Bongo"),
    ),
    "checked": ("check", "mine.py:contacts", *OF, "--select", "own-network", "--max-vertices", "3"),
}


#: A command of each kind that names people.
KINDS = ("sampled", "simulated", "checked")


@pytest.fixture
def theirs(run: Run) -> Run:
    people = zip(NAMES, LABELS, strict=True)
    Path("theirs.csv").write_text(EDGES)
    Path("people.csv").write_text("id,label\n" + "".join(f"{n},{x}\n" for n, x in people))
    Path("mine.py").write_text(MINE)
    return run


def everything(run: Run, *arguments: str) -> dict[str, str]:
    """Return all that a command and the reports of its result put out, by where."""
    ran = run(*arguments, *SEEDED)
    assert ran.status in (0, 1), ran.err
    said = {"terminal": ran.out + ran.err, "json": Path("out.json").read_text()}
    for page in ("page.html", "page.md"):
        assert run("report", "out.json", "-o", page).status == 0
        said[page] = Path(page).read_text()
    return said


@pytest.mark.parametrize("command", COMMANDS)
def test_names_stand_nowhere_unless_they_are_asked_for(theirs: Run, command: str) -> None:
    for place, words in everything(theirs, *COMMANDS[command]).items():
        assert [name for name in NAMES if name in words] == [], place
        assert BANNER not in words, place


@pytest.mark.parametrize(
    "command",
    [pytest.param(name, marks=[] if name in KINDS else pytest.mark.slow) for name in COMMANDS],
)
def test_with_names_people_are_named_below_a_banner(theirs: Run, command: str) -> None:
    said = everything(theirs, *COMMANDS[command], "--names")
    assert any(name in words for name in NAMES for words in said.values())
    assert load(Path("out.json"))["context"]["names"] is True
    for place in ("terminal", "page.html", "page.md"):
        assert BANNER in said[place], place


def test_a_network_too_large_to_write_out_is_read_again_with_its_pseudonyms(
    theirs: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pdpaudit.results.pairs.INLINE_EDGES", 0)
    for more in ((), ("--names",)):
        said = everything(theirs, *COMMANDS["sampled"], *more)
        base = load(Path("out.json"))["claims"][0]["witness"]["pair"]["base"]
        assert base["file"]["seeds"] == ("Fossa;Okapi" if more else "person 3;person 1")
        ran = theirs("replay", "out.json", "--trust")
        assert (ran.status, "NOT REPRODUCED" in ran.out) == (0, False), ran.out + ran.err
        assert not any(name in ran.out for name in NAMES)
        assert ("--names" in said["page.md"]) == bool(more)


def test_what_a_report_says_to_run_gives_the_same_result(theirs: Run) -> None:
    said = everything(theirs, *COMMANDS["simulated"])["json"]
    assert '"seeds": "person 4"' in said
    again = [word if word != "Dhole" else "person 4" for word in COMMANDS["simulated"]]
    assert load(Path("out.json"))["context"] == _context(theirs, again)


def _context(run: Run, arguments: list[str]) -> object:
    run(*arguments, *SEEDED)
    return load(Path("out.json"))["context"]


def test_names_are_of_a_network_of_ones_own(theirs: Run) -> None:
    ran = theirs("audit", "SFS", "--names")
    assert ran.status == 2
    assert "--names" in ran.err
    assert "--edges" in ran.err


def test_an_audit_in_a_test_names_nobody_either(theirs: Run) -> None:
    from pdpaudit.io import read_network
    from pdpaudit.testing import AuditFailed, assert_private

    network = read_network(Path("theirs.csv"), nodes=Path("people.csv")).network
    with pytest.raises(AuditFailed) as failed:
        assert_private("mine.py:Popular", samples=500, networks=network)
    assert "person " in str(failed.value)
    assert not any(name in str(failed.value) for name in NAMES)


def test_networks_that_are_public_keep_their_names(theirs: Run) -> None:
    said = everything(theirs, "audit", "PTarget:main-text")
    assert "Myriel" in said["json"]
    assert BANNER not in said["terminal"] + said["page.html"]
