"""Which warnings a run emits: an observer sees them, as an exception is seen.

Needs nothing but Python 3.8: the other side of ``--python`` loads this file too.
"""

from __future__ import annotations

import threading
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Actions of filters that show a warning once: then a run would depend on the runs before it.
ONCE = ("default", "module", "once")

#: Shows whatever no other filter decides.
ALWAYS: tuple[object, ...] = ("always", None, Warning, None, 0)


@contextmanager
def listening() -> Iterator[Callable[[], str]]:
    """Yield what says which classes of warnings were shown since it was asked last.

    Filters keep deciding what is shown, but for two: what is shown once is shown each time, and an
    error that all warnings are made, as by pytest, is none, so that it is the same in any process.
    """
    seen, thread = set(), threading.get_ident()

    def show(message: object, category: type[Warning], *_: object, **__: object) -> None:
        if threading.get_ident() == thread:
            seen.add(category.__name__)

    def heard() -> str:
        if not seen:
            return ""
        names = ", ".join(sorted(seen))
        seen.clear()
        return names

    with warnings.catch_warnings():
        warnings.showwarning = show
        vars(warnings)["filters"][:] = [*map(_each_time, warnings.filters), ALWAYS]
        vars(warnings)["_filters_mutated"]()
        yield heard


def _each_time(entry: tuple[object, ...]) -> tuple[object, ...]:
    action = entry[0]
    every = entry[1:] == ALWAYS[1:]
    return ("always", *entry[1:]) if action in ONCE or (action == "error" and every) else entry
