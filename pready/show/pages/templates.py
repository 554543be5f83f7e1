"""The HTML templates of the pages."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from pready.model.common.units import format_size, format_time


def template(name: str) -> Template:
    """A template with the filters ``time`` and ``size``; an undefined name in it is an error."""
    environment = Environment(
        loader=PackageLoader("pready.show.pages", "html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"time": format_time, "size": format_size}
    return environment.get_template(name)
