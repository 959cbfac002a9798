"""The distinct fields of columns, whether they hold numbers, words or both, and in parts."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pdpaudit.io import table
from pdpaudit.io.source import Source
from pdpaudit.io.table import read_table

NUMBERS = st.sampled_from(["0", "7", "12", "9223372036854775807", "9223372036854775808"])
ZEROS = NUMBERS | st.sampled_from(["007", "00"])
FIELDS = ZEROS | st.sampled_from(["+7", "-7", "7.0", "a", "\u0667", "NA", "1_000"])


@pytest.fixture(params=[3_000, 2, 1])
def parts(request, monkeypatch):
    """Read so many rows at a time."""
    monkeypatch.setattr(table, "_ROWS", request.param)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.sampled_from([NUMBERS, ZEROS, FIELDS]).flatmap(
        lambda fields: st.lists(st.tuples(fields, fields), min_size=1, max_size=9)
    ),
    separator=st.sampled_from([",", "\t", " "]),
    header=st.booleans(),
    columns=st.sampled_from([[0, 1], [1, 0], [1]]),
)
def test_fields_are_numbered_as_they_appear(parts, rows, separator, header, columns):
    lines = [("from", "to")] * header + rows
    text = "".join(separator.join(line) + "\n" for line in lines)
    read = read_table(Source(Path("edges"), text.encode()), header=False)
    codes, values, first = read.factorize(columns, int(header))
    fields = [[row[column] for column in columns] for row in rows]
    seen = list(dict.fromkeys(field for row in fields for field in row))
    assert values == seen
    assert [[values[code] for code in row] for row in codes.tolist()] == fields
    where = [next(i for i, row in enumerate(fields) if value in row) for value in seen]
    assert first.tolist() == [row + header for row in where]
