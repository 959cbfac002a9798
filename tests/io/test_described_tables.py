"""Tables made from a description are read as described, or refused; never read wrong."""

from __future__ import annotations

import csv
import io
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from hypothesis import event, given, settings
from hypothesis import strategies as st

from pdpaudit.core.errors import InputError
from pdpaudit.io import read_network

MISSING = ["", "NA", "nan", "None", "null", "-", "#N/A", "#REF!", "unknown", "(null)"]
HEADERS = [
    ("source", "target"),
    ("case", "contact"),
    ("i", "j"),
    ("from_id", "to_id"),
    ("case_id", "infector"),
    None,
]


@dataclass(frozen=True)
class Description:
    """What is in a table: the oracle."""

    ties: list[tuple[str, str]]
    delimiter: str
    header: tuple[str, str] | None
    quoting: Literal[0, 1, 2, 3]
    weight: bool
    time: bool
    index: bool
    order: list[int]
    comments: bool
    repeated_header: bool
    encoding: str

    def text(self) -> str:
        """Return the file."""
        columns: list[tuple[str, list[str]]] = []
        one, other = self.header or ("", "")
        columns.append((one, [a for a, _ in self.ties]))
        columns.append((other, [b for _, b in self.ties]))
        if self.weight:
            columns.append(("weight", [f"{1 + i % 3}.5" for i in range(len(self.ties))]))
        if self.time:
            columns.append(("date", [f"2020-03-{1 + i % 28:02}" for i in range(len(self.ties))]))
        columns = [columns[i] for i in self.order if i < len(columns)]
        if self.index:
            columns.insert(0, ("", [str(i) for i in range(len(self.ties))]))
        out = io.StringIO()
        writer = csv.writer(
            out, delimiter=self.delimiter, lineterminator="\n", quoting=self.quoting
        )
        rows = [list(row) for row in zip(*(values for _, values in columns), strict=True)]
        head = [name for name, _ in columns]
        if self.header:
            writer.writerow(head)
        for i, row in enumerate(rows):
            if self.repeated_header and self.header and i == len(rows) // 2 > 0:
                writer.writerow(head)
            writer.writerow(row)
        text = out.getvalue()
        if self.comments:
            text = "# made by hand, of some data\n" + text
        return text


@st.composite
def descriptions(draw: st.DrawFn) -> Description:
    people = draw(
        st.sampled_from(
            [
                ["ann", "bob", "cy", "dan"],
                ["101", "102", "103", "204"],
                ["1", "2", "3", "4"],
                ["Lee, Ann", "Fox, Bob", 'Jo "J" Day', "O'Neil; Cy"],
                ["#1", "%2", "#3", "x4"],
            ]
        )
    )
    person = st.sampled_from(people)
    end = st.one_of(person, person, person, person, st.sampled_from(MISSING))
    first = (people[0], people[1])
    ties = [first, *draw(st.lists(st.tuples(end, end), min_size=1, max_size=12))]
    return Description(
        ties=ties,
        delimiter=draw(st.sampled_from([",", ";", "\t", "|"])),
        header=draw(st.sampled_from(HEADERS)),
        quoting=draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])),
        weight=draw(st.booleans()),
        time=draw(st.booleans()),
        index=draw(st.booleans()),
        order=draw(st.permutations(range(4))),
        comments=draw(st.booleans()),
        repeated_header=draw(st.booleans()),
        encoding=draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"])),
    )


@given(descriptions())
@settings(max_examples=3 * settings().max_examples, deadline=None)
def test_read_right_or_refused(described: Description) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "edges.csv")
        path.write_bytes(described.text().encode(described.encoding))
        try:
            reading = read_network(
                path, plant=lambda adjacency, names: np.arange(len(names)) == 0, names=True
            )
        except InputError:
            event("refused")
            return
    event("read")
    network = reading.network
    found = {
        frozenset((network.name(i), network.name(int(j))))
        for i in range(network.n)
        for j in network.neighbours(i)
    }
    whole = [(a, b) for a, b in described.ties if a not in MISSING and b not in MISSING]
    assert found == {frozenset(tie) for tie in whole if tie[0] != tie[1]}
    people = {name for tie in described.ties for name in tie if name not in MISSING}
    assert set(network.names) == people
    gaps = len(described.ties) - len(whole)
    if all(set(tie) != {""} for tie in described.ties):
        assert (f"{gaps} row" in reading.summary) == (gaps > 0)
