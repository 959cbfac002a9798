"""Outputs of mechanisms as typed columns, and events over them."""

from pdpaudit.outputs.columns import Atom, Batch, Coded, Column, Crossed, Whole, batch_of
from pdpaudit.outputs.draws import Draws, gathered, of_records, same_form
from pdpaudit.outputs.events import (
    Event,
    Membership,
    Range,
    Score,
    Several,
    Side,
    Term,
    complexity,
    event_from_json,
    simplest,
)
from pdpaudit.outputs.records import (
    JSON,
    Record,
    Unreadable,
    equal_is_same,
    failure,
    flatten,
    is_failure,
)

__all__ = [
    "JSON",
    "Atom",
    "Batch",
    "Coded",
    "Column",
    "Crossed",
    "Draws",
    "Event",
    "Membership",
    "Range",
    "Record",
    "Score",
    "Several",
    "Side",
    "Term",
    "Unreadable",
    "Whole",
    "batch_of",
    "complexity",
    "equal_is_same",
    "event_from_json",
    "failure",
    "flatten",
    "gathered",
    "is_failure",
    "of_records",
    "same_form",
    "simplest",
]
