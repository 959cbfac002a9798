"""What inputs a mechanism has: its author describes them, and the pairs to try follow.

A mechanism says ``domain = Records(Bounded(0, 100))``, or whoever audits it gives ``domain=``; the
relation is chosen by ``relation=`` or ``--relation``. Whatever has ``relations``, ``words``,
``pairs`` and ``complete`` of :class:`Domain` is a domain.
"""

from pdpaudit.core.domains import Answers, Bounded, Domain, Graphs, OneOf
from pdpaudit.core.records import People, Records

__all__ = ["Answers", "Bounded", "Domain", "Graphs", "OneOf", "People", "Records"]
