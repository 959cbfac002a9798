"""Kinds of files as people have them: what each holds, worked out by hand, or why it is refused."""

from __future__ import annotations

import gzip
import pickle
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
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
        assert "--" not in message
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
        "20 101 102\n", refused=("columns 1 and 2 or columns 2 and 3", "`source_column`")
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
    "a word, a number, a number": Kind("ann,17,3\nbob,18,4\n", refused=("`source_column`",)),
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
        refused=("edges.csv, line 2: vertex 'bob' is not in", "`unlisted` protected"),
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
        refused=("people.csv, line 3: the label is missing", "`unlisted` protected"),
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
        says=("`keep_missing`",),
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
        "source,target\na,b\n", refused=("`time_column`",), options={"since": "1"}
    ),
}


GRAPHML = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns{}">{}</graphml>'
GEXF = '<gexf xmlns="{}" version="1.3"><graph>{}</graph></gexf>'
TRIO = '<node id="a"/><node id="b"/><node id="c"/>'

FORMATS = {
    "GraphML, two graphs": Kind(
        GRAPHML.format("", f'<graph>{TRIO}</graph><graph><node id="d"/></graph>'),
        refused=("holds 2 graphs",),
    ),
    "GraphML, nested": Kind(
        GRAPHML.format("", '<graph><node id="a"><graph><node id="b"/></graph></node></graph>'),
        refused=("holds 2 graphs",),
    ),
    "GraphML, defaults and a blank in the namespace": Kind(
        GRAPHML.format(
            " ",
            '<key id="k" for="node" attr.name="label" attr.type="string">'
            "<default>other</default></key>"
            '<graph edgedefault="directed"><node id="a"><data key="k">target</data></node>'
            '<node id="b"/><node id="c"/><edge source="a" target="b"/>'
            '<edge source="b" target="c" directed="false"/></graph>',
        ),
        "a-b b-c",
        targeted="a",
        options={"label_column": "label"},
    ),
    "GraphML of APOC": Kind(
        GRAPHML.format(
            "",
            '<key id="name" for="node" attr.name="name"/><graph edgedefault="directed">'
            '<node id="n0" labels=":P"><data key="labels">:P</data><data key="name">Ann</data>'
            '</node><node id="n1"><data key="labels">:Q</data><data key="name">Bob</data></node>'
            '<edge id="e0" source="n0" target="n1" label="KNOWS">'
            '<data key="label">KNOWS</data></edge></graph>',
        ),
        "Ann-Bob",
        targeted="Ann",
        options={"label_column": "labels", "targeted_value": ":P"},
    ),
    "GEXF of Gephi 0.9": Kind(
        GEXF.format(
            "http://www.gexf.net/1.3",
            '<attributes class="node"><attribute id="0" title="xs" type="listdouble"/>'
            '<attribute id="1" title="role" type="string"><default>no</default></attribute>'
            '</attributes><nodes><node id="1" label="Ann"><attvalues><attvalue for="0" '
            'value="[1.0, 2.0]"/><attvalue for="1" value="yes"/></attvalues></node>'
            '<node id="2" label="Bob"/></nodes><edges><edge source="1" target="2"/></edges>',
        ),
        "Ann-Bob",
        targeted="Ann",
        options={"label_column": "role", "targeted_value": "yes"},
    ),
    "GML, a repeated edge and igraph's names": Kind(
        'graph [ node [ id 0 name "Ann" ] node [ id 1 name "Bob" ] edge [ source 0 target 1 ] '
        "edge [ source 0 target 1 ] ]",
        "Ann-Bob",
        dropped="1 duplicate",
    ),
    "Pajek, no lines of vertices": Kind("*Vertices 3\n*Edges\n1 2\n", "1-2", alone="3"),
    "Pajek, several relations": Kind(
        '*Vertices 3\n1 "a"\n2 "b"\n3 "c"\n*Arcs :1 "likes"\n1 2\n*Arcs :2 "knows"\n2 3\n',
        "a-b b-c",
    ),
    "Pajek, a matrix": Kind("*Vertices 3\n*Matrix\n0 1 0\n1 0 1\n0 1 0\n", "1-2 2-3"),
    "Pajek, repeated labels": Kind(
        '*Vertices 3\n1 "a"\n2 "a"\n3 "b"\n*Edges\n1 2\n2 3\n', "1-2 2-3", says=("repeat",)
    ),
    "Pajek, a project": Kind(
        "*Network n\n*Vertices 3\n1 a\n2 b\n3 c\n*Edges\n1 2\n"
        "*Partition sex\n*Vertices 3\n1\n2\n2\n",
        "a-b",
        alone="c",
        targeted="a",
        options={"label_column": "sex", "targeted_value": "1"},
    ),
    "Pajek, a partition beside it": Kind(
        "*Vertices 3\n1 a\n2 b\n3 c\n*Edges\n1 2\n2 3\n",
        "a-b b-c",
        "*Vertices 3\n2\n1\n2\n",
        targeted="b",
        options={"targeted_value": "1"},
    ),
    "TGF": Kind("1 Ann\n2 Bob\n3 Cy\n#\n1 2 knows\n2 3\n", "Ann-Bob Bob-Cy"),
    "GDF": Kind(
        "nodedef>name VARCHAR,label VARCHAR\na,target\nb,no\nc,no\n"
        "edgedef>node1 VARCHAR,node2 VARCHAR,weight DOUBLE\na,b,2.0\nb,c,1.0\n",
        "a-b",
        alone="c",
        targeted="a",
        dropped="1 below min weight",
        options={"label_column": "label", "min_weight": 2.0},
    ),
    "LGL": Kind("# ann\nbob 3\ncy 2\n# bob\ncy 1\n", "ann-bob ann-cy bob-cy", name="a.lgl"),
    "an adjacency list": Kind("a b c\nb c\nd\n", "a-b a-c b-c", alone="d", name="a.adjlist"),
    "an adjacency list of networkx": Kind(
        "#x.py\n# GMT Sat Nov 28 2026\n#\na b c\nb d\nc\nd\n", "a-b a-c b-d", name="a.txt"
    ),
    "an edge list of networkx": Kind("a b {}\nb c {'weight': 0.5}\n", "a-b b-c", name="a.txt"),
    "JSON of networkx": Kind(
        '{"directed": false, "nodes": [{"id": 1, "role": "x"}, {"id": 2, "role": "y"}], '
        '"edges": [{"source": 1, "target": 2}]}',
        "1-2",
        targeted="1",
        options={"label_column": "role", "targeted_value": "x"},
    ),
    "JSON of d3": Kind(
        '{"nodes": [{"name": "ann"}, {"name": "bob"}], "links": [{"source": 0, "target": 1}]}',
        "ann-bob",
    ),
    "JSON of Cytoscape": Kind(
        '{"elements": {"nodes": [{"data": {"id": "a"}}, {"data": {"id": "b"}}], '
        '"edges": [{"data": {"source": "a", "target": "b"}}]}}',
        "a-b",
    ),
    "JSON of something else": Kind('[{"a": 1}]', refused=("JSON without lists of nodes",)),
    "UCINET's matrix as CSV": Kind(
        "\ufeff,ann,bob,cy\nann,0,1,0\nbob,1,0,1\ncy,0,1,0\n", "ann-bob bob-cy"
    ),
    "a matrix without names": Kind(
        "0 1 0 0\n1 0 1 0\n0 1 0 1\n0 0 1 0\n", "1-2 2-3 3-4", says=("adjacency matrix",)
    ),
    "three rows of three numbers": Kind(
        "0 1 0\n1 0 1\n0 1 0\n", refused=("three edges with weights or the matrix",)
    ),
    "UCINET DL, a matrix": Kind(
        "dl n=3 format=fullmatrix\nlabels:\nann,bob,cy\ndata:\n0 1 0\n1 0 1\n0 1 0\n",
        "ann-bob bob-cy",
    ),
    "UCINET DL, an edge list": Kind(
        "DL n = 3\nformat = edgelist1\nlabels embedded\ndata:\nann bob 2\nbob cy\n",
        "ann-bob bob-cy",
    ),
    "UCINET DL, a node list": Kind(
        "dl n=4, format=nodelist1\ndata:\n1 2 3\n2 3\n", "1-2 1-3 2-3", alone="4"
    ),
    "UCINET DL, two matrices": Kind(
        "dl n=2 nm=2\ndata:\n0 1\n1 0\n", refused=("several matrices",)
    ),
}


