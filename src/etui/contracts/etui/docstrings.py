"""What a docstring says: a description, and a line for each parameter, in Google's, NumPy's and Sphinx's style.

Above: `functions`. Below: the library `docstring_parser`, imported only when a docstring has a section to read, so that a
worker whose tools have none never pays for it. It refuses to know: the function.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping

_SPHINX = re.compile(r"^\s*:(param|parameter|arg|argument|key|keyword|type|returns?|rtype|raises?)\b", re.MULTILINE)
_NUMPY = re.compile(r"^[ \t]*(\w[\w ]*)\n[ \t]*-{3,}[ \t]*$", re.MULTILINE)
_GOOGLE = re.compile(r"^[ \t]*(\w[\w ]*):[ \t]*$", re.MULTILINE)
_EPYTEXT = re.compile(r"^\s*@(param|type|return|raise)\b", re.MULTILINE)

_MORE_SECTIONS = (
    "Arg",
    "Argument",
    "Parameter",
    "Param",
    "Keyword Args",
    "Keyword Arguments",
    "Keyword Parameters",
    "Keywords",
    "Kwargs",
    "Other Args",
    "Other Arguments",
    "Other Parameters",
    "Other Params",
)
"""Titles of argument sections that authors use in Google's style, besides those that the library knows."""


def read(docstring: str | None) -> tuple[str, Mapping[str, str]]:
    """The first paragraph on one line, without any section, and the descriptions of parameters by name. Raises nothing."""
    text = inspect.cleandoc(docstring or "").strip()
    if not any(pattern.search(text) for pattern in (_SPHINX, _NUMPY, _GOOGLE, _EPYTEXT)):
        return _first_paragraph(text), {}
    description, parameters = _parsed(text)
    return _first_paragraph(description), parameters


def _first_paragraph(text: str) -> str:
    return " ".join(re.split(r"\n[ \t]*\n", text.strip(), maxsplit=1)[0].split())


def _parsed(text: str) -> tuple[str, Mapping[str, str]]:
    from docstring_parser import DocstringStyle, ParseError, google, parse  # lazily: see the module's docstring

    try:
        if _SPHINX.search(text):
            found = parse(text, DocstringStyle.REST)
        elif _NUMPY.search(text):
            found = parse(text, DocstringStyle.NUMPYDOC)
        elif _EPYTEXT.search(text):
            found = parse(text, DocstringStyle.EPYDOC)
        else:
            more = [google.Section(title, "param", google.SectionType.MULTIPLE) for title in _MORE_SECTIONS]
            found = google.GoogleParser(google.DEFAULT_SECTIONS + more).parse(text)
    except (ParseError, ValueError, IndexError, KeyError, AttributeError):  # prose that only looks like a section
        return text, {}
    parameters: dict[str, str] = {}
    for parameter in found.params:
        if parameter.args[0] == "attribute":
            continue
        for name in parameter.arg_name.split(","):
            parameters[name.strip().lstrip("*")] = " ".join((parameter.description or "").split())
    return found.description or "", parameters
