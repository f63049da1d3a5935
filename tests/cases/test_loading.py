"""Section A: files that are broken, half there, or change under our hands. Real files in the folder of a real host."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from pathlib import Path

import pytest
from tests.cases.desk import SAYS, Desk, desk_at, running

from etui.events import Kind
from etui.outcome import Status

pytestmark = pytest.mark.asyncio(loop_scope="module")

HEAD = "from etui import tool\n"


def says(name: str, word: str) -> str:
    return SAYS.format(name=name, word=word)


async def apart() -> None:
    """The fifty milliseconds between two steps of a slow write, as the report has them: the input, not a wait for something."""
    await asyncio.sleep(0.05)


async def test_a_plugin_without_its_setting_costs_only_itself_and_is_named(tmp_path):
    """R001"""
    needy = (
        HEAD
        + "from etui import Context\n\n@tool\ndef needy(ctx: Context) -> str:\n    'Needs.'\n    return ctx.settings['key']\n"
    )
    stubborn = (
        HEAD + "raise ValueError('the setting key is empty')\n\n@tool\ndef stubborn() -> str:\n    'Says.'\n    return 'x'\n"
    )
    for start in range(2):
        async with desk_at(tmp_path) as desk:
            if start == 0:
                desk.save("needy.py", needy)
                desk.save("stubborn.py", stubborn)
                desk.save("other.py", says("other", "fine"))
                await desk.offered("needy", "other")
            assert await desk.value("other") == "fine"
            outcome = await desk.call("needy")
            assert outcome.status is Status.FAILED
            assert "'key'" in outcome.text and outcome.text.endswith(".")
            assert "the setting key is empty" in (await desk.problem("stubborn")).reason
    async with desk_at(tmp_path, plugin={"needy": {"key": "there now"}}) as desk:
        assert await desk.value("needy") == "there now"


UNLOADABLE = {
    "missing environment": ("import os\n\nURL = os.environ['ETUI_UNSET_1']\n", 4, "ETUI_UNSET_1"),
    "missing field": (
        "import os, dataclasses\n\n@dataclasses.dataclass\nclass Settings:\n    url: str\n\nCFG = Settings()\n",
        8,
        "url",
    ),
    "syntax": ("\n\ndef broken(:\n", 4, "syntax error"),
    "indentation": ("\ndef f():\nreturn 1\n", 4, "syntax error"),
    "tabs": ("\nif 1:\n\tx = 1\n        y = 2\n", 5, "syntax error"),
    "open string": ("\nx = '''never closed\n", 3, "syntax error"),
    "division": ("\nx = 1 / 0\n", 3, "ZeroDivisionError"),
    "name": ("\nundefined_name\n", 3, "undefined_name"),
    "base exception": ("\nclass Mine(BaseException): pass\nraise Mine('gone wrong')\n", 4, "gone wrong"),
    "assertion": ("\nassert False, 'not today'\n", 3, "not today"),
    "exit": ("\nexit()\n", 3, "end the program"),
    "sys.exit": ("\nimport sys\nsys.exit('usage: prog FILE')\n", 4, "end the program"),
    "raise SystemExit": ("\nraise SystemExit(2)\n", 3, "end the program"),
    "argparse": ("\nimport argparse\nargparse.ArgumentParser().parse_args(['--nonsense'])\n", 4, "end the program"),
    "keyboard interrupt": ("\nraise KeyboardInterrupt\n", 3, "end the program"),
    "input": ("\ninput('name? ')\n", 3, "asks for input"),
    "generator exit": ("\nraise GeneratorExit\n", 3, "GeneratorExit"),
    "cancelled": ("\nimport asyncio\nraise asyncio.CancelledError\n", 4, "CancelledError"),
    "recursion": ("\ndef f(): f()\nf()\n", 3, "RecursionError"),
    "missing package": ("\nimport nosuchpkg_zz\n", 3, "nosuchpkg_zz"),
    "missing part": ("\nimport json.nosuchpart\n", 3, "nosuchpart"),
    "missing name": ("\nfrom json import nosuchname\n", 3, "nosuchname"),
    "write": ("\nopen('/etc/etui-was-here', 'w')\n", 3, "not allowed"),
    "network": ("\nimport socket\nsocket.create_connection(('127.0.0.1', 9))\n", 4, "not allowed"),
    "subprocess": ("\nimport subprocess\nsubprocess.run(['true'])\n", 4, "not allowed"),
}


async def test_one_broken_file_of_any_kind_costs_nobody_else_anything(desk: Desk):
    """R002 R004 R013: each file is one problem that names file and line, between two files that load."""
    desk.save("a_first.py", says("a_first", "first"))
    for number, (text, _, _) in enumerate(UNLOADABLE.values()):
        desk.save(f"broken_{number:02}.py", HEAD + text + says(f"broken_{number}", "never").removeprefix(HEAD))
    desk.save("z_last.py", says("z_last", "last"))
    await desk.offered("a_first", "z_last")
    assert await desk.value("a_first") == "first"
    assert await desk.value("z_last") == "last"
    wrong = {}
    for number, (kind, (_, line, word)) in enumerate(UNLOADABLE.items()):
        problem = await desk.problem(f"broken_{number:02}")
        if (
            problem.file != str(desk.tools / f"broken_{number:02}.py")
            or problem.line != line
            or word not in problem.reason
            or "\n" in problem.reason
            or not problem.refused
            or "Traceback" in problem.reason + problem.hint
        ):
            wrong[kind] = problem
    assert wrong == {}
    outcome = await desk.call("broken_00")
    assert (outcome.status, outcome.rule) == (Status.REFUSED, "find")
    assert "ETUI_UNSET_1" in outcome.text and "broken_00.py:4" in outcome.text
    for path in desk.tools.glob("broken_*.py"):
        path.unlink()
    await desk.until(lambda: not any(problem.what.startswith("broken_") for problem in desk.host.problems.all()))


UNREADABLE: dict[str, bytes] = {
    "empty": b"",
    "spaces": b"  \n\n\t\n",
    "zeros": b"\0" * 4096,
    "latin": "# Gr\u00fc\u00dfe\n".encode("latin-1") + b"x = 1\n",
    "utf16": says("u", "x").encode("utf-16"),
    "an image": b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
    "deep": b"x = " + b"(" * 5000 + b")" * 5000,
    "huge": b"# a comment\n" * 500_000,
    "unknown coding": b"# -*- coding: martian -*-\nx = 1\n",
    "merge conflict": b"<<<<<<< HEAD\nx = 1\n=======\nx = 2\n>>>>>>> other\n",
    "html": b"<!DOCTYPE html><html><body>404</body></html>",
    "half a character": says("u", "x").encode()[:-3] + b"\xe2\x82",
}


async def test_what_is_no_python_at_all_is_one_sentence_each(desk: Desk):
    """R002 R004"""
    for number, content in enumerate(UNREADABLE.values()):
        desk.save(f"odd_{number:02}.py", content)
    os.mkfifo(desk.tools / "odd_pipe.py")
    (desk.tools / "odd_link.py").symlink_to("nowhere.py")
    (desk.tools / "odd_loop.py").symlink_to("odd_loop.py")
    (desk.tools / "odd_dir.py").mkdir()
    locked = desk.save("good_name.py", says("good_name", "x"))
    await desk.offered("good_name")
    for number, kind in enumerate(UNREADABLE):
        problem = await desk.problem(f"odd_{number:02}")
        assert problem.reason.endswith(".") and "\n" not in problem.reason, kind
        assert problem.file, kind
    for name in ("odd_pipe.py", "odd_link.py", "odd_loop.py"):
        assert (await desk.problem(name)).reason
    assert await desk.value("good_name") == "x"
    for path in [*desk.tools.glob("odd_*.py"), locked]:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    await desk.gone("good_name")


@pytest.mark.parametrize("folder", ["", "greeter/"])
async def test_a_changed_helper_is_what_the_next_call_runs(desk: Desk, folder: str):
    """R005: for loose files in tools/ and for a folder, also two helpers deep, without the entry file being touched."""
    mark = "folder" if folder else "loose"
    main, phrases, words = f"main_{mark}", f"phrases_{mark}", f"words_{mark}"
    tool = f"hello_{mark}"
    desk.save(f"{folder}{words}.py", "WORD = 'old'\n")
    desk.save(f"{folder}{phrases}.py", f"from {words} import WORD\nHELLO = WORD + ' one'\n")
    desk.save(
        f"{folder}{main}.py",
        f"{HEAD}from {phrases} import HELLO\n\n@tool\ndef {tool}() -> str:\n    'Greets.'\n    return HELLO\n",
    )
    await desk.serves(tool, "old one")
    before = next(made for made in desk.host.tools.all() if made.name == tool)
    desk.save(f"{folder}{phrases}.py", f"from {words} import WORD\nHELLO = WORD + ' two'\n")
    await desk.serves(tool, "old two")
    desk.save(f"{folder}{words}.py", "WORD = 'new'\n")
    await desk.serves(tool, "new two")
    after = next(made for made in desk.host.tools.all() if made.name == tool)
    assert before.digest != after.digest
    assert desk.problems(main) + desk.problems(phrases) + desk.problems("greeter") == []


async def test_a_load_that_failed_half_way_leaves_nothing_behind(desk: Desk):
    """R007"""
    part = HEAD + "\n@tool\ndef from_part() -> str:\n    'Says.'\n    return 'part'\n"
    main = HEAD + "import part\n\n@tool\ndef from_main() -> str:\n    'Says.'\n    return part.from_part() + '{0}'\n"
    desk.save("halves/part.py", part)
    desk.save("halves/main.py", main.format(0) + "1 / 0\n")
    await desk.until(lambda: desk.problems("halves"))
    for number in (1, 2, 3):
        desk.save("halves/main.py", main.format(number))
        await desk.serves("from_main", f"part{number}")
        assert desk.problems("halves") == []
        assert [tool.name for tool in desk.host.tools.all() if tool.plugin == "halves"] == ["from_main", "from_part"]
        assert await desk.value("from_part") == "part"


LONG = '''from etui import tool


def helper():
    return "{word}"


@tool
def {name}() -> str:
    """Says a word."""
    text = helper()
    return text


@tool
def {name}_again() -> str:
    """Says it again."""
    return helper()
'''
CUTS = {
    "inside a name": "    return te",
    "inside a string": '    """Says a',
    "after a whole statement": "    text = helper()\n",
    "between two tools": "    return text\n\n\n",
    "after the decorator": "@tool\n",
    "at the first line": "from etui import tool\n",
}


