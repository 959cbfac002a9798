"""What people are called where their names are kept out."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["find_people", "pseudonyms"]


def pseudonyms(names: Sequence[str]) -> tuple[str, ...]:
    """Return what to call people instead: ``person 17`` for vertex 17; O(n).

    A pseudonym is the vertex's number, the one a witness counts by, so that whoever holds the file
    can look a person up, with or without this program. Numbers drawn at random would hide no more:
    a witness lists the vertices in the order of the file.

    Examples
    --------
    >>> pseudonyms(["ann", "bob"]), pseudonyms(["person 1", "ann"])
    (('person 0', 'person 1'), ('person* 0', 'person* 1'))
    """
    word = "person"
    while any(name.startswith(word) for name in names):
        word += "*"
    return tuple(f"{word} {vertex}" for vertex in range(len(names)))


def find_people(asked: Sequence[str], names: Sequence[str]) -> list[int | None]:
    """Return the vertex with each name or pseudonym, None where nobody has it; O(n).

    Examples
    --------
    >>> find_people(["bob", "person 0", "eve"], ["ann", "bob"])
    [1, 0, None]
    """
    index = {name: vertex for vertex, name in enumerate(names)}
    if not index.keys() >= set(asked):
        index.update({name: vertex for vertex, name in enumerate(pseudonyms(names))})
    return [index.get(one) for one in asked]
