"""For the documentation: examples in docstrings (`>>> …` and what they print) become code blocks."""

from __future__ import annotations

import re
from typing import Any

import griffe

__all__ = ["DoctestFences"]

# From a prompt to the next blank line, which is also where doctest ends an example.
_EXAMPLE = re.compile(r"^(?P<example>[ ]*>>> .*(?:\n(?![ ]*$).*)*)", re.M)


class DoctestFences(griffe.Extension):
    """Fence every example before the docstring is parsed as Markdown."""

    def on_instance(self, *, obj: griffe.Object | griffe.Alias, **_: Any) -> None:
        """Rewrite the docstring of one object."""
        if isinstance(obj, griffe.Object) and obj.docstring is not None:
            obj.docstring.value = _EXAMPLE.sub(r"```pycon\n\g<example>\n```", obj.docstring.value)
