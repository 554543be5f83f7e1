"""Sphinx: the documentation site. Built by ``docs/build.py`` from a copy of this folder and generated pages."""

from pready.model.version import RELEASED, VERSION

project = "pready"
author = "The pready developers"
copyright = f"{RELEASED[:4]}, the pready developers"
version = release = VERSION

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["README.md"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
napoleon_google_docstring = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
default_role = "code"
smartquotes = False
suppress_warnings = ["myst.xref_missing"]  # links to files of the repository that are no pages; tests check links

html_theme = "furo"
html_title = f"pready {VERSION}"
html_show_sphinx = False
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["pready.css"]
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0072B2", "color-brand-content": "#005a8d"},
    "dark_css_variables": {"color-brand-primary": "#56B4E9", "color-brand-content": "#56B4E9"},
}
pygments_style, pygments_dark_style = "default", "monokai"
