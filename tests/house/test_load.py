"""What lies in the folders, and what is passed over."""

from __future__ import annotations

import os

import pytest

from etui.contracts import Description, Files
from etui.plugins.candidates import Place
from etui.plugins.good import Good
from etui.plugins.load import Loader
from etui.plugins.sources import scan
from etui.tool import Grant, Problem, Tool

TOOL = "from etui import tool\n\n@tool\ndef {name}() -> str:\n    return 'x'\n"


def place(tmp_path, **more) -> Place:
    return Place(name="tools", path=tmp_path, **more)


def names(found) -> list[str]:
    return [candidate.name for candidate in found]


def test_a_loose_file_and_a_folder_are_each_a_plugin(tmp_path):
    (tmp_path / "dice.py").write_text(TOOL.format(name="roll"))
    (tmp_path / "cards").mkdir()
    (tmp_path / "cards" / "deck.py").write_text(TOOL.format(name="draw"))
    found, problems = scan([place(tmp_path)])
    assert names(found) == ["cards", "dice"]
    assert problems == []


@pytest.mark.parametrize(
    "name", ["_draft.py", ".hidden.py", "dice.py~", ".dice.py.swp", "#dice.py#", "4913", "notes.txt", "__pycache__"]
)
def test_what_editors_and_drafts_leave_behind_is_passed_over(tmp_path, name):
    (tmp_path / name).write_text("def broken(:")
    assert scan([place(tmp_path)]) == ([], [])


def test_a_missing_source_is_one_problem_and_the_others_go_on(tmp_path):
    (tmp_path / "dice.py").write_text(TOOL.format(name="roll"))
    found, problems = scan([Place(name="gone", path=tmp_path / "gone"), place(tmp_path)])
    assert names(found) == ["dice"]
    assert "cannot be read" in problems[0].reason


def test_a_pipe_with_the_name_of_a_tool_file_holds_nobody_up(tmp_path):
    os.mkfifo(tmp_path / "pipe.py")
    found, problems = scan([place(tmp_path)])
    assert found == []
    assert "no regular file" in problems[0].reason


def test_a_huge_file_is_named_and_not_read(tmp_path):
    with open(tmp_path / "huge.py", "wb") as file:
        file.truncate(20 << 20)
    found, problems = scan([place(tmp_path)])
    assert found == []
    assert "bytes" in problems[0].reason


def test_a_link_that_leads_nowhere_is_one_problem(tmp_path):
    (tmp_path / "gone.py").symlink_to(tmp_path / "nothing")
    found, problems = scan([place(tmp_path)])
    assert found == []
    assert len(problems) == 1


def test_a_folder_that_is_a_link_back_is_said_and_passed_over(tmp_path):
    (tmp_path / "dice.py").write_text(TOOL.format(name="roll"))
    (tmp_path / "again").symlink_to(tmp_path)
    found, problems = scan([place(tmp_path)])
    assert names(found) == ["dice"]
    assert [(problem.what, "leads back" in problem.reason) for problem in problems] == [("again", True)]


def test_links_inside_of_a_plugin_are_followed_and_in_no_circle(tmp_path):
    plugin, data, home = tmp_path / "tools" / "deck", tmp_path / "data", tmp_path / "good"
    for folder in (plugin / "inner", data):
        folder.mkdir(parents=True)
    (plugin / "main.py").write_text(TOOL.format(name="draw"))
    (plugin / "inner" / "rules.py").write_text("CARDS = 52")
    (plugin / "inner" / "rules.txt").write_text("52")
    (data / "cards.txt").write_text("ace")
    (data / "again").symlink_to(data)
    links = {"up": "..", "self": ".", "inner/top": "/", "alias": "inner", "data": data, "data2": data, "gone": "no"}
    for link, target in links.items():
        (plugin / link).symlink_to(target)
    (candidate,), _ = scan([place(tmp_path / "tools")])
    Good(home).keep(candidate)
    kept = Good(home).find(candidate)
    assert kept is not None
    assert sorted(str(path.relative_to(kept.path)) for path in kept.path.rglob("*")) == [
        "alias",
        "alias/rules.txt",
        "data",
        "data/cards.txt",
        "data2",
        "data2/cards.txt",
        "inner",
        "inner/rules.py",
        "inner/rules.txt",
        "main.py",
    ]


@pytest.mark.parametrize(
    "statement",
    [
        "from . import phrases",
        "import os, phrases as p",
        "from . import (os,\n  phrases)",
        "from . import (  # noqa\n  os,  # this, that\n  # and\n  phrases,\n)",
    ],
)
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_however_a_file_imports_the_one_beside_it_both_belong_together(tmp_path, statement, mark):
    (tmp_path / "main.py").write_text(mark + statement + "\n" + TOOL.format(name="hello"))
    (tmp_path / "phrases.py").write_text("HELLO = 'old'")
    (found,), _ = scan([place(tmp_path)])
    assert [file.name for file in found.files] == ["main.py", "phrases.py"]


def test_the_digest_covers_the_helpers_beside_a_loose_file(tmp_path):
    (tmp_path / "main.py").write_text("from phrases import HELLO\n" + TOOL.format(name="hello"))
    (tmp_path / "phrases.py").write_text("HELLO = 'old'")
    (before,), problems = scan([place(tmp_path)])
    assert problems == []
    assert [file.name for file in before.files] == ["main.py", "phrases.py"]
    (tmp_path / "phrases.py").write_text("HELLO = 'new'")
    (after,), _ = scan([place(tmp_path)])
    assert before.digest != after.digest