@pytest.mark.parametrize("warm", [True, False], ids=["warm", "cold"])
async def test_the_old_version_serves_while_a_file_is_written_in_steps(desk: Desk, warm: bool):
    """R008: truncated, half, whole, fifty milliseconds apart, cut at several places; also where its worker has yet to start."""
    names = [f"steps_{number}_{'warm' if warm else 'cold'}" for number in range(len(CUTS))]
    files = [desk.save(f"{name}.py", LONG.format(name=name, word="old")) for name in names]
    await desk.offered(*names)
    if warm:
        assert [await desk.value(name) for name in names] == ["old"] * len(names)
    since = len(desk.told)
    await asyncio.gather(*map(written_in_steps, [desk] * len(names), files, names, CUTS))
    for name in names:
        await desk.serves(name, "new")
        assert desk.problems(name) == []
        changes = [event.data for event in desk.events(Kind.TOOLS_CHANGED, since)]
        assert len([data for data in changes if name in data["changed"]]) == 1, name
        assert not [data for data in changes if name in data["removed"]], name
    assert desk.spoken(since) == []


async def written_in_steps(desk: Desk, file: Path, name: str, cut: str) -> None:
    """Truncated, half, whole; the tool is called at each step."""
    new = LONG.format(name=name, word="new")
    half = new[: new.index(CUTS[cut]) + len(CUTS[cut])]
    with file.open("w") as out:
        assert await desk.value(name) == "old", cut
        await apart()
        out.write(half)
        out.flush()
        assert await desk.value(name) == "old", cut
        await apart()
        out.write(new[len(half) :])
    assert await desk.value(name) in ("old", "new"), cut


