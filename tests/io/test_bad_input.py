"""Whatever is wrong with a file is said in one line that names the place and the remedy."""

import gzip
import os
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpaudit.core.errors import InputError
from pdpaudit.io import read_network

# What is read is seen by the names, which are kept out by default (test_pseudonyms.py).
read_network = partial(read_network, names=True)

EDGES = "source,target,weight\nann,bob,1\nbob,cy,2\ncy,dan,1\n"
PEOPLE = "id,label\nann,target\nbob,other\ncy,target\ndan,other\n"


def first_only(adjacency, names):
    return np.arange(adjacency.shape[0]) < 1


def refuse(tmp_path: Path, *expected: str, edges=EDGES, people=None, name="edges.csv", **options):
    """Read, and check that the refusal is one line holding every expected piece."""
    path = tmp_path / name
    if edges is not None:
        path.write_bytes(edges if isinstance(edges, bytes) else edges.encode())
    if people is not None:
        options["nodes"] = tmp_path / "people.csv"
        options["nodes"].write_bytes(people if isinstance(people, bytes) else people.encode())
    else:
        options.setdefault("plant", first_only)
    with pytest.raises(InputError) as caught:
        read_network(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert "--" not in message
    for piece in expected:
        assert piece in message


def test_the_good_files_these_are_made_from_are_read(tmp_path):
    (tmp_path / "edges.csv").write_text(EDGES)
    (tmp_path / "people.csv").write_text(PEOPLE)
    network = read_network(tmp_path / "edges.csv", nodes=tmp_path / "people.csv").network
    assert (network.n, network.edges, network.targeted.sum()) == (4, 3, 2)


@pytest.mark.parametrize(
    ("edges", "why", "options"),
    [
        ("source,target\nann,ann\nbob,bob\n", "2 self-loops dropped; check that it is", {}),
        ("source,target\nann,\n,bob\nNA,cy\n", "3 rows with a missing end dropped; take", {}),
        ("source,target,weight\nann,bob,0\nbob,cy,0\n", "2 zero-weight dropped; name", {}),
        (EDGES, "3 below min weight dropped; give a smaller `min_weight`", {"min_weight": 3.0}),
        ("source,target,date\nann,bob,2020-01-01\nbob,cy,2020-01-02\n",
         "2 outside the time window dropped; give an earlier `since`", {"since": "2021-01-01"}),
        (",ann,bob,cy\nann,0,0,0\nbob,0,0,0\ncy,0,0,0\n", "holds no tie; check that it is", {}),
        ('{"nodes": [{"id": "ann"}, {"id": "bob"}], "links": []}', "holds no tie", {}),
        ('graph [ node [ id 0 label "ann" ] node [ id 1 label "bob" ] ]', "holds no tie", {}),
        ("*Vertices 2\n1 ann\n2 bob\n*Edges\n1 1\n", "1 self-loop dropped", {}),
        ("# nothing\n# more\n", "nothing but comments; give a file with rows", {}),
    ],
)  # fmt: skip
def test_a_file_of_which_no_tie_is_left_is_no_network(tmp_path, edges, why, options):
    refuse(tmp_path, "edges.csv: ", why, edges=edges, **options)
    refuse(tmp_path, "edges.csv: ", why, edges=edges, people=PEOPLE, **options)


def test_missing_file(tmp_path):
    refuse(tmp_path, "edges.csv: no such file", "check the path", edges=None)


def test_directory(tmp_path):
    (tmp_path / "edges.csv").mkdir()
    refuse(tmp_path, "is a directory", "name one of the files", edges=None)


def test_unreadable_file(tmp_path, monkeypatch):
    def denied(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pdpaudit.io.source.open_file", denied)
    refuse(tmp_path, "not readable", "permissions")


@pytest.mark.skipif(os.name == "nt", reason="no such device")
def test_file_that_fails_while_being_read(tmp_path):
    refuse(tmp_path, "cannot be read", edges=None, name="e" * 300)


@pytest.mark.parametrize("content", ["", "\n \n\t\n", gzip.compress(b"", mtime=0)])
def test_empty_file(tmp_path, content):
    refuse(tmp_path, "edges.csv: is empty", edges=content)


def test_nothing_but_comments(tmp_path):
    refuse(tmp_path, "nothing but comments", edges="# a\n% b\n")


def test_nothing_but_blank_rows(tmp_path):
    refuse(tmp_path, "nothing but blank rows", edges=",,\n,,\n")


def test_header_and_no_edges(tmp_path):
    refuse(tmp_path, "a header and no edges", edges="source,target\n")


@pytest.mark.parametrize(
    "content",
    [bytes(range(256)) * 4, b"\x89PNG\r\n\x1a\n\x00\x00", b"a,b\n\x01\x02\xff\xfe,c\n"],
)
def test_binary_junk(tmp_path, content):
    refuse(tmp_path, "is not text", edges=content)


def test_neither_utf8_nor_windows(tmp_path):
    refuse(tmp_path, "save it as UTF-8", edges=b"a\x81,b\nc\x8d\xff,d\n")


def test_damaged_utf16(tmp_path):
    refuse(tmp_path, "damaged UTF-16", edges="a,b\n".encode("utf-16") + b"x")


@pytest.mark.parametrize(
    ("magic", "what"), [(b"PK\x03\x04", "zip"), (b"BZh9", "bzip2"), (b"\xfd7zXZ\x00", "xz")]
)
def test_packed_otherwise(tmp_path, magic, what):
    refuse(tmp_path, what, "gzip", edges=magic + b"\x00" * 20)


def test_truncated_gzip(tmp_path):
    refuse(tmp_path, "gzip data end too early", edges=gzip.compress(EDGES.encode())[:-12])


def test_damaged_gzip(tmp_path):
    data = bytearray(gzip.compress(EDGES.encode() * 50))
    data[-6] ^= 0xFF
    refuse(tmp_path, "damaged gzip data", edges=bytes(data))


def test_line_with_one_column(tmp_path):
    edges = EDGES.replace("bob,cy,2", "bob")
    refuse(tmp_path, "edges.csv, line 3: 1 column where the other lines have 3", edges=edges)


@pytest.mark.parametrize("separator", [",", "\t", " ", ";"])
def test_line_with_one_column_in_any_dialect(tmp_path, separator):
    edges = "# c\na,b\nb,c\nc\nd,a\n".replace(",", separator)
    refuse(tmp_path, "edges.csv, line 4: 1 column where the other lines have 2", edges=edges)


def test_every_line_with_one_column(tmp_path):
    refuse(tmp_path, "no line has two columns", "'ann'", edges="ann\nbob\n")


def test_line_with_a_column_too_many(tmp_path):
    edges = EDGES.replace("bob,cy", "Doe, Bob,cy")
    refuse(tmp_path, "line 3: 4 columns where the other lines have 3", "quote", edges=edges)


def test_empty_end(tmp_path):
    refuse(
        tmp_path,
        "line 3: an end of the edge is empty",
        edges=EDGES.replace("bob,cy", ",cy"),
        keep_missing=True,
    )


def test_quote_that_is_never_closed(tmp_path):
    refuse(tmp_path, "line 3", "close the quotes", edges=EDGES.replace("bob,cy", '"bob,cy'))


def test_quoted_name_over_several_lines(tmp_path):
    edges = EDGES.replace("bob,cy", '"bo\nb",cy')
    refuse(tmp_path, "line 3: the quoted name 'bo\\nb' runs over several lines", edges=edges)


def test_weight_that_is_no_number(tmp_path):
    refuse(
        tmp_path,
        "edges.csv, line 3: weight 'two' is not a number",
        edges=EDGES.replace("cy,2", "cy,two"),
    )


@pytest.mark.parametrize("weight", ["", "nan", "1,5", "1_000", "True"])
def test_weight_that_is_no_number_otherwise(tmp_path, weight):
    edges = EDGES.replace(",", ";").replace("cy;2", f"cy;{weight}")
    missing = weight in ("", "nan")
    said = "the weight is missing" if missing else f"weight '{weight}' is not a number"
    refuse(tmp_path, f"line 3: {said}", edges=edges)


@pytest.mark.parametrize("weight", ["-1", "inf"])
def test_weight_that_is_negative_or_infinite(tmp_path, weight):
    refuse(tmp_path, "line 3: weight", "not negative", edges=EDGES.replace("cy,2", f"cy,{weight}"))


def test_weight_that_no_float_holds(tmp_path):
    # Infinite to some versions of pandas, no number to others.
    refuse(tmp_path, "line 3: weight", edges=EDGES.replace("cy,2", "cy,1e999"))


def test_line_numbers_when_quotes_are_in_the_middle_of_names(tmp_path):
    edges = '# c\nsource,target,weight\n\n5" disk,b,1\nb,c,x\n'
    refuse(tmp_path, "line 5: weight 'x'", edges=edges)
    refuse(tmp_path, "line 5: weight 'x'", edges=edges.replace(",", " ").replace('5" disk', '5"'))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_min_weight_that_is_not_finite(tmp_path, value):
    refuse(tmp_path, "min_weight", "not a finite number", min_weight=value)


def test_min_weight_without_weights(tmp_path):
    refuse(tmp_path, "`min_weight`", "`weight_column`", edges="a,b\nb,c\n", min_weight=1.0)


def test_columns_that_are_not_there(tmp_path):
    refuse(
        tmp_path,
        "no column 'sorce' (`source_column`)",
        "did you mean 'source'",
        "'source', 'target', 'weight'",
        source_column="sorce",
        target_column="target",
    )
    refuse(tmp_path, "no column 'calls' (`weight_column`)", weight_column="calls")


def test_columns_named_by_halves_or_twice(tmp_path):
    refuse(tmp_path, "go together", source_column="source")
    refuse(tmp_path, "name two columns", source_column="source", target_column="Source")
    refuse(tmp_path, "is an end", weight_column="target")
    refuse(
        tmp_path,
        "2 columns are called 'who'",
        edges="who,who,x\na,b,1\n",
        source_column="who",
        target_column="x",
    )


def test_many_columns_and_no_clue(tmp_path):
    edges = "Operation,ID,Tie_ID,Year\n1,a,b,1999\n2,b,c,2000\n"
    refuse(tmp_path, "4 columns", "`source_column`", "'Operation', 'ID'", edges=edges)


def test_third_column_of_words(tmp_path):
    refuse(tmp_path, "third not a weight", "`source_column`", edges="a,likes,b\nb,likes,c\n")


def test_nodes_file_in_place_of_edges(tmp_path):
    refuse(tmp_path, "looks like a nodes file", edges=PEOPLE)


def test_neither_nodes_nor_infection(tmp_path):
    refuse(tmp_path, "`nodes`", "`plant`", plant=None)


def test_unknown_vertex(tmp_path):
    refuse(
        tmp_path,
        "edges.csv, line 4: vertex 'dan' is not in",
        "people.csv",
        "add the person",
        people=PEOPLE.replace("dan", "eve"),
    )


def test_nodes_file_without_header(tmp_path):
    people = PEOPLE.split("\n", 1)[1]
    refuse(tmp_path, "no column 'label'", "'ann', 'target'", people=people)
    refuse(
        tmp_path,
        "vertex 'ann' is not in",
        "header line",
        people="ann\nbob\ncy\ndan\n",
        plant=first_only,
    )


def test_ids_that_do_not_match(tmp_path):
    people = "id,name,label\n1,ann,target\n2,bob,other\n3,cy,other\n4,dan,other\n"
    refuse(tmp_path, "none of its ids ('1', …)", "'ann'", "`id_column`", people=people)


def test_label_column_not_there(tmp_path):
    refuse(
        tmp_path,
        "people.csv: no column 'role' (`label_column`); the columns are 'id', 'label'",
        people=PEOPLE,
        label_column="role",
    )


def test_id_column_not_there(tmp_path):
    refuse(tmp_path, "no column 'who' (`id_column`)", people=PEOPLE, id_column="who")


def test_targeted_value_never_occurs(tmp_path):
    refuse(
        tmp_path,
        "no label is 'suspect'",
        "'target' (2), 'other' (2)",
        "`targeted_value`",
        people=PEOPLE,
        targeted_value="suspect",
    )


def test_all_targeted(tmp_path):
    refuse(tmp_path, "every label is 'target'", people=PEOPLE.replace("other", "target"))


def test_nobody_planted(tmp_path):
    refuse(tmp_path, "no targeted vertex", plant=lambda a, names: np.zeros(a.shape[0], dtype=bool))


def test_missing_label(tmp_path):
    refuse(tmp_path, "people.csv, line 4: the label", people=PEOPLE.replace("cy,target", "cy,"))


def test_empty_id(tmp_path):
    refuse(tmp_path, "people.csv, line 4: the id is empty", people=PEOPLE.replace("cy,", ","))


def test_one_person_with_two_labels(tmp_path):
    people = PEOPLE + "ann,other\n"
    refuse(tmp_path, "line 6: 'ann' is labelled otherwise than on line 2", people=people)


def test_nodes_file_with_a_header_alone(tmp_path):
    refuse(tmp_path, "a header and no rows", people="id,label\n")


def test_header_longer_than_the_rows(tmp_path):
    refuse(tmp_path, "the header names 3 columns", people="id,label,x\nann,target\nbob,other\n")


def test_unknown_seed(tmp_path):
    refuse(tmp_path, "'Ann' is not a vertex", "'ann'", people=PEOPLE, seeds=["Ann"])
    refuse(tmp_path, "check the spelling", people=PEOPLE, seeds=["zzz"])


def test_protected_seed(tmp_path):
    refuse(tmp_path, "seed 'bob' is protected", "`seeds`", people=PEOPLE, seeds=["ann", "bob"])


def test_no_seed(tmp_path):
    refuse(tmp_path, "no seed", people=PEOPLE, seeds=[])


@pytest.mark.parametrize("suffix", ["gml", "graphml", "gexf"])
def test_graph_file_that_is_none(tmp_path, suffix):
    refuse(tmp_path, "and is none", edges=EDGES, name=f"edges.{suffix}")


BOMB = (
    '<?xml version="1.0"?><!DOCTYPE {root} [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>'
    "<{root}><graph><nodes><node id='&b;'/></nodes></graph></{root}>"
)
OUTSIDE = '<!DOCTYPE {root} SYSTEM "file:///etc/passwd"><{root}/>'


@pytest.mark.parametrize("root", ["gexf", "graphml"])
@pytest.mark.parametrize("content", [BOMB, OUTSIDE, "<!-- x -->\n" + OUTSIDE])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_xml_with_entities(tmp_path, root, content, encoding):
    refuse(tmp_path, "DOCTYPE", "not followed", edges=content.format(root=root).encode(encoding))


def test_doctype_hidden_by_a_declared_encoding(tmp_path):
    hidden = '<?xml version="1.0" encoding="utf-7"?>+ADwAIQ-DOCTYPE gexf+AD4-<gexf/>'
    refuse(tmp_path, "damaged XML", edges=hidden)


@pytest.mark.parametrize(
    ("content", "piece"),
    [
        ("<gexf><graph", "GEXF"),
        ("<svg><body/></svg>", "'svg'"),
        ("<!-- nothing -->", "XML"),
        ("<graphml><graph><edge source='a'/></graph></graphml>", "node 'a' is an end of an edge"),
        (
            "<graphml><graph><node id='a'/><edge source='a'/></graph></graphml>",
            "None cannot be a node",
        ),
        ("<graphml><graph><node id='a'/><node id='a'/></graph></graphml>", "'a' is listed twice"),
        (
            "<gexf><graph><nodes><node id='a'/></nodes><edges><edge source='a' target='b'/>"
            "</edges></graph></gexf>",
            "node 'b' is an end of an edge",
        ),
        ("<gexf xmlns='http://www.gexf.net/1.2draft'/>", "GEXF"),
        ("graph [ node [ id 1 ] node [ id 1 ] ]", "GML"),
        ("graph [ node [ id 1 ", "GML"),
        ("graph [ node [ id 1 ] edge [ source 1 target 2 ] ]", "GML"),
        ("graph " + "[ a " * 100_000, "nested too deeply"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 x 3\n", "Matrix Market"),
        ("%%MatrixMarket matrix coordinate real general\n2 3 1\n1 3 3\n", "square"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 -3\n", "entry (1, 2): weight"),
        ("%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 2 3 1\n", "complex"),
        ("%%MatrixMarket matrix coordinate real general\n2000000000 2000000000 0\n", "at most"),
        ("*Vertices 3\n1 a\n2 b\n", "Pajek"),
        ("*Vertices 2\n*Edges\n1 2\n*Vertices 2\n", "a second network"),
        ("*Vertices 2\n*Matrix\n0 1\n1\n", "line 4: 1 numbers in one of 2 rows"),
        ("*Vertices 2\n1 a\n2 b\n*Edges\n1 3\n", "2 vertices are announced and 3 found"),
        ("*Vertices 3 1\n1 a\n2 b\n3 c\n*Edges\n1 2\n", "one number of vertices"),
        ("*Vertices 2\n1 a\n2 b\n*Arcslist\n1 2\n", "*arcslist is not read"),
    ],
)
def test_damaged_graph_files(tmp_path, content, piece):
    refuse(tmp_path, piece, edges=content, name="network")


def test_deeply_nested_xml_is_survived(tmp_path):
    deep = "<gexf xmlns='http://www.gexf.net/1.2draft'>" + "<a>" * 50_000 + "</a>" * 50_000
    refuse(tmp_path, "GEXF", edges=deep + "</gexf>", name="network")


def test_options_of_edge_lists_do_not_apply_to_graph_files(tmp_path):
    gml = "graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] ]"
    refuse(tmp_path, "no columns", edges=gml, source_column="a", target_column="b")
    refuse(tmp_path, "no edge has 'calls'", edges=gml, weight_column="calls")
    matrix = "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n"
    refuse(tmp_path, "no columns", edges=matrix, weight_column="calls")
    refuse(tmp_path, "`min_weight`", edges=matrix, min_weight=1)


def test_weight_of_a_graph_file_that_is_no_number(tmp_path):
    gml = 'graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 weight "x" ] ]'
    refuse(tmp_path, "edge '1' - '2': weight 'x' is not a number", edges=gml)


def test_vertex_without_label_in_a_graph_file(tmp_path):
    gml = 'graph [ node [ id 1 role "target" ] node [ id 2 ] edge [ source 1 target 2 ] ]'
    refuse(tmp_path, "vertex '2' has no 'role'", edges=gml, plant=None, label_column="role")
    refuse(tmp_path, "`label_column`: 'role'", edges=gml, plant=None, label_column="rle")


@pytest.mark.parametrize("broken", ['"7,8', '7,"8', '7"",8"""'])
def test_a_quote_left_open_is_found_however_much_follows(tmp_path, broken):
    lines = [f"{v},{v + 1}" for v in range(30_000)]
    lines[123] = broken
    edges = "source,target\n" + "\n".join(lines)
    if broken.startswith('7"'):  # quotes within a name that begins without one are part of it
        (tmp_path / "edges.csv").write_text(edges)
        assert read_network(tmp_path / "edges.csv", plant=first_only).network.n == 30_003
        return
    refuse(tmp_path, "line 125: ", "close the quotes", edges=edges)


def test_a_name_longer_than_csv_takes_is_a_name(tmp_path):
    (tmp_path / "edges.csv").write_text(f'"{"x" * 200_000}",bob\nbob,"cy"\n')
    assert read_network(tmp_path / "edges.csv", plant=first_only).network.n == 3


@pytest.mark.parametrize(("head", "third"), [("author1,author2,author3", "author3"),
                                             ("name_a,name_b,name_c", "namec")])  # fmt: skip
def test_more_than_two_people_in_a_line_are_refused(tmp_path, head, third):
    edges = f"{head}\nann,bob,cy\nbob,cy,dan\n"
    refuse(tmp_path, f"columns up to '{third}' are numbered", "`source_column`", edges=edges)
    (tmp_path / "edges.csv").write_text(edges)
    one, other, _ = head.split(",")
    options = {"source_column": one, "target_column": other, "plant": first_only}
    assert read_network(tmp_path / "edges.csv", **options).network.edges == 2


@given(st.sets(st.integers(0, 98), max_size=6), st.booleans())
def test_words_among_whole_numbers_are_pointed_at(places, few):
    """At most three among a hundred names, by the line on which the first stands."""
    size = 50 if few else 200
    lines = [f"{v},{v + 1}" for v in range(size)]
    words = sorted(places)
    for place in words:
        lines[place % size] = f"x{place},{place}"
    wrong = {place % size for place in words}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "edges.csv")
        path.write_text("source,target\n" + "\n".join(lines))
        notes = read_network(path, plant=first_only).notes
    said = [note for note in notes if "no whole number, as the others are" in note]
    assert len(said) == (not few and 0 < len(places) <= 3)
    if said:
        assert f"line {2 + min(wrong)}: " in said[0]
