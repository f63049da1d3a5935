"""What goes over HTTP as JSON."""

from __future__ import annotations

import json
from pathlib import Path

from etui.surfaces.web.replies import one_line


def test_json_is_one_line_whatever_is_in_it() -> None:
    odd = {"a": "x\u2028y\x85z\ud800", "b": [float("nan"), 2**70, Path("/tmp")], "c": "\r\n"}
    line = one_line(odd)
    assert len(line.decode().splitlines()) == 1
    assert json.loads(line)["a"] == "x\u2028y\x85z\ud800"
    assert json.loads(one_line({"a": "\u2029", "b": float("nan")})) == {"a": "\u2029", "b": None}
