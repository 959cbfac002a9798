"""Edge lists of every dialect: separators, headers, comments, weights, repeated rows."""

import codecs
import gzip
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from pdpaudit.core.errors import InputError
from pdpaudit.io import Reading, read_network

# What is read is seen by the names, which are kept out by default (test_pseudonyms.py).
read_network = partial(read_network, names=True)


def first_only(adjacency, names):
    mask = np.zeros(adjacency.shape[0], dtype=bool)
    mask[0] = True
    return mask


def read(tmp_path: Path, content: str | bytes, name: str = "edges.txt", **options) -> Reading:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_network(path, plant=first_only, **options)


def edges(reading: Reading) -> set[frozenset[str]]:
    network = reading.network
    return {
        frozenset((network.name(i), network.name(j)))
        for i in range(network.n)
        for j in network.neighbours(i).tolist()
    }


def pairs(*texts: str) -> set[frozenset[str]]:
    return {frozenset(text.split("-")) for text in texts}


@pytest.mark.parametrize(
    "content",
    [
        "a,b\nb,c\n",
        "a;b\nb;c\n",
        "a\tb\nb\tc\n",
        "a b\nb c\n",
        "  a   b\n\tb \t c  \n",
        "a , b\n b,c\n",
        '"a","b"\n"b","c"\n',
        '"a", "b"\n"b", "c"\n',
        '"a" "b"\n"b" "c"\n',
        "a,b\r\nb,c\r\n",
        "a,b\rb,c\r",
        "a,b\n\n   \nb,c",
        '# about, this\na,b\n  % and that "\nb,c\n#end',
        "a,b\r# about\rb,c",
        "source,target\na,b\nb,c\n",
        "Target;Source\na;b\nb;c\n",
        "from to\na b\nb c\n",
        '"FromNodeId"\t"ToNodeId"\na\tb\nb\tc\n',
        "source id,target id\na,b\nb,c\n",
        "a,b,3\nb,c,0.5\n",
        "name,who,times\na,b,3\nb,c,0.5\n",
        "source,target,weight\na,b,3\nb,c,1e-3\n",
        "Id,Source,Target,Type,Weight\n1,a,b,Undirected,2\n2,b,c,Undirected,3\n",
        '"source" "target" "weight"\n"1" "a" "b" 1\n"2" "b" "c" 4\n',
        ",source,target\n0,a,b\n1,b,c\n",
        "a,b,\nb,c,\n",
        "https://example.org/page.html\na b\nb c\n",
    ],
)
def test_two_edges_however_they_are_written(tmp_path, content):
    reading = read(tmp_path, content)
    assert edges(reading) == pairs("a-b", "b-c")
    assert sorted(reading.network.names) == ["a", "b", "c"]


@pytest.mark.parametrize(
    "encode",
    [
        lambda text: text.encode(),
        lambda text: codecs.BOM_UTF8 + text.encode(),
        lambda text: text.encode("utf-16"),
        lambda text: gzip.compress(text.encode()),
        lambda text: gzip.compress(text[:5].encode()) + gzip.compress(text[5:].encode()),
        lambda text: gzip.compress(codecs.BOM_UTF8 + text.encode()),
    ],
)
def test_encodings_are_told_from_the_bytes(tmp_path, encode):
    reading = read(tmp_path, encode("Zoë,Łukasz\nŁukasz,李\n"), name="edges.dat")
    assert edges(reading) == pairs("Zoë-Łukasz", "Łukasz-李")


def test_windows_text_is_read_and_said_aloud(tmp_path):
    reading = read(tmp_path, "Zoë,10 € Bill\n".encode("cp1252"))
    assert edges(reading) == pairs("Zoë-10 € Bill")
    assert any("Windows-1252" in note for note in reading.notes)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("Bob #2", "Bob #2"),
        ("100%", "100%"),
        ('"#1"', "#1"),
        ('"Doe, Jane"', "Doe, Jane"),
        ('"Jane ""JD"" Doe"', 'Jane "JD" Doe'),
        ('5" disk', '5" disk'),
        ("Mam'selle", "Mam'selle"),
        ('" kept "', "kept"),
        ("007", "007"),
        ("nan", "nan"),
        ("bell\x07", "bell\x07"),
        ("a\u2028b\x0bc\x85d", "a\u2028b\x0bc\x85d"),
    ],
)
def test_names_are_kept_as_they_are(tmp_path, written, name):
    content = f"source,target\nx,y\n{written},y\nx,{written}\n"
    assert edges(read(tmp_path, content, keep_missing=True)) == {
        frozenset(("x", "y")),
        frozenset((name, "y")),
        frozenset((name, "x")),
    }