async def test_a_new_file_that_comes_in_steps_is_not_called_broken(desk: Desk):
    """R008: a slow upload of a file that was not there before."""
    since = len(desk.told)
    text = LONG.format(name="upload", word="whole")
    with (desk.tools / "upload.py").open("w") as out:
        await apart()
        for start in range(0, len(text), 60):
            out.write(text[start : start + 60])
            out.flush()
            await apart()
    await desk.serves("upload_again", "whole")
    assert desk.spoken(since) == []


async def test_a_file_that_is_emptied_and_left_so_says_it_and_serves_on(desk: Desk):
    """R008: truncated and never written again."""
    file = desk.save("emptied.py", says("emptied", "old"))
    await desk.offered("emptied")
    file.write_text("")
    problem = await desk.problem("emptied")
    assert "empty" in problem.reason and "goes on serving" in problem.hint
    assert await desk.value("emptied") == "old"
    file.write_text(says("emptied", "new"))
    await desk.serves("emptied", "new")
    assert desk.problems("emptied") == []


def atomic(file: Path, text: str) -> None:
    fresh = file.with_name(f".{file.name}.{os.getpid()}.tmp")
    fresh.write_text(text)
    fresh.replace(file)


def atomic_beside(file: Path, text: str) -> None:
    fresh = file.with_name(f"{file.name}.tmp")
    fresh.write_text(text)
    fresh.replace(file)


