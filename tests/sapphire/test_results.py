"""What `execute` may return, as the model, the person and the owner get it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tests.sapphire.homes import Room, sapphire, tool

from etui.agent.scripted import call

pytestmark = pytest.mark.asyncio(loop_scope="module")

FORMS = """
class Odd:
    def __str__(self):
        raise RuntimeError("no text")


FORMS = {
    "pair": ("ok", True), "failed": ("no", False), "dict": ({"a": 1}, True), "number": (5, False), "nothing": (None, True),
    "none": None, "bare": "ab", "object": {"a": 1}, "two": ("a", "b"), "three": ("a", True, 1), "empty": ("", True),
    "int": ("ok", 1), "odd": (Odd(), True), "half": ("a\\ud83d", True),
}


def form(arguments):
    if arguments["form"] == "raises":
        raise ValueError("x")
    if arguments["form"] == "exits":
        import sys
        sys.exit(1)
    return FORMS[arguments["form"]]
"""
SAYS = {
    "pair": ("ok", True),
    "failed": ("no", False),
    "dict": ("{'a': 1}", True),
    "number": ("5", False),
    "nothing": ("(no output)", True),
    "none": ("(no output)", True),
    "bare": ("ab", True),
    "object": ("{'a': 1}", True),
    "two": ("('a', 'b')", True),
    "three": ("('a', True, 1)", True),
    "int": ("('ok', 1)", True),
    "empty": ("(no output)", True),
    "half": ("a\ufffd", True),
}
FAILS = {"raises": "x", "exits": "1", "odd": "no text"}
MARKED = '<<FILE::x>> a\\n<<IMG::tool:y>>\\n b\\n<!--GALLERY:{"title": "t", "items": []}-->\\nc <!--FILES:{"title": "t"}-->d'
FILES = {
    "plugins/forms/tools/three.py": tool("forms_3", head=FORMS, body="return form(arguments)"),
    "plugins/forms/tools/four.py": tool("forms_4", head=FORMS, signature="a, arguments, c, d", body="return form(arguments)"),
    "plugins/forms/tools/five.py": tool(
        "forms_5", head=FORMS, signature="a, arguments, c, d, e", body="return form(arguments)"
    ),
    "plugins/marks/tools/a.py": tool(
        "marked",
        body=f"return '{MARKED}', True",
        is_local=True,
        network=True,
        hidden=False,
        writes=False,
        category="media",
        loop_warn_after=9,
        loop_warn_message="enough",
    ),
    "plugins/long/tools/a.py": tool("long", body='return "x" * arguments["n"], True', properties={"n": {"type": "integer"}}),
    "plugins/waits/tools/a.py": "async def execute(function_name, arguments, config):\n    return 'waited', True\n"
    + tool("waited").partition("def execute")[0],
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def room(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Room]:
    async with sapphire(tmp_path_factory.mktemp("results"), FILES, limit=None) as room:
        yield room


@pytest.mark.promise("S346", "S347", "S348", "S349", "S532")
@pytest.mark.parametrize("name", ["forms_3", "forms_4", "forms_5"])
async def test_every_form_is_a_result_whatever_the_number_of_parameters(room, name):
    assert {form: await room.ran(name, {"form": form}) for form in SAYS} == SAYS
    for form, text in FAILS.items():
        assert await room.ran(name, {"form": form}) == (f"Error executing {name}: {text}", False)
    assert await room.ran(name, {"form": "pair"}) == ("ok", True)


@pytest.mark.promise("S023", "S352")
async def test_a_pair_is_text_and_success_and_the_model_reads_the_text_alone(room):
    await room.turn("go", [call("forms_3", {"form": "pair"}), call("forms_3", {"form": "failed"}, 1)], "Done.")
    first, second = room.results()
    assert (first.text, second.text) == ("ok", "no")
    entries = room.host.store.journal.of_turn(first.turn)
    assert [(one.text, one.status) for one in entries] == [("ok", "ok"), ("no", "failed")]
    assert second.meta["status"] == "failed"


@pytest.mark.promise("S533")
async def test_markers_are_kept_for_the_person_and_no_model_reads_one(tmp_path):
    whole, plain = MARKED.replace("\\n", "\n"), "a\nb\nc d"
    files = {"plugins/marks/tools/a.py": FILES["plugins/marks/tools/a.py"]}
    async with sapphire(tmp_path, files) as room:
        outcome = await room.call("marked")
        assert (outcome.text, outcome.shown) == (plain, whole)
        await room.turn("mark it", [call("marked")], "Done.")
        [kept] = room.results()
        chat = room.chat
    async with sapphire(tmp_path, files) as room:
        room.chat = chat
        assert room.results() == [kept]
        assert (kept.text, kept.call and room.host.store.journal.get(kept.call).shown) == (plain, whole)
        await room.turn("and now", "Yes.")
        said = [message.text for message in room.requests[-1].messages]
        assert plain in said
        assert not [text for text in said if "<<" in text or "<!--" in text]
        [view] = [one for one in room.requests[-1].tools if one.name == "marked"]
        assert view.parameters == {"type": "object", "properties": {}, "required": []}


@pytest.mark.promise("S378")
async def test_a_marker_goes_with_the_white_space_behind_it(room):
    text, _ = await room.ran("marked")
    assert text.splitlines()[:2] == ["a", "b"]


@pytest.mark.promise("S353")
async def test_a_result_that_is_too_long_keeps_its_head_and_ends_in_a_note(room):
    outcome = await room.call("long", {"n": 300_000})
    assert outcome.text[:200_000] == "x" * 200_000
    assert outcome.text[200_000:] == "\n\n[Cut here: 100,000 of 300,000 characters are left out.]"
    [file] = outcome.files
    assert len(room.host.store.blobs.get(file.id).data) == 300_000


@pytest.mark.promise("S353")
async def test_without_a_limit_a_long_result_stays_whole(tmp_path):
    files = {"plugins/long/tools/a.py": FILES["plugins/long/tools/a.py"]}
    async with sapphire(tmp_path, files, sapphire_result_chars=0) as room:
        assert (await room.call("long", {"n": 300_000})).text == "x" * 300_000
        await room.host.settings.set("sapphire_result_chars", 10)
        assert (await room.ran("long", {"n": 20}))[0].startswith("x" * 10 + "\n\n[Cut here: 10 of 20 ")


async def test_a_coroutine_is_waited_for(room):
    assert await room.ran("waited") == ("waited", True)
