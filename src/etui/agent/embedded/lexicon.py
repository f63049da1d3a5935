"""Lists of words and of phrases written as running lines, so that they can be read at a glance.

Above: every module here that knows words. Below: nothing. It refuses to know what the words mean.
"""

from __future__ import annotations


def names(line: str) -> list[str]:
    """The words of a line."""
    return line.split()


def phrases(lines: str) -> list[str]:
    """The phrases of some lines, parted by semicolons."""
    return [phrase.strip() for phrase in lines.replace("\n", " ").split(";") if phrase.strip()]