def vim(file: Path, text: str) -> None:
    swap = file.with_name(f".{file.name}.swp")
    swap.write_bytes(b"b0VIM")
    probe = file.with_name("4913")
    probe.touch()
    probe.unlink()
    backup = file.with_name(f"{file.name}~")
    file.rename(backup)
    file.write_text(text)
    backup.unlink()
    swap.unlink()


def emacs(file: Path, text: str) -> None:
    lock = file.with_name(f".#{file.name}")
    lock.symlink_to("me@here.1:2")
    autosave = file.with_name(f"#{file.name}#")
    autosave.write_text(text[:30])
    file.with_name(f"{file.name}~").write_bytes(file.read_bytes())
    file.write_text(text)
    autosave.unlink()
    lock.unlink()


def sed(file: Path, text: str) -> None:
    fresh = file.with_name("sedAbC123")
    fresh.write_text(text)
    fresh.replace(file)


def delete_and_write(file: Path, text: str) -> None:
    file.unlink()
    file.write_text(text)


def in_place(file: Path, text: str) -> None:
    """As long as before, at the same time: only the bytes differ."""
    stat = file.stat()
    with file.open("r+") as out:
        out.write(text)
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))


@pytest.mark.parametrize("way", [atomic, atomic_beside, vim, emacs, sed, delete_and_write, in_place])
async def test_a_save_is_one_change_whichever_way_an_editor_saves(desk: Desk, way):
    """R008"""
    name = f"saved_{way.__name__}"
    file = desk.save(f"{name}.py", says(name, "old"))
    await desk.serves(name, "old")
    since = len(desk.told)
    way(file, says(name, "new"))
    await desk.serves(name, "new")
    await desk.fence()
    assert desk.spoken(since) == []
    changes = [event.data for event in desk.events(Kind.TOOLS_CHANGED, since)]
    assert not [data for data in changes if name in data["removed"]]
    assert [tool.plugin for tool in desk.host.tools.all() if tool.name.startswith(name)] == [name]


async def test_many_files_that_change_at_once_are_all_live(desk: Desk):
    """R008: as `git checkout` does; some new, some gone, some changed, with a broken one among them."""
    for number in range(12):
        desk.save(f"branch_{number}.py", says(f"branch_{number}", "main"))
    await desk.offered(*(f"branch_{number}" for number in range(12)))
    for number in range(8):
        file = desk.tools / f"branch_{number}.py"
        file.unlink()
        desk.save(f"branch_{number}.py", says(f"branch_{number}", "feature"))
    for number in (8, 9):
        (desk.tools / f"branch_{number}.py").unlink()
    desk.save("branch_10.py", "def broken(:\n")
    desk.save("branch_12.py", says("branch_12", "feature"))
    await desk.gone("branch_8", "branch_9")
    await desk.offered("branch_12")
    for number in (*range(8), 12):
        await desk.serves(f"branch_{number}", "feature")
    assert await desk.value("branch_10") == "main"
    assert await desk.value("branch_11") == "main"
    assert (await desk.problem("branch_10")).refused


LEFTOVERS = (
    *(".draft.py", "_draft.py", "draft.py~", "#draft.py#", ".draft.py.swp", "draft.py.swo", "4913", "draft.py.bak"),
    *("draft.py.orig", "draft.py.rej", "draft.py.part", "draft.py.crdownload", "notes.txt", "README.md", "data.json"),
    *("draft.pyc", "__pycache__/draft.cpython-311.pyc", ".git/hooks/x.py", "__pycache__/draft.py", ".venv/lib/x.py"),
    *(".idea/x.py", "draft.py.tmp", "draft (1).txt", ".DS_Store", "Thumbs.db", "draft.py___jb_tmp___", "draft.py.save"),
)


