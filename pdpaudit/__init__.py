"""Tries to break the privacy claims of graph-search algorithms, and says whether it could."""

from pdpaudit.core.errors import InputError

__all__ = ["InputError", "__version__"]

__version__ = "0.1.0"
