"""Numbering pieces of a buffer: equal to a dictionary, collisions of hashes included."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdpaudit.io import factorize
from pdpaudit.io.factorize import PADDING, factorize_spans


def numbered(pieces: list[bytes]) -> tuple[list[int], list[int]]:
    text = b",".join(pieces)
    ends = np.cumsum([len(piece) + 1 for piece in pieces], dtype=np.int64) - 1
    starts = ends - np.array([len(piece) for piece in pieces], dtype=np.int64)
    buffer = np.frombuffer(text + bytes(PADDING), dtype=np.uint8)
    codes, first = factorize_spans(buffer, starts, ends)
    return codes.tolist(), first.tolist()


def by_dictionary(pieces: list[bytes]) -> tuple[list[int], list[int]]:
    first: dict[bytes, int] = {}
    for place, piece in enumerate(pieces):
        first.setdefault(piece, place)
    order = {piece: code for code, piece in enumerate(first)}
    return [order[piece] for piece in pieces], list(first.values())


texts = st.text("ab\0", max_size=20).map(str.encode) | st.binary(max_size=3)


@given(st.lists(texts, min_size=1, max_size=30))
@settings(max_examples=200, deadline=None)
def test_like_a_dictionary(pieces):
    assert numbered(pieces) == by_dictionary(pieces)


@pytest.mark.parametrize("length", [7, 8, 9, 16, 17, 1000])
def test_pieces_that_differ_in_one_byte(length):
    pieces = [b"x" * length, *(b"x" * i + b"y" + b"x" * (length - i - 1) for i in range(length))]
    assert numbered(pieces * 2) == by_dictionary(pieces * 2)


def test_more_pieces_than_a_block(monkeypatch):
    monkeypatch.setattr(factorize, "_BLOCK", 4)
    pieces = [str(i % 7).encode() * (i % 3) for i in range(50)]
    assert numbered(pieces) == by_dictionary(pieces)


@pytest.mark.parametrize("kept_bits", [0, 3])
def test_collisions_do_not_join_pieces(monkeypatch, kept_bits):
    mask = np.uint64((1 << kept_bits) - 1)
    honest = factorize._mix
    monkeypatch.setattr(factorize, "_mix", lambda h, word: honest(h, word) & mask)
    pieces = [str(i % 40).encode() for i in range(200)]
    assert numbered(pieces) == by_dictionary(pieces)