async def test_what_editors_and_downloads_leave_is_neither_tool_nor_problem(desk: Desk):
    """R008"""
    since, tools, problems = len(desk.told), desk.names(), desk.host.problems.all()
    for name in LEFTOVERS:
        desk.save(name, "def broken(:\n")
    await desk.fence()
    assert desk.names() == tools
    assert desk.host.problems.all() == problems
    assert desk.spoken(since) == []
    for name in LEFTOVERS:
        (desk.tools / name).unlink()


PACKAGES = [
    "import nosuchpkg_zz",
    "from nosuchpkg_zz.deep import thing",
    "# /// script\n# dependencies = ['nosuchpkg_zz']\n# ///\nimport nosuchpkg_zz as z",
    "__import__('nosuchpkg_zz')",
    "import importlib; importlib.import_module('nosuchpkg_zz')",
]


async def test_a_missing_package_is_named_and_nothing_is_installed(desk: Desk):
    """R010"""
    for number, line in enumerate(PACKAGES):
        desk.save(f"needs_{number}.py", f"{HEAD}{line}\n" + says(f"needs_{number}", "x").removeprefix(HEAD))
    for number in range(len(PACKAGES)):
        problem = await desk.problem(f"needs_{number}")
        assert "needs the package 'nosuchpkg_zz', which is not installed" in problem.reason
        assert "Install" in problem.hint
        outcome = await desk.call(f"needs_{number}")
        assert (outcome.status, outcome.rule) == (Status.REFUSED, "find")
        assert "nosuchpkg_zz" in outcome.text


