"""Run the witnesses of a result again, and verify its certificates.

A result is somebody else's file: nothing is imported for it but what is registered, unless it is
trusted; no file is read but those its reader is given; and nothing it shows is believed.
"""

from pdpaudit.replay.checks import replay_check
from pdpaudit.replay.claims import Replay, Terms, replay_claim
from pdpaudit.replay.result import replay_result, terms_of
from pdpaudit.replay.trust import finder

__all__ = [
    "Replay",
    "Terms",
    "finder",
    "replay_check",
    "replay_claim",
    "replay_result",
    "terms_of",
]
