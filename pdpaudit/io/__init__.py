"""Networks from files: edge lists and graph formats, labels, seeds.

:func:`read_network` is the way in: ``source`` turns bytes into text and says what a field is,
``table`` makes rows of text, ``columns`` decides what they mean, ``ties`` makes pairs of people of
them; ``graph_formats`` knows other files by what is in them and reads them, some by
``text_formats``; ``people`` says who is targeted and what people are called, ``reading`` puts
it together.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pdpaudit.io.people import find_people
    from pdpaudit.io.reading import Plant, Reading, read_network

__all__ = ["Plant", "Reading", "find_people", "read_network"]


def __getattr__(name: str) -> object:
    """Import what reads networks when it is asked for: writing files needs no pandas."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from pdpaudit.io import people, reading

    return getattr(people if name == "find_people" else reading, name)
