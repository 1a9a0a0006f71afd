"""How the documentation is built: `make docs`."""

from hedgerow.version import __version__

project = "hedgerow"
author = "The hedgerow authors"
release = version = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = f"hedgerow {__version__}"
autodoc_typehints = "description"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
napoleon_numpy_docstring = False
# Fields that are called `object` are no candidates for what type annotations mean.
suppress_warnings = ["ref.python"]