async def test_the_host_starts_where_packages_are_missing_and_its_environment_cannot_be_written(tmp_path):
    """R010: only the home is written; a start with nothing but unavailable tools is a start."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for number in range(5):
        (tools / f"needs_{number}.py").write_text(f"{HEAD}import nosuchpkg_{number}\n")
    before = {path for path in sys.path if path}
    async with desk_at(tmp_path) as desk:
        assert desk.names() == set()
        assert len(desk.host.problems.all()) == 5
        assert {path for path in sys.path if path} == before


async def test_tools_and_settings_from_another_module_are_the_plugins_own(desk: Desk):
    """R011: what the contract exposes counts, whichever file holds it; plain helpers are no tools."""
    desk.save(
        "shared/_inner.py",
        HEAD + "from dataclasses import dataclass\n\n@dataclass\nclass Settings:\n    url: str = 'here'\n\n"
        "@tool\ndef reexported() -> str:\n    'Says.'\n    return Settings().url\n\n"
        "def plain() -> str:\n    return 'no tool'\n",
    )
    desk.save(
        "shared/main.py",
        HEAD + "from _inner import Settings as Config, reexported, plain\nimport json\n\n"
        "@tool\ndef own() -> str:\n    'Says.'\n    return Config().url\n",
    )
    await desk.offered("own", "reexported")
    assert [tool.name for tool in desk.host.tools.all() if tool.plugin == "shared"] == ["own", "reexported"]
    assert await desk.value("own") == await desk.value("reexported") == "here"
    assert "plain" not in desk.names()


async def test_a_tool_reexported_by_a_loose_file_is_offered_once(desk: Desk):
    """R011"""
    desk.save("inner_loose.py", HEAD + "\n@tool\ndef lent() -> str:\n    'Says.'\n    return 'lent'\n")
    desk.save(
        "outer_loose.py",
        HEAD + "from inner_loose import lent\n\n@tool\ndef outer() -> str:\n    'Says.'\n    return lent() + '!'\n",
    )
    await desk.offered("lent", "outer")
    assert await desk.value("outer") == "lent!"
    assert await desk.value("lent") == "lent"
    assert desk.problems("inner_loose") + desk.problems("outer_loose") == []


async def test_a_file_is_read_whichever_way_an_editor_writes_text(desk: Desk):
    """A mark at its head, other ends of lines, a declared encoding; and it imports its neighbour by a dot."""
    ends = {"crlf": "\r\n", "cr": "\r", "lf": "\n"}
    for name, end in ends.items():
        desk.save(f"saved_{name}.py", b"\xef\xbb\xbf" + says(f"saved_{name}", "grün").replace("\n", end).encode())
    desk.save("saved_latin.py", ("# -*- coding: latin-1 -*-\n" + says("saved_latin", "grün")).encode("latin-1"))
    dotted = HEAD + "from . import saved_lf\n\n@tool\ndef dotted() -> str:\n    'Says.'\n    return saved_lf.saved_lf()\n"
    desk.save("saved_by_a_dot.py", "\ufeff" + dotted)
    names = [*(f"saved_{name}" for name in (*ends, "latin")), "dotted"]
    await desk.offered(*names)
    assert [await desk.value(name) for name in names] == ["grün"] * len(names)


async def test_ending_the_program_is_one_failed_call(desk: Desk):
    """R013"""
    bodies = {
        "quits": "import sys; sys.exit(2)",
        "quits_plainly": "exit()",
        "interrupts": "raise KeyboardInterrupt",
        "raises_exit": "raise SystemExit",
        "parses": "import argparse; argparse.ArgumentParser().parse_args(['--no'])",
    }
    text = HEAD + "\n@tool\ndef lives() -> str:\n    'Says.'\n    return 'alive'\n"
    for name, body in bodies.items():
        text += f"\n@tool\ndef {name}() -> str:\n    'Ends.'\n    {body}\n"
        text += f"\n@tool\nasync def async_{name}() -> str:\n    'Ends.'\n    {body}\n"
    desk.save("enders.py", text)
    await desk.offered("lives", "async_parses")
    names = [*bodies, *(f"async_{name}" for name in bodies)]
    outcomes = await asyncio.gather(*(desk.call(name) for name in names), desk.call("lives"))
    assert outcomes.pop().text == "alive"
    for name, outcome in zip(names, outcomes, strict=True):
        assert outcome.status is Status.FAILED, name
        assert "tried to end the program" in outcome.text, name
        assert outcome.reference, name
    assert await desk.value("lives") == "alive"


@pytest.mark.parametrize("folder", ["", "circle/"])
async def test_a_circular_import_that_python_allows_works(desk: Desk, folder: str):
    """R014"""
    mark = "in" if folder else "out"
    a, b = f"a_{mark}", f"b_{mark}"
    desk.save(f"{folder}{b}.py", f"import {a}\n\ndef late():\n    return {a}.NAME\n")
    desk.save(
        f"{folder}{a}.py",
        f"{HEAD}import {b}\n\n@tool\ndef round_{mark}() -> str:\n    'Says.'\n    return {b}.late()\n\nNAME = 'last line'\n",
    )
    await desk.serves(f"round_{mark}", "last line")
    assert desk.problems(a) + desk.problems(b) + desk.problems("circle") == []


@pytest.mark.parametrize("folder", ["", "knot/"])
async def test_a_circular_import_is_named_and_mending_one_file_is_enough(desk: Desk, folder: str):
    """R014"""
    mark = "in" if folder else "out"
    a, b = f"one_{mark}", f"two_{mark}"
    plugin = "knot" if folder else a
    desk.save(f"{folder}{b}.py", f"from {a} import NAME\nWORD = NAME\n")
    desk.save(
        f"{folder}{a}.py",
        f"{HEAD}from {b} import WORD\n\n@tool\ndef tied_{mark}() -> str:\n    'Says.'\n    return WORD\n\nNAME = 'x'\n",
    )
    await desk.until(lambda: desk.problems(plugin))
    told = " ".join(problem.reason for problem in desk.problems(plugin))
    assert f"circular import: {a} -> {b} -> {a}" in told or f"circular import: {b} -> {a} -> {b}" in told
    desk.save(f"{folder}{b}.py", "WORD = 'untied'\n")
    await desk.serves(f"tied_{mark}", "untied")
    assert desk.problems(plugin) + desk.problems(b) == []


async def test_a_tool_file_may_import_the_hosts_own_packages(desk: Desk):
    """R014: whatever it finds there, the host is not discovered anew and goes on."""
    desk.save(
        "looks_inside.py",
        HEAD
        + "import etui, etui.contracts, etui.errors\nfrom etui.tool import Tool\nfrom etui.contracts.etui import contract\n"
        "\n@tool\ndef looks() -> bool:\n    'Says.'\n    return etui.tool is tool and Tool is not None\n",
    )
    await desk.serves("looks", True)


async def test_five_hundred_files_at_once_are_all_there(tmp_path):
    """R004 R008: dropped into a running host, with one broken; each once, and one edit costs one."""
    async with desk_at(tmp_path) as desk:
        for number in range(500):
            desk.save(f"many_{number:03}.py", says(f"many_{number:03}", str(number)))
        desk.save("many_250.py", "def broken(:\n")
        async with asyncio.timeout(60):
            await desk.until(lambda: len(desk.names()) == 499)
        assert (await desk.problem("many_250")).line == 1
        assert await desk.value("many_499") == "499"
        desk.save("many_250.py", says("many_250", "mended"))
        await desk.serves("many_250", "mended")
        assert desk.host.problems.all() == ()


async def test_a_folder_that_is_renamed_while_it_runs_is_the_plugin_under_its_new_name(desk: Desk):
    """R005 R007: a call under way ends well, and the tool is there once, under the new plugin's name."""
    desk.save(
        "before/main.py",
        HEAD + "import asyncio, pathlib\nfrom etui import Context\n\n"
        "@tool\nasync def moved(ctx: Context, wait: bool = False) -> str:\n    'Says.'\n"
        "    if wait:\n        ctx.say('waiting')\n        await asyncio.sleep(0.5)\n"
        "    return pathlib.Path(__file__).parent.name\n",
    )
    await desk.serves("moved", "before")
    since = len(desk.told)
    call = asyncio.create_task(desk.call("moved", {"wait": True}))
    await desk.until(lambda: desk.events(Kind.SAID, since))
    (desk.tools / "before").rename(desk.tools / "after")
    assert (await call).status is Status.OK
    await desk.until(lambda: [tool.plugin for tool in desk.host.tools.all() if tool.name == "moved"] == ["after"])
    assert await desk.value("moved") == "after"
    assert desk.problems("before") + desk.problems("after") == []


