"""`ctx.approval`, `kotoba.core.interaction`: what needs nobody, what is asked, what a yes stands for, how a question ends."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.kotoba.clocks import jumping
from tests.kotoba.homes import kinds, kotoba, ping, write
from tests.kotoba.wheel import files as wheel_files
from tests.spine.homes import LONG, until

from etui.agent.scripted import call
from etui.events import Event, Kind
from etui.outcome import Outcome, Status

CONFIRM = ping('return repr(await ctx.approval.confirm(args["action"], **args.get("more", {})))', name="confirm")
ASK = ping(
    """
    from kotoba.core import interaction
    return await interaction.ask_approval(ctx, args["action"], *args.get("placed", []), **args.get("more", {}))
    """,
    name="ask",
    head='RISK = "write"\nANNOUNCE, COMPLETE, FAIL = "On it.", "Done it.", "That failed."',
)
PLUGIN = {"p/confirm.py": CONFIRM, "p/ask.py": ASK}


class Desk:
    """A room, and a person in front of it who answers cards."""

    def __init__(self, room, cards) -> None:
        self.room = room
        self.cards = cards

    async def opened(self) -> dict:
        """The next card, as surfaces get it."""
        event = await until(self.cards, Kind.CARD_OPENED)
        return json.loads(json.dumps(event.data["card"]))

    async def call(self, name: str, arguments: dict, answer: str, **session) -> tuple[Outcome, dict]:
        """A call whose one card is answered so; the end, and the card."""
        running = asyncio.create_task(self.room.call(name, arguments, attended=True, **session))
        card = await self.opened()
        assert self.room.host.cards.answer(card["id"], answer)
        return await asyncio.wait_for(running, LONG), card

    async def confirm(self, action: str, answer: str = "", **more) -> dict | None:
        """Ask for leave of a command; the card that was answered so, or None where none was needed."""
        arguments = {"action": action, "more": more}
        if answer:
            outcome, card = await self.call("confirm", arguments, answer)
            assert outcome.text == repr(answer not in ("decline", "dismiss"))
            return card
        outcome = await self.room.call("confirm", arguments, attended=True)
        assert (outcome.status, outcome.text) == (Status.OK, "True")
        assert self.room.host.cards.open() == []
        return None


@asynccontextmanager
async def desk_at(path: Path, files=PLUGIN, **settings):
    work = path / "home" / "files"
    write(work, {"notes.txt": "alpha\n", "a": "a"})
    async with kotoba(path, files, **settings) as room, room.host.hub.listen(Kind.CARD_OPENED) as cards:
        yield Desk(room, cards)


@pytest.fixture
async def desk(tmp_path):
    async with desk_at(tmp_path) as desk:
        yield desk


def decisions(desk: Desk) -> list[tuple[str, bool, str]]:
    """The decisions on record, oldest first: what, whether it was allowed, and who decided."""
    rows = desk.room.host.store.journal.actions()
    return [(row.action, row.approved, row.approver) for row in reversed(rows) if row.detail == "decision"]


@pytest.mark.promise("K323", "K324", "K325", "K327", "K292")
async def test_a_yes_a_no_nobody_and_what_needs_no_question(desk):
    card = await desk.confirm("make a", "approve")
    assert (card["kind"], card["action"], card["risk"]) == ("approval", "make a", "exec")
    await desk.confirm("make a", "decline")
    for command in ("cat notes.txt", "ls"):
        await desk.confirm(command)
    await desk.confirm("look", risk_kind="read")

    started = asyncio.get_running_loop().time()
    alone = await desk.room.call("confirm", {"action": "make a"})
    assert (alone.status, alone.text) == (Status.REFUSED, "False")
    assert asyncio.get_running_loop().time() - started < 1 and desk.room.host.cards.open() == []

    await desk.confirm("make b", "always_call")
    await desk.confirm("make b")
    await desk.confirm("git log", "always_family")
    await desk.confirm("git status")
    assert decisions(desk) == [
        ("make a", True, "user"),
        ("make a", False, "user"),
        ("cat notes.txt", True, "auto-safe"),
        ("ls", True, "auto-safe"),
        ("look", True, "auto-safe"),
        ("make a", False, "default"),
        ("make b", True, "user"),
        ("make b", True, "saved-exact"),
        ("git log", True, "user"),
        ("git status", True, "saved"),
    ]


@pytest.mark.promise("K326", "K328", "K329", "K330", "K331")
async def test_what_is_asked_in_spite_of_all_that_was_saved(desk):
    (desk.room.folder.parent / "home" / "files" / "link").symlink_to("/etc/passwd")
    for command in ("cat a; rm b", "cat /etc/passwd", "grep --file=/etc/passwd x", "cat link", "cat $HOME/x", "sort -o a a"):
        await desk.confirm(command, "decline")

    await desk.confirm("rm a", "always_family")
    await desk.confirm("rm b")
    for command in ("rm -rf x", "ls; rm -r x"):
        card = await desk.confirm(command, "approve")
        assert card["always"] == [] and card["notice"].startswith("Careful")
    assert await desk.confirm("ls", "approve", force_ask=True)

    await desk.confirm("git log", "always_family")
    await desk.confirm("git log --oneline")
    for command in (
        "git log; make",
        "git -c core.pager=make log",
        "git -C . config alias.x !make",
        "GIT_PAGER=x git log",
    ):
        assert (await desk.confirm(command, "decline"))["family"] == ""
    assert await desk.confirm("./git log", "decline")
    for command in ("git -C . clean -fdx", "git reset --hard"):
        assert (await desk.confirm(command, "decline"))["notice"].startswith("Careful")
    await desk.confirm("make a", "always_call")
    await desk.confirm("make a")
    assert await desk.confirm("make  a", "decline")

    for command in ("python x", "/usr/bin/python3.12 x", "sudo x", "less x", "vi x", "curl x", "env git x"):
        for _ in range(2):
            card = await desk.confirm(command, "approve")
            assert "always_family" not in card["always"] and card["family"] == ""
    await desk.confirm("cat /etc/hosts", "always_family")
    await desk.confirm("cat a")
    assert await desk.confirm("cat /etc/passwd", "decline")


@pytest.mark.promise("K332")
async def test_a_saved_answer_falls_with_the_code_that_it_was_given_to(desk):
    await desk.confirm("make a", "always_call")
    await desk.confirm("make a")
    async with desk.room.host.hub.listen(Kind.TOOLS_CHANGED) as changes:
        (desk.room.folder / "p" / "confirm.py").write_text(CONFIRM + "\n# another version\n")
        await until(changes, Kind.TOOLS_CHANGED)
    assert await desk.confirm("make a", "decline")


@pytest.mark.promise("K263", "K293", "K333", "K334")
async def test_ask_approval_names_its_ending_and_is_its_own_witness(desk):
    ended = {}
    for answer in ("approve", "decline", "dismiss"):
        ended[answer], card = await desk.call("ask", {"action": "tidy up", "placed": [None, "It takes long."]}, answer)
        assert card["notice"] == "It takes long."
    ended["nobody"] = await desk.room.call("ask", {"action": "tidy up"})
    assert {answer: (end.status, end.text) for answer, end in ended.items()} == {
        "approve": (Status.OK, "approved"),
        "decline": (Status.REFUSED, "declined"),
        "dismiss": (Status.REFUSED, "dismissed"),
        "nobody": (Status.REFUSED, "unreachable"),
    }
    assert decisions(desk) == [
        ("tidy up", True, "user"),
        ("tidy up", False, "user"),
        ("tidy up", False, "dismissed"),
        ("tidy up", False, "default"),
    ]
    executed = [row.action for row in desk.room.host.store.journal.actions() if row.detail.startswith("executed")]
    assert len(executed) == 1

    plain, card = await desk.call("ask", {"action": "tidy up", "more": {"family": ""}}, "approve")
    assert plain.ok and card["always"] == []
    assert not desk.room.host.cards.answer(card["id"], "always_call")
    _, card = await desk.call("ask", {"action": "tidy up", "more": {"family": "tidying"}}, "always_family")
    assert card["always"] == ["always_call", "always_family"] and card["family"] == "tidying"
    again = await desk.room.call("ask", {"action": "tidy down", "more": {"family": "tidying"}}, attended=True)
    assert (again.text, desk.room.host.cards.open()) == ("approved", [])

    turn = asyncio.create_task(desk.room.turn("go", [call("ask", {"action": "more"})], "Left alone.", attended=True))
    card = await desk.opened()
    desk.room.host.cards.answer(card["id"], "decline")
    assert await turn == "Left alone."
    told = await desk.room.events()
    assert [one.data["text"] for one in told if one.kind is Kind.SAID and one.chat == desk.room.chat] == ["On it."]
    assert [result.text for result in desk.room.results()] == ["declined"]


NOTE = ping(
    """
    from kotoba.core.interaction import note_no_run
    note_no_run(ctx, args["verdict"])
    if args.get("run"):
        box = await ctx.ensure_sandbox()
        await box.run("exit 2")
    return "left alone"
    """,
    name="note",
    head='RISK = "write"\nCOMPLETE, FAIL = "Done it.", "That failed."',
)


@pytest.mark.promise("K270", "K272")
async def test_a_call_that_ended_at_a_card_is_a_refusal_whatever_else_it_did(tmp_path):
    async with desk_at(tmp_path, {"p/note.py": NOTE}) as desk:
        for arguments in ({"verdict": "declined"}, {"verdict": "declined", "run": True}):
            await desk.room.turn("go", [call("note", arguments)], "Left alone.")
            assert (desk.room.results()[-1].text, desk.room.results()[-1].meta["status"]) == ("left alone", "refused")
        assert kinds(await desk.room.events(), Kind.SAID) == []
        assert [row for row in desk.room.host.store.journal.actions() if row.detail.startswith("executed")] == []


WORDS = ping(
    """
    from kotoba.core import interaction as said
    endings = ["approved", "declined", "unanswered", "unreachable", "dismissed"]
    notes = [said.refusal_note(ending, "painting the shed") for ending in endings[1:]]
    results = []
    for ending in endings[1:]:
        said.note_no_run(ctx, ending)
        results.append(said.no_run_result(ctx, "painting the shed", "I left it."))
    return {"notes": notes, "results": results}
    """
)


@pytest.mark.promise("K335")
async def test_each_ending_has_a_sentence_that_names_what_did_not_run(tmp_path):
    async with desk_at(tmp_path, {"p/ping.py": WORDS}) as desk:
        data = (await desk.room.call("ping")).text
    told = json.loads(data)
    assert len(set(told["notes"])) == 4 and all("painting the shed" in note for note in told["notes"])
    assert told["results"] == told["notes"]


TYPING = ping(
    """
    from kotoba.core import interaction
    how = {}
    if args["wait"]:
        value = await interaction.request_input(ctx.session_id, "Colour", args.get("kind", "text"), card=how)
        return repr((value, how.get("verdict")))
    if "url" in args:
        return repr(await interaction.open_link_card(ctx.session_id, args["url"], "a page"))
    drawn = await interaction.open_input_card(ctx.session_id, "Colour", args.get("kind", "text"), name="paint")
    return repr(drawn)
    """,
    name="type",
    head="INTERACTIVE = True",
)
KEYS = ping('return repr((await ctx.db.list_key_names(), await ctx.db.get_key("paint")))', name="keys")


@pytest.mark.promise("K336", "K337")
async def test_boxes_to_type_into_are_waited_for_or_left_open(tmp_path):
    async with desk_at(tmp_path, {"p/type.py": TYPING, "p/keys.py": KEYS}) as desk:
        room, cards = desk.room, desk.room.host.cards
        outcome, card = await desk.call("type", {"wait": True}, "blue")
        assert (outcome.text, card["kind"], card["secret"]) == ("('blue', 'approved')", "question", False)
        outcome, _ = await desk.call("type", {"wait": True}, "decline")
        assert outcome.text == "(None, 'declined')"
        assert (await room.call("type", {"wait": True})).text == "(None, 'unreachable')"
        async with room.host.hub.listen(Kind.CARD_CLOSED) as closed:
            _, card = await desk.call("type", {"wait": True, "kind": "secret"}, "hush")
            assert card["secret"] and (await closed.next()).data["answer"] == "answered"

        for arguments, kind in (({"wait": False}, "question"), ({"wait": False, "url": "https://example.com"}, "link")):
            assert (await room.call("type", arguments)).text == "False"
            assert (await room.call("type", arguments, attended=True)).text == "True"
            card = await desk.opened()
            assert (card["kind"], [one.id for one in cards.open()]) == (kind, [card["id"]])
            assert cards.answer(card["id"], "decline")
            await asyncio.sleep(0)

        room.chat = room.host.store.chats.create("", "python").id
        room.script("I heard blue.")
        async with room.host.hub.listen(Kind.TURN_ENDED) as turns:
            await room.call("type", {"wait": False}, attended=True, chat=room.chat)
            assert cards.answer((await desk.opened())["id"], "blue")
            assert (await turns.next()).data["text"] == "I heard blue."
            said = [message.text for message in room.host.store.chats.messages(room.chat) if message.role == "user"]
            assert said == ["blue"]
            room.script("Thanks.")
            await room.call("type", {"wait": False, "kind": "key"}, attended=True, chat=room.chat)
            assert cards.answer((await desk.opened())["id"], "s3cret")
            await turns.next()
        told = [message.text for message in room.host.store.chats.messages(room.chat)]
        assert not any("s3cret" in text for text in told)
        assert (await room.call("keys")).text == "([{'name': 'paint'}], 's3cret')"


@pytest.mark.promise("K301", "K333")
@pytest.mark.parametrize(("channel", "seconds"), [("python", 180), ("voice", 60), ("phone", 25)])
async def test_a_card_is_open_as_long_as_the_channel_gives_to_answer(tmp_path, channel, seconds):
    write(tmp_path / "home" / "files", {"notes.txt": ""})
    async with jumping(tmp_path, PLUGIN) as stage, stage.room.host.hub.listen(Kind.CARD_OPENED, Kind.CARD_CLOSED) as cards:
        running = asyncio.create_task(
            stage.room.call("ask", {"action": "tidy up"}, attended=True, channel=channel, trust="full")
        )
        opened: Event = await cards.next()
        await stage.passes(seconds - 1)
        assert not running.done() and len(stage.room.host.cards.open()) == 1
        await stage.passes(2)
        closed: Event = await cards.next()
        assert round(closed.at - opened.at) == seconds
        outcome = await running
        assert (outcome.status, outcome.text) == (Status.REFUSED, "unanswered")


@pytest.mark.promise("K167", "K411", "K412")
async def test_the_wheels_shell_and_code_are_asked_about_before_they_destroy(tmp_path):
    path = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
    async with desk_at(tmp_path, wheel_files("shell", "execute_code"), environ=path) as desk:
        work = tmp_path / "home" / "files"
        write(work, {"x/y": "z", "gone.txt": ""})

        async def end(name, arguments):
            outcome = await desk.room.call(name, arguments)
            return outcome.status, outcome.text

        assert await end("shell", {"command": "echo hi"}) == (Status.OK, "exit=0\nstdout:\nhi\n")
        assert (await end("shell", {"command": "rm -rf x"}))[0] in (Status.REFUSED, Status.NEEDS_APPROVAL)
        assert (await end("shell", {}))[0] is Status.FAILED
        outcome, card = await desk.call("shell", {"command": "rm -rf x"}, "decline")
        assert (card["action"], outcome.status) == ("rm -rf x", Status.REFUSED) and (work / "x" / "y").exists()
        turn = asyncio.create_task(
            desk.room.turn("go", [call("shell", {"command": "rm -rf x"})], "I left it.", channel="console", attended=True)
        )
        assert desk.room.host.cards.answer((await desk.opened())["id"], "decline")
        assert await turn == "I left it."
        assert desk.room.results()[-1].meta["status"] == "refused" and (work / "x" / "y").exists()
        outcome, _ = await desk.call("shell", {"command": "exit 3"}, "approve")
        assert (outcome.status, outcome.text) == (Status.FAILED, "exit=3")
        outcome, _ = await desk.call("shell", {"command": "rm -rf x"}, "approve")
        assert outcome.ok and not (work / "x").exists()

        removing = {"code": "import os\nos.remove('gone.txt')"}
        assert (await end("execute_code", removing))[0] is Status.REFUSED and (work / "gone.txt").exists()
        outcome, card = await desk.call("execute_code", {"code": "print(1+1)"}, "always_family")
        assert (outcome.status, outcome.text) == (Status.OK, "exit=0\nstdout:\n2\n")
        assert (card["always"], card["family"]) == (["always_family"], "execute_code")
        assert (await end("execute_code", {"code": "print(2+2)"}))[1] == "exit=0\nstdout:\n4\n"
        for status, words in ((Status.OK, "exit=0"), (Status.FAILED, "Traceback")):
            outcome, card = await desk.call("execute_code", removing, "approve")
            assert (outcome.status, card["always"]) == (status, []) and words in outcome.text
        assert outcome.text.startswith("exit=1")
