"""The paper's statistics of proximity."""

from .cn import CN
from .flow import Flow
from .path import Path
from .triangle import Triangle

__all__ = ["CN", "Flow", "Path", "Triangle"]
