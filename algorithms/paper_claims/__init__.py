"""The claims of Kearns, Roth, Wu and Yaroslavtsev, "Privacy for the Protected (Only)"."""

from .catalogue import C1, C2, C3, C4, C5, C6, C7, C8, C9, C10, C11, C12, C13

__all__ = ["C1", "C2", "C3", "C4", "C5", "C6", "C7", "C8", "C9", "C10", "C11", "C12", "C13"]
