"""A whole checkout is tried and reported on: the real one where there is one, and made-up ones, so that this stays so."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
from tests.kotoba.homes import write
from tests.sapphire.checkout import VARIABLE, Report, tried
from tests.sapphire.corpora import corpus, tool_files
from tests.sapphire.homes import manifest, tool, whole

FILES, TOOLS = 29, 100
"""What one release of Sapphire has."""


def by_file(report: Report) -> dict[str, tuple[str, tuple[str, ...]]]:
    """State and tools, by path."""
    return {file.path: (file.state, file.tools) for file in report.files}


def reasons(report: Report, path: str) -> str:
    """All that is said of one file."""
    return " ".join(reason for file in report.files if file.path == path for reason in file.reasons)


@pytest.mark.promise("S491")
async def test_a_real_checkout_is_tried_whole(tmp_path: Path) -> None:
    named = os.environ.get(VARIABLE, "")
    if not named:
        pytest.skip(f"There is no checkout of Sapphire here; {VARIABLE} names one.")
    report = await tried(Path(named), tmp_path)
    print(report)
    assert report.files, f"There is no tool file in {named}."
    assert [file.path for file in report.files if file.state == "refused" and not file.reasons] == []
    if len(report.files) == FILES:
        assert (report.of("refused"), len(report.tools)) == ([], TOOLS)


@pytest.mark.promise("S491")
async def test_a_checkout_of_a_releases_size_loads_whole_with_every_tool(tmp_path: Path) -> None:
    files = corpus()
    write(tmp_path / "made", files)
    report = await tried(tmp_path / "made", tmp_path)
    assert report.of("refused") == [], str(report)
    assert sorted(report.of("loaded")) == tool_files(files)
    assert (len(report.files), len(report.tools), len(set(report.tools))) == (FILES, TOOLS, TOOLS)
    without = [file.path for file in report.files if not file.tools]
    assert without == ["plugins/mcp_client/tools/mcp_tools.py"]
    assert str(report).startswith(f"{tmp_path / 'made'}: 29 files, 29 loaded, 0 refused, 0 passed over, 100 tools\n")
    assert not (tmp_path / "made" / "user").exists()


async def test_each_file_of_a_checkout_is_reported_with_its_reason(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "core/plugins/clock/tools/c.py": tool("get_time"),
        "user/plugins/clock/tools/mine.py": tool("get_time", "get_moon"),
        "plugins/older/tools/o.py": tool("old"),
        "plugins/half/tools/good.py": tool("good"),
        "plugins/half/tools/broken.py": "TOOLS = [\n",
        "core/plugins/lacks/tools/l.py": tool("lack", head="import nosuchpkg_zz"),
        "core/plugins/uses/tools/u.py": tool("use", head="from core.memory_layers import add_consumer"),
        "plugins/rival/tools/r.py": tool("old", "rivalled"),
        "plugins/nameless/plugin.json": "{}",
        "plugins/nameless/tools/n.py": tool("nameless"),
        "functions/notepad.py": tool("notepad_read"),
        "functions/_private.py": tool("private"),
        "user/functions/own.py": tool("own"),
        "user/webui/plugins/clock.json": '{"secret": 1}',
        "user/plugins/needs/plugin.json": manifest("needs", "tools/n.py", pip_dependencies=["nosuchpkg-zz>=1"]),
        "user/plugins/needs/tools/n.py": tool("needy"),
    }
    write(tmp_path / "made", whole(files))
    report = await tried(tmp_path / "made", tmp_path)
    assert by_file(report) == {
        "user/plugins/clock/tools/mine.py": ("loaded", ("get_moon", "get_time")),
        "user/plugins/needs/tools/n.py": ("refused", ()),
        "core/plugins/clock/tools/c.py": ("passed over", ()),
        "core/plugins/lacks/tools/l.py": ("refused", ()),
        "core/plugins/uses/tools/u.py": ("refused", ()),
        "plugins/half/tools/broken.py": ("refused", ()),
        "plugins/half/tools/good.py": ("loaded", ("good",)),
        "plugins/nameless/plugin.json": ("refused", ()),
        "plugins/older/tools/o.py": ("loaded", ("old",)),
        "plugins/rival/tools/r.py": ("refused", ()),
        "user/functions/own.py": ("loaded", ("own",)),
        "functions/notepad.py": ("loaded", ("notepad_read",)),
    }, str(report)
    for path, said in (
        ("user/plugins/needs/tools/n.py", "nosuchpkg-zz"),
        ("core/plugins/lacks/tools/l.py", "Missing pip package: nosuchpkg_zz"),
        ("core/plugins/uses/tools/u.py", "core.memory_layers, which belongs to Sapphire itself"),
        ("plugins/half/tools/broken.py", "line 1"),
        ("plugins/nameless/plugin.json", "no name"),
        ("plugins/rival/tools/r.py", "'older'"),
    ):
        assert said in reasons(report, path), (path, str(report))
    assert not (tmp_path / "checkout/user/webui/plugins/clock.json").exists()
    assert Counter(file.state for file in report.files) == {"loaded": 5, "refused": 6, "passed over": 1}
