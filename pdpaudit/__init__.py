"""Tries to break the privacy claims of graph-search algorithms, and says whether it could."""

from importlib import import_module

# Not from typing: a file of that name in the current folder would be imported in its place.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from pdpaudit.core.claim import PrivacyClaim
    from pdpaudit.core.errors import InputError
    from pdpaudit.core.network import Network
    from pdpaudit.core.statistic import statistic
    from pdpaudit.face import audit, check, load, simulate
    from pdpaudit.io import read_network
    from pdpaudit.results.results import Result
    from pdpaudit.testing import assert_private, assert_statistic

__all__ = [
    "InputError",
    "Network",
    "PrivacyClaim",
    "Result",
    "__version__",
    "assert_private",
    "assert_statistic",
    "audit",
    "check",
    "load",
    "read_network",
    "simulate",
    "statistic",
]

__version__ = "0.1.0"

#: Where each name is, imported when it is first asked for.
_PLACES = {
    "InputError": "core.errors",
    "Network": "core.network",
    "PrivacyClaim": "core.claim",
    "Result": "results.results",
    "assert_private": "testing",
    "assert_statistic": "testing",
    "audit": "face",
    "check": "face",
    "load": "face",
    "read_network": "io",
    "simulate": "face",
    "statistic": "core.statistic",
}


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module 'pdpaudit' has no attribute {name!r}")
    return getattr(import_module(f"pdpaudit.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
