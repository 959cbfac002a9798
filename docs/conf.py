"""How Sphinx builds the site: ``python -m sphinx -W --keep-going -n docs build/site``.

Sphinx with MyST and numpydoc: docstrings are numpydoc already, references between pages and names
are checked while building, and nothing has to be written twice.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import figures
import measured

project = "pdpaudit"
author = "the pdpaudit developers"
copyright = "the pdpaudit developers, Apache-2.0"

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
exclude_patterns = ["build", "_static"]

autodoc_typehints = "none"
numpydoc_show_class_members = False
# Types in docstrings are words for readers; what is public is linked by name.
nitpick_ignore_regex = [("py:.*", r".*")]
add_module_names = False

html_theme = "furo"
html_title = "pdpaudit"
html_static_path = ["_static"]
html_show_sourcelink = False

figures.draw(Path(__file__).parent / "_static")
measured.write(Path(__file__).parent / "_static" / "measured.md")