@pytest.mark.parametrize("kind", FORMATS.values(), ids=FORMATS)
def test_graph_formats(tmp_path: Path, kind: Kind) -> None:
    check(tmp_path, kind)


FOREIGN = {
    "an R data file": gzip.compress(b"RDX3\nX\n\0\0"),
    "a graph6 file": b">>graph6<<DxC\n",
    "a graph-tool file": gzip.compress("⛾ gt".encode() + b"\x01\0"),
    "a Parquet file": b"PAR1\x15\x04",
    "an old Excel workbook": b"\xd0\xcf\x11\xe0\xa1\xb1",
    "a SQLite database": b"SQLite format 3\0",
}


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_of_networkx_are_refused(tmp_path: Path, protocol: int) -> None:
    path = tmp_path / "network.pickle"
    path.write_bytes(pickle.dumps(nx.karate_club_graph(), protocol=protocol))
    with pytest.raises(
        InputError, match=r"is a Python pickle, which could run code.*write_graphml"
    ):
        read_network(path)


@pytest.mark.parametrize("what", FOREIGN)
def test_files_of_other_programs_are_refused_by_name(tmp_path: Path, what: str) -> None:
    path = tmp_path / "network"
    path.write_bytes(FOREIGN[what])
    with pytest.raises(InputError, match=f"network: is {what}.*write it as text"):
        read_network(path)


