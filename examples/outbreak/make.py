"""Make the line list and the contacts of a small outbreak: ``python make.py`` writes both files.

Households, workplaces and a few chance meetings; the infection passes along them for six
generations. Nobody in it is real. The files are as untidy as such files are: outcomes in three
spellings, cases that nobody tested, a tie that was entered twice, contacts nobody could name, one
person who met herself.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

#: People, of a household and of a workplace, and chance meetings.
PEOPLE, HOUSEHOLD, WORKPLACE, MEETINGS = 160, 4, 10, 60

#: Probability that an infected person passes it on to one contact in one generation.
PASSED_ON = 0.25

#: Share of the infected who were tested, and so are in the line list.
TESTED = 0.6

SPELLINGS = ("confirmed", "Confirmed", " CONFIRMED")
SETTINGS = {"household": "home", "workplace": "work", "meeting": "other"}


def contacts(rng: np.random.Generator) -> list[tuple[int, int, str]]:
    """Return who met whom, and where; each pair once."""
    found: dict[tuple[int, int], str] = {}
    for size, kind in ((HOUSEHOLD, "household"), (WORKPLACE, "workplace")):
        people = np.arange(PEOPLE) if kind == "household" else rng.permutation(PEOPLE)
        for group in np.array_split(people, PEOPLE // size):
            for place, one in enumerate(group):
                for other in group[place + 1 :]:
                    if kind == "household" or rng.random() < 0.3:
                        found.setdefault((min(one, other), max(one, other)), SETTINGS[kind])
    for _ in range(MEETINGS):
        one, other = rng.choice(PEOPLE, 2, replace=False)
        found.setdefault((min(one, other), max(one, other)), SETTINGS["meeting"])
    return [(int(one), int(other), where) for (one, other), where in sorted(found.items())]


def infected(ties: list[tuple[int, int, str]], rng: np.random.Generator) -> dict[int, int]:
    """Return who was infected, and in which generation."""
    around: dict[int, list[int]] = {}
    for one, other, _ in ties:
        around.setdefault(one, []).append(other)
        around.setdefault(other, []).append(one)
    since = {max(around, key=lambda person: len(around[person])): 0}
    for generation in range(1, 7):
        for person in [one for one, then in since.items() if then == generation - 1]:
            for other in around[person]:
                if other not in since and rng.random() < PASSED_ON:
                    since[other] = generation
    return since


def main(folder: Path) -> None:
    """Write ``linelist.csv``, the cases, and ``contacts.csv``, who met whom."""
    rng = np.random.default_rng(20)
    ties = contacts(rng)
    cases = infected(ties, rng)
    with (folder / "linelist.csv").open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["case_id", "onset", "outcome"])
        tested = [one for one in sorted(cases.items()) if rng.random() < TESTED]
        for number, (person, generation) in enumerate(tested):
            onset = f"2026-03-{2 + 4 * generation:02d}"
            rows.writerow([name(person), onset, SPELLINGS[number % len(SPELLINGS)]])
    with (folder / "contacts.csv").open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["case", "contact", "setting"])
        for number, (one, other, where) in enumerate(ties):
            rows.writerow([name(one), name(other), where])
            if number % 90 == 40:
                rows.writerow([name(one), name(other), where])
            if number % 90 == 70:
                rows.writerow([name(one), "NA", where])
        rows.writerow([name(7), name(7), "other"])


def name(person: int) -> str:
    """Return what the files call a person."""
    return f"P{person:03d}"


if __name__ == "__main__":
    main(Path(__file__).parent)
