"""What stands out in an answer's text as it streams: every mark that may begin a call, thinking, code or a quotation.

Above: `sieve`, which decides what each is where it stands. Below: `blocks` and `react`, whose marks are among them. It refuses
to know: anything but how marks are written. A text that only may become one is held back, so each end of `MAYBE` is short.
"""

from __future__ import annotations

import re

from etui.agent import blocks, react

_THOUGHT = r"think|thinking|thought|reasoning|reflection|scratchpad|tool_response|tool_result|tool_output|function_results?"
"""What is not for the person: thinking, and results that a model has made up."""
_THINK = rf"<\s*(?P<think>{_THOUGHT})\s*>"
_STRAY = (
    rf"(?P<thought><\s*/\s*(?:{_THOUGHT})\s*>)"
    r"|(?:<\|start\|>\w*(?=<\|channel\|>|<\|message\|>|\Z))"
    r"|(?P<channel><\|channel\|>)\s*(?:final|commentary)\b[^<]{0,80}(?:<\|constrain\|>[^<]{0,80})?<\|message\|>"
    r"|<\|(?:end|return|call|message|im_end|eot_id|eom_id|endoftext|end_of_text|end_of_turn)\|>"
    r"|<\|im_start\|>(?:assistant\b)?|(?P<ends></s>)"
)
_HARMONY = r"(?P<aside><\|channel\|>)\s*analysis\b[^<]{0,80}<\|message\|>"
HARMONY_END = r"<\|(?:end|return|call)\|>|(?=<\|start\|>|<\|channel\|>)"
_FENCE = r"(?P<fence>`{3,}|~{3,})"
_TICKS = r"(?P<ticks>`{1,2})"
_QUOTED = r"<\s*(?P<html>code|pre|blockquote|q|samp)(?:\s[^<>]*)?>"
_NAMED = r"\[(?P<named>[A-Za-z_][\w.:/-]{0,127})\]\s*(?=\{\s*(?:[\"}]|\Z))"
OPENER = re.compile(
    "|".join((blocks.OPENER, _THINK, _HARMONY, _STRAY, _FENCE, _TICKS, _QUOTED, _NAMED, react.OPENER)), re.IGNORECASE
)
_STEMS = (
    "tool|func|invoke|th[io]|reason|reflect|scratch|code|pre|quote|samp|start|end|chan|mess|im_|eo|plug|pyth|action|return|call"
)
"""What one of the names holds that stand in marks."""
_MAYBE_TAG = rf"<[|｜/\s]{{0,3}}(?i:(?:\w+:|DSML[|｜])?(?:[\w▁]{{0,40}}|(?:[\w▁]*(?:{_STEMS})|[qs]\b)[^<>\n]{{0,80}}(?:>\s*)?))"
MAYBE = re.compile(
    r"(?:<\|(?:start|channel)\|>(?:(?!<\|message\|>)[\s\S]){0,200}"
    rf"|{_MAYBE_TAG}|\[[A-Za-z_][\w.:/-]{{0,127}}(?:\]\s*)?|\[|`{{1,}}|~{{1,}}|{react.MAYBE})\Z"
)
"""An end of text that may yet become the beginning of a block."""
TAIL = 600
"""Characters within which such an end begins."""
ITSELF = re.compile(rf"`{{3,}}[ \t]*(?:{blocks.CALLING})[ \t]*\n", re.IGNORECASE)
CALLING = re.compile(
    rf"(?P<mark>`{{3,}})[ \t]*(?:{blocks.CALLING})[ \t]*\n(?P<body>.*?)(?:\n[ \t]*(?P=mark)(?P<rest>.*)|\Z)", re.I | re.S
)
END_REQUEST = re.compile(r"\s*\[/?END_TOOL_REQUEST\]", re.IGNORECASE)