def test_content_decides_and_never_the_time_stamp(tmp_path):
    file = tmp_path / "dice.py"
    file.write_text(TOOL.format(name="roll"))
    (before,), _ = scan([place(tmp_path)])
    os.utime(file, (1, 1))
    (after,), _ = scan([place(tmp_path)])
    assert before == after


def test_two_plugins_of_one_name_in_two_sources_are_told_apart(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "dice.py").write_text(TOOL.format(name="roll"))
    found, _ = scan([Place(name="a", path=tmp_path / "a"), Place(name="b", path=tmp_path / "b")])
    assert names(found) == ["dice", "b.dice"]


class Kept:
    """What was described, by place and stamp."""

    def __init__(self):
        self.rows = {}

    def get(self, place, stamp):
        return self.rows.get((place, stamp))

    def put(self, place, stamp, description):
        self.rows[place, stamp] = description


def described(**more):
    asked = []

    async def describe(files: Files, grant: Grant) -> Description:
        asked.append(grant)
        return more["answers"][min(len(asked), len(more["answers"])) - 1]

    return describe, asked


def tool(file, name="roll") -> Tool:
    return Tool(name=name, description="", parameters={}, contract="etui", plugin="?", file=str(file))


async def test_the_same_bytes_are_described_once(tmp_path):
    file = tmp_path / "dice.py"
    file.write_text(TOOL.format(name="roll"))
    (candidate,), _ = scan([place(tmp_path)])
    describe, asked = described(answers=[Description(contract="etui", tools=(tool(file),))])
    loader = Loader(describe, Kept(), tmp_path / "files")
    first, second = await loader.load(candidate), await loader.load(candidate)
    assert asked == [Grant()]
    assert first == second
    assert (first.tools[0].plugin, first.tools[0].digest, first.tools[0].toolset) == ("dice", candidate.digest, "plugin:dice")


async def test_a_file_that_cannot_load_with_nothing_granted_is_tried_with_what_it_declares(tmp_path):
    file = tmp_path / "dice.py"
    file.write_text(TOOL.format(name="roll"))
    (candidate,), _ = scan([place(tmp_path)])
    wishes = Grant(network=True)
    broken = Description(contract="etui", problems=(Problem(what="dice.py", reason="No network."),), wishes=wishes)
    describe, asked = described(answers=[broken, Description(contract="etui", tools=(tool(file),), wishes=wishes)])
    plugin = await Loader(describe, Kept(), tmp_path / "files").load(candidate)
    assert asked == [Grant(), wishes]
    assert [one.name for one in plugin.tools] == ["roll"]


async def test_a_helper_that_has_tools_of_its_own_keeps_them(tmp_path):
    (tmp_path / "main.py").write_text("import other\n" + TOOL.format(name="hello"))
    (tmp_path / "other.py").write_text(TOOL.format(name="roll"))
    found, _ = scan([place(tmp_path)])
    main = next(candidate for candidate in found if candidate.name == "main")
    both = Description(contract="etui", tools=(tool(tmp_path / "main.py", "hello"), tool(tmp_path / "other.py", "roll")))
    describe, _ = described(answers=[both])
    plugin = await Loader(describe, Kept(), tmp_path / "files").load(main)
    assert [one.name for one in plugin.tools] == ["hello"]


async def test_what_was_seen_while_a_file_was_saved_anew_with_the_same_bytes_is_not_kept(tmp_path):
    file = tmp_path / "dice.py"
    file.write_text(TOOL.format(name="roll"))
    (candidate,), _ = scan([place(tmp_path)])
    unseen = Description(contract="etui", problems=(Problem(what="dice", reason="It could not be loaded: PermissionError."),))

    async def describe(files: Files, grant: Grant) -> Description:
        if asked.append(grant) or len(asked) > 1:
            return Description(contract="etui", tools=(tool(file),))
        (tmp_path / "new").write_bytes(file.read_bytes())
        (tmp_path / "new").replace(file)
        return unseen

    asked: list[Grant] = []
    loader = Loader(describe, Kept(), tmp_path / "files")
    assert await loader.load(candidate) is None
    plugin = await loader.load(candidate)
    assert plugin is not None and plugin.problems == ()


async def test_a_file_without_a_tool_says_so(tmp_path):
    (tmp_path / "empty.py").write_text("x = 1\n")
    (candidate,), _ = scan([place(tmp_path)])
    describe, _ = described(answers=[Description(contract="etui")])
    plugin = await Loader(describe, Kept(), tmp_path / "files").load(candidate)
    assert "No tool" in plugin.problems[0].reason


def test_a_copy_is_kept_of_a_folder_that_holds_a_pipe_too(tmp_path):
    folder = tmp_path / "tools" / "cards"
    folder.mkdir(parents=True)
    (folder / "deck.py").write_text(TOOL.format(name="draw"))
    (folder / "names.txt").write_text("ace")
    os.mkfifo(folder / "pipe")
    (candidate,), _ = scan([place(tmp_path / "tools")])
    good = Good(tmp_path / "good")
    good.keep(candidate)
    copy = good.find(candidate)
    assert copy is not None
    assert copy.digest == candidate.digest
    assert sorted(path.name for path in copy.path.iterdir()) == ["deck.py", "names.txt"]