async def test_a_plugin_reads_its_data_file_as_it_is_now(desk: Desk):
    """R005: data beside the code of a folder, changed without the code."""
    desk.save("reader/data/words.txt", "one")
    code = "from pathlib import Path\n\n@tool\ndef read_words() -> str:\n    'Says.'\n"
    desk.save("reader/main.py", HEAD + code + "    return (Path(__file__).parent / 'data' / 'words.txt').read_text()\n")
    await desk.serves("read_words", "one")
    desk.save("reader/data/words.txt", "two")
    assert await desk.value("read_words") == "two"


async def test_an_import_that_never_ends_holds_nobody_up(tmp_path):
    """R002 R004: others load meanwhile, also more of its kind, and each is named in the end."""
    async with desk_at(tmp_path) as desk:
        # Ten seconds of the host's own patience are not what is asked about.
        desk.host.workers._describing.seconds = 1.0
        desk.save("hangs.py", HEAD + "import time\nwhile True:\n    time.sleep(0.1)\n")
        desk.save("quick.py", says("quick", "here"))
        await desk.offered("quick")
        assert await desk.value("quick") == "here"
        problem = await desk.problem("hangs")
        assert "not loaded after" in problem.reason and problem.file == str(desk.tools / "hangs.py")


async def test_what_a_file_prints_while_it_loads_harms_nobody(desk: Desk):
    """R002: ten megabytes to each stream, half of them garbage."""
    desk.save(
        "prints.py",
        HEAD + "import os, sys\nfor _ in range(100):\n    print('x' * 100_000)\n    os.write(2, b'\\xff\\x00' * 50_000)\n"
        "sys.stdout.close()\n" + says("prints", "quiet now").removeprefix(HEAD),
    )
    await desk.serves("prints", "quiet now")


