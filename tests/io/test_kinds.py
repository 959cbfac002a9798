"""Kinds of files as people have them: what each holds, worked out by hand, or why it is refused."""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pdpaudit.core.errors import InputError
from pdpaudit.io import Reading, read_network


@dataclass(frozen=True)
class Kind:
    """A file, beside a people table or with the first person planted, and its right reading."""

    edges: str
    ties: str = ""  # "a-b b-c"
    people: str = ""
    targeted: str = ""
    alone: str = ""  # people without ties
    dropped: str = "nothing"
    says: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    name: str = "edges.csv"
    options: dict[str, object] = field(default_factory=dict)


def read(folder: Path, kind: Kind) -> Reading:
    path = folder / kind.name
    data = kind.edges.encode()
    path.write_bytes(gzip.compress(data) if kind.name.endswith(".gz") else data)
    options: dict[str, Any] = dict(kind.options)
    if kind.people:
        options["nodes"] = folder / "people.csv"
        options["nodes"].write_text(kind.people)
    elif "label_column" not in options:
        options["plant"] = lambda adjacency, names: np.arange(len(names)) == 0
    return read_network(path, names=True, **options)


def check(folder: Path, kind: Kind) -> None:
    if kind.refused:
        with pytest.raises(InputError) as caught:
            read(folder, kind)
        message = str(caught.value)
        assert "\n" not in message
        for piece in kind.refused:
            assert piece in message
        return
    reading = read(folder, kind)
    network = reading.network
    found = {
        frozenset((network.name(i), network.name(int(j))))
        for i in range(network.n)
        for j in network.neighbours(i)
    }
    ties = {frozenset(pair.split("-")) for pair in kind.ties.split()}
    assert found == ties
    assert sorted(network.names) == sorted({*kind.alone.split(), *(p for tie in ties for p in tie)})
    if kind.targeted:
        assert {network.name(int(v)) for v in network.targeted.nonzero()[0]} == set(
            kind.targeted.split()
        )
    assert reading.summary.split("\n")[0].endswith(f"; dropped {kind.dropped}")
    for piece in kind.says:
        assert any(piece in note for note in reading.notes), reading.notes


CASES = "case_id,label\n1,target\n4,other\n5,other\n2,other\n"

ENDS = {
    "names above an id": Kind("contact_id,case,contact\n1,1,4\n2,1,5\n", "1-4 1-5"),
    "i and j after a time": Kind(
        "t,i,j\n20,101,102\n40,101,103\n", "101-102 101-103", says=("time 't'",)
    ),
    "a date first": Kind("date,case,contact\n2020-03-01,ann,bob\n", "ann-bob"),
    "a date first, no header": Kind(
        "2020-03-01,ann,bob\n2020-03-02,bob,cy\n", "ann-bob bob-cy", says=("columns 2 and 3",)
    ),
    "a time first, no header": Kind(
        "20 101 102\n20 102 103\n40 103 101\n40 102 104\n", "101-102 102-103 103-101 102-104"
    ),
    "an only row of three numbers": Kind(
        "20 101 102\n", refused=("columns 1 and 2 or columns 2 and 3", "--source-column")
    ),
    "a number of the row, no header": Kind(
        "1,1,4\n2,1,5\n", refused=("columns 1 and 2 or columns 2 and 3",)
    ),
    "the same beside people": Kind(
        "1,1,4\n2,1,5\n3,2,5\n",
        "1-4 1-5 2-5",
        CASES,
        targeted="1",
        options={"source_column": "2", "target_column": "3"},
    ),
    "people decide": Kind(
        "x,y,z\n100,1,4\n101,1,5\n",
        "1-4 1-5",
        CASES,
        targeted="1",
        alone="2",
    ),
    "an index that pandas wrote": Kind(",a,b\n0,ann,bob\n1,bob,cy\n", "ann-bob bob-cy"),
    "an index above numbers": Kind(",a,b\n0,7,8\n1,8,9\n", "7-8 8-9"),
    "row names that R wrote": Kind(
        '"source" "target"\n"1" "ann" "bob"\n"2" "bob" "cy"\n', "ann-bob bob-cy"
    ),
    "infector and infectee": Kind(
        "onset,infectee,infector\n3,b,a\n4,c,b\n", "a-b b-c", says=("'infector'",)
    ),
    "Neo4j": Kind(
        ":START_ID(Person),:END_ID(Person),:TYPE,weight:int\n1,2,KNOWS,3\n2,3,KNOWS,1\n",
        "1-2",
        alone="3",
        dropped="1 below min weight",
        options={"min_weight": 2.0},
    ),
    "caller and callee": Kind("call,caller,callee,secs\n9,a,b,1\n8,b,c,2\n", "a-b b-c"),
    "two pairs of names": Kind(
        "source,target,from,to\na,b,c,d\n", refused=("columns 1 and 2 or columns 3 and 4",)
    ),
    "weights, no header": Kind(
        "11 12 1\n12 13 2\n13 14 5\n14 11 2\n", "11-12 12-13 13-14 14-11", says=("the weight",)
    ),
    "a time last, no header": Kind(
        "11 12 0\n12 13 20\n13 14 40\n14 11 60\n", "11-12 12-13 13-14 14-11", says=("a time",)
    ),
    "a word, a number, a number": Kind("ann,17,3\nbob,18,4\n", refused=("--source-column",)),
}

