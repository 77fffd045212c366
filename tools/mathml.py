"""For the documentation: formulas become MathML when the site is built, so that pages need no script and no network."""

from __future__ import annotations

import html
import re
from typing import Any

from latex2mathml.converter import convert

__all__ = ["on_page_content"]

_INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.S)
_DISPLAY = re.compile(r'<div class="arithmatex">\s*\\\[(.*?)\\\]\s*</div>', re.S)


def on_page_content(content: str, **_: Any) -> str:
    """Replace what arithmatex has marked."""
    content = _INLINE.sub(lambda found: convert(html.unescape(found[1])), content)
    return _DISPLAY.sub(lambda found: convert(html.unescape(found[1]), display="block"), content)