async def test_threads_and_programs_started_at_import_are_gone_when_the_plugin_is(desk: Desk):
    """R013: a thread is no reason to hang; a program is refused unless it is declared, and ends with its worker."""
    desk.save(
        "threads.py",
        HEAD + "import threading, time\ndef tick():\n    while True:\n        time.sleep(0.01)\n"
        "for _ in range(8):\n    threading.Thread(target=tick).start()\n" + says("threads", "many").removeprefix(HEAD),
    )
    await desk.serves("threads", "many")
    text = (
        HEAD + "import subprocess\nsubprocess.Popen(['sleep', '61.0991'])\n\n"
        "@tool{risk}\ndef starts() -> str:\n    'Says.'\n    return 'started'\n"
    )
    desk.save("starts.py", text.format(risk=""))
    assert "not allowed" in (await desk.problem("starts")).reason
    desk.save("starts.py", text.format(risk="(risk='exec')"))
    await desk.serves("starts", "started")
    assert running("61.0991")
    workers = {alive.plugin: alive.pid for alive in desk.host.workers.report()}
    gone = desk.ended(workers["threads"], workers["starts"], *running("61.0991"))
    (desk.tools / "starts.py").unlink()
    (desk.tools / "threads.py").unlink()
    await gone


async def test_what_was_seen_of_one_version_is_never_taken_for_another(desk: Desk):
    """R005 R008: a helper that changes while its plugin is read; the version that comes back is judged by its own bytes."""
    (desk.tools / "twin").mkdir()
    os.mkfifo(desk.tools / "twin" / "gate")
    waits = "import pathlib\nhere = pathlib.Path(__file__).parent\n"
    waits += "if not (here / 'go').exists():\n    (here / 'gate').read_text()\n"
    helper = HEAD + "\n@tool\ndef twin() -> str:\n    'Says.'\n    return 'good'\n"
    desk.save("twin/b_second.py", helper)
    desk.save("twin/a_first.py", waits)
    with await asyncio.to_thread(open, desk.tools / "twin" / "gate", "w"):
        desk.save("twin/b_second.py", "def broken(:\n")
        desk.save("twin/go", "")
    await desk.until(lambda: desk.problems("twin"))
    desk.save("twin/b_second.py", helper)
    await desk.serves("twin", "good")
    assert desk.problems("twin") == []


async def test_the_tools_folder_may_be_taken_away_and_put_back(tmp_path):
    """R007 R008: as a sync program or `git clean` does."""
    async with desk_at(tmp_path) as desk:
        desk.save("kept.py", says("kept", "one"))
        await desk.serves("kept", "one")
        shutil.rmtree(desk.tools)
        await desk.gone("kept")
        desk.tools.mkdir(exist_ok=True)
        desk.save("kept.py", says("kept", "two"))
        await desk.serves("kept", "two")
        desk.save("kept.py", says("kept", "three"))
        await desk.serves("kept", "three")
        aside = desk.tools.rename(tmp_path / "aside")
        await desk.gone("kept")
        shutil.rmtree(desk.tools, ignore_errors=True)
        aside.rename(desk.tools)
        await desk.serves("kept", "three")
        desk.save("kept.py", says("kept", "four"))
        await desk.serves("kept", "four")


async def test_a_version_that_is_restored_at_a_start_brings_its_helpers_and_only_its_own_tools(tmp_path):
    """R005 R011: the last good version of a loose file that lends another's tool, and reads data."""
    tools = tmp_path / "tools"
    (tools / "reader").mkdir(parents=True)
    (tools / "inner.py").write_text(says("inner", "lent"))
    outer = HEAD + "from inner import inner\n\n@tool\ndef outer() -> str:\n    'Says.'\n    return inner() + '!'\n"
    (tools / "outer.py").write_text(outer)
    (tools / "reader" / "data.txt").write_text("data")
    reads = (
        HEAD + "from pathlib import Path\n\n@tool\ndef reads() -> str:\n    'Says.'\n"
        "    return Path(__file__).with_name('data.txt').read_text()\n"
    )
    (tools / "reader" / "main.py").write_text(reads)
    async with desk_at(tmp_path) as desk:
        assert desk.names() == {"inner", "outer", "reads"}
    (tools / "outer.py").write_text(outer + "def broken(:\n")
    (tools / "reader" / "main.py").write_text(reads + "def broken(:\n")
    async with desk_at(tmp_path) as desk:
        assert desk.names() == {"inner", "outer", "reads"}
        assert await desk.value("outer") == "lent!"
        assert await desk.value("reads") == "data"
        assert {problem.plugin for problem in desk.host.problems.all()} == {"outer", "reader"}
        (tools / "outer.py").write_text(outer.replace("!", "?"))
        await desk.serves("outer", "lent?")