def test_the_encoding_that_xml_declares(tmp_path: Path) -> None:
    text = (
        '<?xml version="1.0" encoding="ISO-8859-2"?>'
        + GRAPHML.format(
            "", '<graph><node id="Łukasz"/><node id="b"/><edge source="b" target="Łukasz"/></graph>'
        )
    ).encode("iso-8859-2")
    (tmp_path / "a.graphml").write_bytes(text)
    plant = lambda adjacency, names: np.arange(2) == 0  # noqa: E731
    assert read_network(tmp_path / "a.graphml", plant=plant).names == ("Łukasz", "b")


def test_a_workbook(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    path = tmp_path / "contacts.xlsx"
    pd.DataFrame({"t": [1, 2], "case": ["a", "b"], "contact": ["b", None]}).to_excel(
        path, index=False
    )
    plant = lambda adjacency, names: np.arange(2) == 0  # noqa: E731
    reading = read_network(path, plant=plant, names=True)
    assert reading.network.names == ("a", "b")
    assert reading.summary.startswith("2 vertices, 1 edge; dropped 1 row with a missing end")


@pytest.mark.parametrize("kind", ENDS.values(), ids=ENDS)
def test_which_columns_are_the_ends(tmp_path: Path, kind: Kind) -> None:
    check(tmp_path, kind)


@pytest.mark.parametrize("kind", PEOPLE.values(), ids=PEOPLE)
def test_which_column_names_the_person(tmp_path: Path, kind: Kind) -> None:
    check(tmp_path, kind)


@pytest.mark.parametrize("kind", ROWS.values(), ids=ROWS)
def test_what_is_a_row(tmp_path: Path, kind: Kind) -> None:
    check(tmp_path, kind)


PEOPLE_AND_TIES = "source,target\n7,8\n8,9\n"

EXPORTS = {
    "Stata, a point for a missing number": Kind(
        "caseid\tcontactid\tdcontact\n1\t2\t01mar2020\n2\t.\t02mar2020\n3\t1\t.\n",
        "1-2 1-3",
        dropped="1 row with a missing end",
    ),
    "a point among names": Kind("source,target\n.,ann\nann,bob\n", ".-ann ann-bob"),
    "SAS, numbered rows": Kind(
        "Obs,CASE_ID,CONTACT_ID\n1,10,11\n2,11,12\n", "10-11 11-12", says=("'CASE_ID'",)
    ),
    "a listing of SAS": Kind(
        "Obs    CASE    CONTACT\n\n  1   10   11\n  2   11   12\n", "10-11 11-12"
    ),
    "R, numbers as ids": Kind(
        '"","from","to","weight"\n"1",3,4,1\n"2",4,5,2\n"3",5,3,1\n', "3-4 4-5 3-5"
    ),
    "a line list with infectors": Kind(
        "case_id,age,infector_id\nC1,30,\nC2,41,C1\nC3,22,C1\nC4,50,C2\n",
        "C1-C2 C1-C3 C2-C4",
        dropped="1 row with a missing end",
    ),
    "infectors nobody knows": Kind(
        "case_id,infector\nC1,unknown\nC2,C1\nC3,Unknown\nC4,C2\n",
        "C1-C2 C2-C4",
        alone="C3",
        dropped="2 rows with a missing end",
    ),
    "infected by": Kind(
        "id,infected_by\n1,\n2,1\n3,1\n", "1-2 1-3", dropped="1 row with a missing end"
    ),
    "Go.Data": Kind(
        "Source Person ID,Contact ID,Date of last contact,Certainty level\n"
        "CASE-1,CON-1,2020-03-01,High\nCASE-1,CON-2,2020-03-02,Low\n".replace("-", "_"),
        "CASE_1-CON_1 CASE_1-CON_2",
    ),
    "Epi Info": Kind(
        "GlobalRecordId,CaseID,ContactID,DateContact\n{5F3A},C1,K1,3/1/2020 12:00:00 AM\n"
        "{5F3B},C2,K1,3/2/2020 12:00:00 AM\n",
        "C1-K1 K1-C2",
    ),
    "Gephi": Kind(
        "Source,Target,Type,Id,Label,Weight\n1,2,Undirected,0,,1.0\n2,3,Undirected,1,,2.0\n",
        "1-2 2-3",
        "Id,Label,timeset,modularity_class\n1,Ann,,0\n2,Bob,,1\n3,Cy,,1\n",
        targeted="2 3",
        options={"label_column": "modularity_class", "targeted_value": "1"},
    ),
    "Cytoscape's SIF": Kind("a\tpp\tb\nb\tpp\td\te\nf\n", "a-b b-d b-e", alone="f", name="a.sif"),
    "Neo4j's nodes and ties in one table": Kind(
        '"_id","_labels","name","_start","_end","_type"\n"0",":P","Ann",,,\n"1",":P","Bob",,,\n'
        ',,,"0","1","KNOWS"\n',
        "0-1",
        dropped="2 rows with a missing end",
    ),
    "empty fields of databases": Kind(
        "source,target\nann,\\N\nbob,(null)\ncy,[NULL]\nann,bob\n",
        "ann-bob",
        alone="cy",
        dropped="3 rows with a missing end",
    ),
    "errors of a spreadsheet": Kind(
        "source,target\nann,#REF!\nbob,#REF!\n#N/A,ann\nann,bob\n",
        "ann-bob",
        dropped="3 rows with a missing end",
    ),
    "ids a spreadsheet has rounded": Kind(
        "caller,callee\n1.23457E+11,1.23458E+11\n", refused=("1.23457E+11 have lost their last",)
    ),
    "decimal commas in ids": Kind("id1;id2\n1,0;2,0\n2,0;3,0\n", "1-2 2-3", says=("like 2.0",)),
    "decimal commas in weights": Kind(
        "source;target;weight\na;b;0,5\n", refused=("line 2: weight '0,5'", "take a point")
    ),
    "blanks that do not break": Kind(
        "source,target\nann\u00a0,bob\nann,cy\n", "ann-bob ann-cy", says=("cannot be seen",)
    ),
    "accents in two forms": Kind(
        "source,target\nJos\u00e9,bob\nJose\u0301,cy\n",
        "Jos\u00e9-bob Jos\u00e9-cy",
        says=("accents in one form",),
    ),
    "bars": Kind(
        "source|target\nLee,Ann|Fox,Bob\nFox,Bob|Day,Cy\n", "Lee,Ann-Fox,Bob Fox,Bob-Day,Cy"
    ),
    "a listing of psql": Kind(
        " source | target \n--------+--------\n a | b\n(1 row)\n", refused=("(bar-separated)",)
    ),
    "a table in Markdown": Kind(
        "| source | target |\n|---|---|\n| a | b |\n",
        "a-b",
        dropped="1 row with a missing end",
    ),
    "a line break in a note": Kind(
        'source,target,note,weight\na,b,"met\nat home",1\nb,c,"",x\n',
        refused=("line 4: weight 'x'",),
    ),
    "questions below the header": Kind(
        'source,target\n"Who are you?","Whom do you know?"\n1,2\n2,3\n3,1\n',
        refused=("line 2: words below the header",),
    ),
    "people for ties": Kind(
        "id,outcome\n1,died\n2,alive\n3,alive\n", refused=("looks like people", "`nodes`")
    ),
    "people and two answers for ties": Kind(
        "id,exposed,infected\n1,1,0\n2,1,1\n3,0,0\n", refused=("hold only 0 and 1",)
    ),
    "people and places for ties": Kind(
        "who,e1,e2\nann,1,0\nbob,1,1\n", refused=("third not a weight",)
    ),
    "labels 1 and 1.0": Kind(
        PEOPLE_AND_TIES,
        "7-8 8-9",
        "id,label\n7,1\n8,1.0\n9,0\n",
        targeted="7 8",
        options={"targeted_value": "1"},
    ),
    "leading zeros of whom nobody lists": Kind(
        PEOPLE_AND_TIES,
        people="id,label\n007,target\n8,o\n9,o\n",
        refused=("'7' is in no row", "'007' is"),
        options={"unlisted": "protected"},
    ),
    "another case of whom nobody lists": Kind(
        "source,target\nAnn,bob\nann,cy\n",
        people="id,label\nAnn,target\nbob,o\ncy,o\n",
        refused=("'ann' is in no row", "'Ann' is"),
        options={"unlisted": "protected"},
    ),
    "a day for a window of numbers": Kind(
        "t,i,j\n20,1,2\n40,2,3\n", refused=("times are numbers",), options={"since": "2020-03-01"}
    ),
    "a number for a window of days": Kind(
        "date,case,contact\n2020-03-01,a,b\n2020-03-02,b,c\n",
        refused=("times are dates",),
        options={"since": "20"},
    ),
    "a day for a window of seconds": Kind(
        "t,i,j\n1583020800,1,2\n1583107200,2,3\n",
        "2-3",
        alone="1",
        dropped="1 outside the time window",
        options={"since": "2020-03-02"},
    ),
    "a matrix in another order": Kind("id,a,b,c\nc,0,1,0\nb,1,0,1\na,0,1,0\n", "a-b b-c"),
    "a matrix without its diagonal": Kind("id,a,b,c\na,NA,1,0\nb,1,NA,1\nc,0,1,NA\n", "a-b b-c"),
    "JSON of vis.js": Kind(
        '{"nodes": [{"id": 1}, {"id": 2}], "edges": [{"from": 1, "to": 2}]}', "1-2"
    ),
    "JSON of sigma.js": Kind(
        '{"nodes": [{"key": "a"}, {"key": "b"}], "edges": [{"source": "a", "target": "b"}]}', "a-b"
    ),
    "Graphviz": Kind("graph G {\n  a -- b;\n}\n", refused=("a Graphviz file",)),
    "NetDraw": Kind("*Node data\nID gender\na m\n", refused=("a NetDraw VNA file",)),
    "DIMACS": Kind("c made\np edge 3 2\ne 1 2\ne 2 3\n", refused=("a DIMACS file",)),
    "Matlab": Kind("  (1,2)\t1\n  (2,3)\t1\n", refused=("a sparse matrix as Matlab",)),
    "a web page": Kind("<!DOCTYPE html><html><p>a</p></html>", refused=("is a web page",)),
    "an index before a missing end": Kind(
        "0,ann,bob\n1,ann,\n", "ann-bob", dropped="1 row with a missing end"
    ),
    "as many columns as rows": Kind(
        "0,101,102,1.5\n1,101,101,2.5\n2,101,103,3.5\n3,101,104,4.5\n", refused=("4 columns",)
    ),
    "a weight before missing ends": Kind(
        "101,1.5,102\n101,2.5,\n",
        "101-102",
        dropped="1 row with a missing end",
    ),
    "somebody unknown among numbers": Kind(
        "101,102,1.5\n101,101,2.5\n101,unknown,3.5\n",
        "101-102",
        dropped="1 self-loop, 1 row with a missing end",
    ),
    "marked names with commas": Kind(
        "#1,%2\n#1,#1\n%2,#1\n", "#1-%2", dropped="1 self-loop, 1 duplicate"
    ),
    "an index before alike numbers": Kind("0,1,2\n1,1,1\n", refused=("columns 2 and 3",)),
}


@pytest.mark.parametrize("kind", EXPORTS.values(), ids=EXPORTS)
def test_exports_of_other_programs(tmp_path: Path, kind: Kind) -> None:
    check(tmp_path, kind)


DOUBTS = {
    "a header once more in another case": Kind(
        "source,target\na,b\nSource,Target\nb,c\n", "a-b b-c", dropped="1 repeated header"
    ),
    "one number with zeros in front and without": Kind(
        "source,target\n1,2\n1.0,3\n01,4\n4,2\n",
        "1-2 1-3 01-4 4-2",
        says=("edges.csv, line 2: a name is that of another but for case",),
    ),
    "one name in two cases": Kind(
        "source,target\nAnn,bob\nann,cy\nbob,cy\n",
        "Ann-bob ann-cy bob-cy",
        says=("line 2: a name is that",),
    ),
    "people and events": Kind(
        "person,event\na,e1\nb,e1\nc,e2\n",
        "person-event a-e1 b-e1 c-e2",
        says=("no name is in both columns", "first line read as an edge"),
    ),
    "rows of a name and those it is tied to": Kind(
        "a,b,c\nb,d\nc,d\n", refused=("edges.csv, line 1", "3 columns that name no ends", "correct")
    ),
    "a first tie without its weight": Kind(
        "a,b\nb,c,2\nc,d,3\n", refused=("edges.csv, line 1", "2 columns that name no ends")
    ),
    "the size of a matrix above its entries": Kind(
        "3 3 2\n1 2\n2 3\n", "1-2 2-3", says=("how many vertices and edges follow",)
    ),
    "powers that are no numbers": Kind("1,²\n²,3\n", "1-² ²-3"),
    "sizes above ties with weights": Kind("3 2\n1 2 0.5\n2 3 4\n", "1-2 2-3", says=("how many",)),
    "tabs and blanks mixed": Kind("a\tb\nb c\nc \t d\n", "a-b b-c c-d"),
    "names of several words between tabs": Kind(
        "Ann Lee\tBob\nEd Fox\tGus\nCy Dee Fox\n", refused=("edges.csv, line 3", "1 column where")
    ),
    "everything that a spreadsheet and R add": Kind(
        '\ufeffsep=;\nContacts of 2020\n"";"from";"to"\r\n"1";"a";"b"\r\n"2";"b";"c"\r\n', "a-b b-c"
    ),
    "a null id": Kind(
        '{"nodes": [{"id": null}, {"id": 2}], "links": [{"source": null, "target": 2}]}',
        refused=("a node's id is null",),
    ),
    "a link to nobody": Kind(
        '{"nodes": [{"id": 1}, {"id": 2}], "links": [{"source": 1, "target": 3}]}',
        refused=("link '1' - '3'", "add the node"),
    ),
    "an id that a gap made a decimal": Kind(
        '{"nodes": [{"id": 1.0}, {"id": 2}], "links": [{"source": 1, "target": 2}]}', "1-2"
    ),
    "a weight of another name": Kind(
        '{"nodes": [{"id": 1}, {"id": 2}], "links": [{"source": 1, "target": 2, "value": 3}]}',
        "1-2",
        says=("no edge has a weight", "value"),
    ),
    "spells of Gephi": Kind(
        '<gexf xmlns="http://gexf.net/1.3"><graph><nodes><node id="0" label="Ann"><spells>'
        '<spell start="1"/></spells></node><node id="1" label="Bob"/></nodes><edges>'
        '<edge source="0" target="1"><spells><spell end="2"/></spells></edge></edges>'
        "</graph></gexf>",
        "Ann-Bob",
    ),
    "a PDF document": Kind("%PDF-1.4\n1 0 obj\n2 0 obj\n", refused=("a PDF document", "CSV")),
}


@pytest.mark.parametrize("kind", DOUBTS.values(), ids=DOUBTS)
def test_what_may_be_meant_otherwise_is_said_or_refused(tmp_path: Path, kind: Kind) -> None:
    check(tmp_path, kind)


def test_what_is_packed_twice_is_unpacked_twice(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv.gz"
    path.write_bytes(gzip.compress(gzip.compress(b"source,target\na,b\n")))
    reading = read_network(path, plant=lambda adjacency, names: np.arange(len(names)) == 0)
    assert reading.names == ("a", "b")


def test_quotes_behind_a_backslash(tmp_path: Path) -> None:
    text = 'source,target\n"Ann \\"Nick\\" Lee",bob\nbob,"Cy \\"C\\""\n'
    assert read(tmp_path, Kind(text)).network.names == ('Ann "Nick" Lee', "bob", 'Cy "C"')


def test_random_draws_depend_on_what_a_file_holds_and_not_on_its_name(tmp_path: Path) -> None:
    from pdpaudit.auditing.candidate_pairs import candidate_pairs

    def tried(name: str, more: str = "") -> list[list[int]]:
        rows = "".join(f"a{i},b{i % 7}\nb{i % 7},c{i}\n" for i in range(12)) + more
        network = read(tmp_path, Kind(rows, name=name)).network
        found = candidate_pairs(object(), [network], 1)
        return [one.pair.right_neighbours.tolist() for one in found if one.pair is not None]

    assert tried("one.csv") == tried("two.csv")
    assert tried("one.csv") != tried("two.csv", "c1,c2\n")


def test_words_of_people_who_are_listed_are_no_second_header(tmp_path: Path) -> None:
    """Those in the first tie are asked for: a header would not be among the people."""
    edges, people = tmp_path / "edges.csv", tmp_path / "people.csv"
    edges.write_text("source,target\nann,bob\n1,2\n2,3\n", encoding="utf-8")
    people.write_text(
        "id,label\nann,target\nbob,other\n1,other\n2,other\n3,other\n", encoding="utf-8"
    )
    network = read_network(edges, nodes=people).network
    assert (network.n, network.adjacency.nnz) == (5, 6)
    with pytest.raises(InputError, match="line 2: words below the header"):
        read_network(edges)
