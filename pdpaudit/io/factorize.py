"""Tell equal pieces of one buffer apart from different ones, millions at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

__all__ = ["PADDING", "factorize_spans"]

PADDING = 8
"""Bytes that must follow the last piece in the buffer, so that whole words can be read."""

_MASKS = np.array([(1 << 8 * kept) - 1 for kept in range(9)], dtype=np.uint64)
_BLOCK = 1 << 19

Words = npt.NDArray[np.uint64]
Spans = npt.NDArray[np.int64]


def factorize_spans(
    buffer: npt.NDArray[np.uint8], starts: Spans, ends: Spans
) -> tuple[npt.NDArray[np.int64], Spans]:
    """Give the distinct pieces ``buffer[start:end]`` numbers in order of first appearance.

    Pieces are hashed eight bytes at a time, the hashes numbered, and every piece then compared
    with the first one of its number, so that a collision of hashes cannot join two pieces.

    Parameters
    ----------
    buffer : ndarray of uint8
        The text, with at least ``PADDING`` bytes after the last piece.
    starts, ends : ndarray of int64, shape (m,)
        Where each piece starts and ends.

    Returns
    -------
    codes : ndarray of int64, shape (m,)
        The number of each piece.
    first : ndarray of int64, shape (distinct,)
        Which piece was the first of its number. O(total length) expected.

    Examples
    --------
    >>> text = np.frombuffer(b"ann,bob,ann" + bytes(PADDING), dtype=np.uint8)
    >>> codes, first = factorize_spans(text, np.array([0, 4, 8]), np.array([3, 7, 11]))
    >>> codes.tolist(), first.tolist()
    ([0, 1, 0], [0, 1])
    """
    # Every byte begins a word: a view of overlapping words saves gathering bytes one by one.
    words = np.ndarray((len(buffer) - 7,), dtype="<u8", buffer=buffer, strides=(1,))
    lengths = ends - starts
    hashes = np.empty(len(starts), dtype=np.uint64)
    for block in _blocks(len(starts)):
        hashes[block] = _hash(words, starts[block], lengths[block])
    codes, distinct = pd.factorize(hashes)
    first = np.empty(len(distinct), dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]  # the last assignment, the first piece, stays
    for block in _blocks(len(starts)):
        model = first[codes[block]]
        if not _equal(words, starts[block], lengths[block], starts[model], lengths[model]):
            return _factorize_slowly(buffer, starts, ends)
    return codes.astype(np.int64, copy=False), first


def _blocks(size: int) -> list[slice]:
    return [slice(start, start + _BLOCK) for start in range(0, size, _BLOCK)]


def _word(words: npt.NDArray[Any], starts: Spans, lengths: Spans, offset: int) -> Words:
    word: Words = words[starts + offset] & _MASKS[np.minimum(lengths - offset, 8)]
    return word


def _mix(hashes: Words, word: Words) -> Words:
    # Multiply and fold (Fibonacci hashing): the high half of a product depends on every bit.
    mixed = (hashes ^ word) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    return mixed


def _hash(words: npt.NDArray[Any], starts: Spans, lengths: Spans) -> Words:
    hashes = lengths.astype(np.uint64)
    active = np.flatnonzero(lengths)
    offset = 0
    while len(active):
        word = _word(words, starts[active], lengths[active], offset)
        hashes[active] = _mix(hashes[active], word)
        offset += 8
        active = active[lengths[active] > offset]
    return hashes


def _equal(
    words: npt.NDArray[Any], starts: Spans, lengths: Spans, others: Spans, other_lengths: Spans
) -> bool:
    if not np.array_equal(lengths, other_lengths):
        return False
    offset = 0
    while True:
        active = lengths > offset
        if not active.all():
            starts, lengths, others = starts[active], lengths[active], others[active]
        if not len(starts):
            return True
        left, right = (_word(words, at, lengths, offset) for at in (starts, others))
        if not np.array_equal(left, right):
            return False
        offset += 8


def _factorize_slowly(
    buffer: npt.NDArray[np.uint8], starts: Spans, ends: Spans
) -> tuple[npt.NDArray[np.int64], Spans]:
    data = buffer.tobytes()
    numbers: dict[bytes, int] = {}
    first: list[int] = []
    codes = np.empty(len(starts), dtype=np.int64)
    for piece, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        code = numbers.setdefault(data[start:end], len(numbers))
        if code == len(first):
            first.append(piece)
        codes[piece] = code
    return codes, np.array(first, dtype=np.int64)