PEOPLE = {
    "R's row names": Kind(
        "source,target\n7,8\n8,9\n",
        "7-8 8-9",
        '"","case_id","outcome"\n"1","7","died"\n"2","8","lives"\n"3","9","lives"\n',
        targeted="7",
        says=("ids are column 'case_id'",),
        options={"label_column": "outcome", "targeted_value": "died"},
    ),
    "row names among the ids": Kind(
        "source,target\n1,2\n2,3\n",
        "1-2 2-3",
        '"","case_id","label"\n"1","3","target"\n"2","1","other"\n"3","2","other"\n',
        targeted="3",
    ),
    "the column that matches": Kind(
        "source,target\nann,bob\n",
        "ann-bob",
        "n,who,label\n5,ann,target\n6,bob,other\n",
        targeted="ann",
        says=("ids are column 'who'",),
    ),
    "Neo4j": Kind(
        ":START_ID,:END_ID\n1,2\n",
        "1-2",
        "name:string,personId:ID(Person),:LABEL\nAnn,1,target\nBob,2,other\n",
        targeted="1",
    ),
    "only cases": Kind(
        "source,target\nann,bob\nbob,cy\n",
        refused=("edges.csv, line 2: vertex 'bob' is not in", "--unlisted protected"),
        people="id,label\nann,target\n",
    ),
    "only cases, the others protected": Kind(
        "source,target\nann,bob\nbob,cy\n",
        "ann-bob bob-cy",
        "id,label\nann,target\n",
        targeted="ann",
        says=("2 people in no row",),
        options={"unlisted": "protected"},
    ),
    "no label": Kind(
        "source,target\nann,bob\nbob,cy\n",
        refused=("people.csv, line 3: the label is missing", "--unlisted protected"),
        people="id,label\nann,target\nbob,NA\ncy,other\n",
    ),
    "no label, so protected": Kind(
        "source,target\nann,bob\nbob,cy\n",
        "ann-bob bob-cy",
        "id,label\nann,target\nbob,NA\ncy,\n",
        targeted="ann",
        says=("2 people without a label",),
        options={"unlisted": "protected"},
    ),
}