def test_vertices_come_in_order_of_appearance(tmp_path):
    assert read(tmp_path, "9,5\n7,5\n100,9\n").network.names == ("9", "5", "7", "100")


def test_what_is_dropped_is_counted_once_each(tmp_path):
    content = "s,t,weight\na,b,1\nb,a,2\na,b,1\nc,c,1\nd,e,0\nd,a,1\n,,\n,,\n"
    reading = read(tmp_path, content, source_column="s", target_column="t", min_weight=2.0)
    assert edges(reading) == pairs("a-b")
    assert reading.summary.splitlines()[0] == (
        "5 vertices (3 without ties), 1 edge; dropped 1 self-loop, 2 duplicates, 1 below min "
        "weight, 1 zero-weight, 2 blank rows"
    )


def test_min_weight_is_compared_with_the_heaviest_row_of_a_pair(tmp_path):
    # Together a and b weigh 4, but a tie listed from both sides must not count double.
    content = "a,b,2\nb,a,2\nb,c,3\nc,b,1\n"
    assert edges(read(tmp_path, content, min_weight=3.0)) == pairs("b-c")
    assert edges(read(tmp_path, content, min_weight=2.0)) == pairs("a-b", "b-c")


def test_a_tie_listed_with_and_without_weight_zero_is_a_tie(tmp_path):
    assert edges(read(tmp_path, "a b 0\nb a 1\nc a 0\n")) == pairs("a-b")


def test_size_line_is_no_edge(tmp_path):
    reading = read(tmp_path, "5 3\n1 2\n2 3\n3 5\n")
    assert edges(reading) == pairs("1-2", "2-3", "3-5")
    assert any("first line taken as a header" in note for note in reading.notes)


@pytest.mark.parametrize("content", ["5 2\n1 2\n2 3\n3 5\n", "2 3\n1 2\n1 3\n2 5\n"])
def test_first_edge_that_is_no_size_line_is_kept(tmp_path, content):
    first = "-".join(content.split("\n")[0].split())
    assert pairs(first) <= edges(read(tmp_path, content))


def test_header_with_another_number_of_columns(tmp_path):
    reading = read(tmp_path, "81306,1342310,u,graph\n1,2\n1,3\n")
    assert edges(reading) == pairs("1-2", "1-3")
    assert any("first line taken as a header" in note for note in reading.notes)


def test_words_above_numbers_are_a_header(tmp_path):
    assert edges(read(tmp_path, "Person,Friend\n1,2\n2,3\n")) == pairs("1-2", "2-3")


def test_an_unknown_header_of_words_is_read_as_an_edge_and_said_aloud(tmp_path):
    reading = read(tmp_path, "Teacher,Pupil\nAnn,Bob\nBob,Cy\n")
    assert pairs("Teacher-Pupil") <= edges(reading)
    assert any("first line read as an edge" in note for note in reading.notes)
    named = read(
        tmp_path,
        "Teacher,Pupil\nAnn,Bob\nBob,Cy\n",
        source_column="Teacher",
        target_column="Pupil",
    )
    assert edges(named) == pairs("Ann-Bob", "Bob-Cy")


def test_columns_by_name_and_by_number(tmp_path):
    content = "op,ID,Tie_ID,score\nx,a,b,1\ny,b,c,0\n"
    by_name = {"source_column": "ID", "target_column": "tie_id"}
    assert edges(read(tmp_path, content, **by_name)) == pairs("a-b", "b-c")
    assert edges(read(tmp_path, content, **by_name, weight_column="score")) == pairs("a-b")
    numbers = {"source_column": "2", "target_column": "3", "weight_column": "4"}
    assert edges(read(tmp_path, content.split("\n", 1)[1], **numbers)) == pairs("a-b")


def test_weight_column_not_recognised_is_said_aloud(tmp_path):
    reading = read(tmp_path, "source,target,year\na,b,0\nb,c,1\n")
    assert edges(reading) == pairs("a-b", "b-c")
    assert any("'year'" in note and "`weight_column`" in note for note in reading.notes)


def test_comments_do_not_shift_the_line_an_error_names(tmp_path):
    content = "# one\n\na,b,1\r\n% two\nb,c,x\n"
    with pytest.raises(InputError, match=r"edges.txt, line 5: weight 'x' is not a number"):
        read(tmp_path, content)


def test_reversed_and_repeated_edges_of_a_large_file(tmp_path):
    rng = np.random.default_rng(0)
    ends = rng.integers(0, 3000, (20_000, 2))
    text = "".join(f"person number {a},{b}\n" for a, b in ends)
    network = read(tmp_path, text).network
    expected = {frozenset((f"person number {a}", str(b))) for a, b in ends.tolist()}
    assert network.edges == len(expected)
    assert network.n == len({name for pair in expected for name in pair})