ROWS = {
    "ids that begin with a mark": Kind(
        "source,target\n#1,ann\n%2,#1\nbob,cy\n",
        "#1-ann %2-#1 bob-cy",
        says=("2 rows that begin with # or %", "line 2, 3"),
    ),
    "all ids begin with a mark": Kind("#1,#2\n#2,#3\n", "#1-#2 #2-#3"),
    "comments": Kind(
        "# made, today\nsource,target\na,b\n# half\nb,c\n",
        "a-b b-c",
        says=("2 lines that begin with # or % skipped", "line 1, 4"),
    ),
    "a header behind a mark": Kind("#source,target\na,b\n", "a-b"),
    "a comment or a row": Kind(
        "#ann,bob\ncy,dan\n", refused=("line 1: may be a comment or a row",)
    ),
    "missing ends": Kind(
        "source,target\nNA,ann\nbob,nan\nNone,null\n-,cy\n,dan\neve,\nfay,gus\n",
        "fay-gus",
        alone="ann bob cy dan eve",
        dropped="6 rows with a missing end",
        says=("--keep-missing",),
    ),
    "names that look missing": Kind(
        "source,target\nNA,ann\nNull,NA\n", "NA-ann Null-NA", options={"keep_missing": True}
    ),
    "commas in names": Kind(
        "source,target\nLee, Ann,Fox, Bob\nFox, Bob,Day, Cy\n",
        refused=("line 2: 4 columns where the header has 2",),
    ),
    "one comma in names": Kind(
        "source,target\nLee, Ann,Bob\nFox, Cy,Bob\n",
        refused=("line 2: 3 columns where the header has 2",),
    ),
    "whole numbers as floats": Kind(
        "source,target\n1,2.0\n2,3.0\n3,\n",
        "1-2 2-3",
        dropped="1 row with a missing end",
        says=("2 whole numbers written like 2.0",),
    ),
    "a power of ten": Kind("source,target\n99999,1e+05\n100000,7\n", "99999-100000 100000-7"),
    "sep=;": Kind('sep=;\nsource;target\n"a,b";c\nc;d\n', "a,b-c c-d"),
    "a title": Kind("Contacts 2020,,\nsource,target,n\na,b,1\nb,c,2\n", "a-b b-c"),
    "a title without separators": Kind("Contacts\nsource,target\na,b\nb,c\n", "a-b b-c"),
    "a repeated header": Kind(
        "source,target\na,b\nsource,target\nb,c\n", "a-b b-c", dropped="1 repeated header"
    ),
    "contacts counted": Kind(
        "t,i,j\n1,a,b\n2,b,a\n3,b,c\n",
        "a-b",
        alone="c",
        dropped="1 duplicate, 1 below min weight",
        options={"count_contacts": True, "min_weight": 2.0},
    ),
    "a window of numbers": Kind(
        "t,i,j\n1,a,b\n2,b,c\n3,c,d\n",
        "b-c",
        alone="a d",
        dropped="2 outside the time window",
        options={"since": "2", "until": "2"},
    ),
    "a window of days": Kind(
        "date,case,contact\n2020-03-01,a,b\n2020-03-02 23:59,b,c\n2020-03-03,c,d\n",
        "a-b b-c",
        alone="d",
        dropped="1 outside the time window",
        options={"until": "2020-03-02"},
    ),
    "a window without times": Kind(
        "source,target\na,b\n", refused=("--time-column",), options={"since": "1"}
    ),
}


@pytest.mark.parametrize("kind", ENDS.values(), ids=ENDS)
def test_which_columns_are_the_ends(tmp_path: Path, kind: Kind) -> None:
    check(tmp_path, kind)


@pytest.mark.parametrize("kind", PEOPLE.values(), ids=PEOPLE)
def test_which_column_names_the_person(tmp_path: Path, kind: Kind) -> None:
    check(tmp_path, kind)


@pytest.mark.parametrize("kind", ROWS.values(), ids=ROWS)
def test_what_is_a_row(tmp_path: Path, kind: Kind) -> None:
    check(tmp_path, kind)


def test_quotes_behind_a_backslash(tmp_path: Path) -> None:
    text = 'source,target\n"Ann \\"Nick\\" Lee",bob\nbob,"Cy \\"C\\""\n'
    assert read(tmp_path, Kind(text)).network.names == ('Ann "Nick" Lee', "bob", 'Cy "C"')
