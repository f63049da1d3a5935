"""The rules, one by one."""

from __future__ import annotations

import msgspec
import pytest

from etui.gate import RULES, decide
from etui.settings import Settings
from etui.tool import Call, Risk, Tool
from etui.verdict import Decision, Facts, Turn

CALL = Call(id="c", tool="roll")


def tool(**more) -> Tool:
    return Tool(
        **{"name": "roll", "description": "", "parameters": {}, "contract": "etui", "plugin": "dice", "toolset": "plugin:dice"}
        | more
    )


def facts(**more) -> Facts:
    plain = {
        "settings": Settings(),
        "channel": "console",
        "trust": "full",
        "mode": "conversation",
        "private": False,
        "attended": True,
        "off": frozenset(),
        "toolsets": None,
        "enforced": True,
        "remembered": False,
        "turn": Turn(),
    }
    return Facts(**plain | more)


def settings(**more) -> Settings:
    return msgspec.structs.replace(Settings(), **more)


def verdict(made: Tool, seen: Facts) -> tuple[str, str]:
    given = decide(CALL, made, seen)
    return given.decision.value, given.rule


@pytest.mark.parametrize("risk", [Risk.READ, Risk.WRITE, Risk.NETWORK])
def test_what_is_enforced_needs_no_question(risk):
    assert verdict(tool(risk=risk), facts()) == ("allow", "")


def test_starting_programs_asks_first():
    assert verdict(tool(risk=Risk.EXEC), facts()) == ("ask", "allow_exec")


def test_a_tool_that_asks_by_itself_is_asked_about_only_where_the_owner_says_so():
    asking = msgspec.structs.replace(tool(risk=Risk.EXEC), asks=True)
    assert verdict(asking, facts()) == ("allow", "")
    assert verdict(asking, facts(settings=settings(allow_exec="ask"))) == ("ask", "allow_exec")
    assert verdict(asking, facts(settings=settings(allow_exec="refuse"))) == ("refuse", "allow_exec")
    assert verdict(tool(risk=Risk.EXEC), facts(settings=settings(allow_exec="allow"))) == ("allow", "")


def test_an_answer_that_is_remembered_is_not_asked_again():
    assert verdict(tool(risk=Risk.EXEC), facts(remembered=True)) == ("allow", "")


def test_a_remembered_answer_never_overrules_a_refusal():
    assert verdict(tool(risk=Risk.EXEC), facts(remembered=True, settings=settings(allow_exec="refuse"))) == (
        "refuse",
        "allow_exec",
    )


@pytest.mark.parametrize("name", ["roll", "plugin:dice"])
def test_what_is_switched_off_does_not_run(name):
    assert verdict(tool(), facts(off=frozenset({name}))) == ("refuse", "switched_off")


def test_a_tool_outside_the_sessions_toolsets_does_not_run():
    assert verdict(tool(), facts(toolsets=frozenset({"plugin:clock"}))) == ("refuse", "toolset")


def test_a_tool_that_was_withheld_does_not_run():
    assert verdict(tool(), facts(withheld=frozenset({"roll"}))) == ("refuse", "withheld")


@pytest.mark.parametrize(
    ("made", "only", "conversation", "work"),
    [
        ({}, (), "allow", "allow"),
        ({}, ("plugin:dice",), "refuse", "allow"),
        ({}, ("plugin:*",), "refuse", "allow"),
        ({}, ("contract:etui",), "refuse", "allow"),
        ({}, ("contract:kotoba", "plugin:cards"), "allow", "allow"),
        ({"toolset": "browser"}, (), "refuse", "allow"),
        ({"mode": "conversation"}, (), "allow", "refuse"),
        ({"mode": "work"}, (), "refuse", "allow"),
    ],
)
def test_a_tool_runs_in_the_modes_that_it_is_for(made, only, conversation, work):
    for mode, ends in (("conversation", conversation), ("work", work)):
        given = decide(CALL, tool(**made), facts(mode=mode, settings=settings(only_in_jobs=only)))
        assert (given.decision.value, given.rule) == (ends, "mode" if ends == "refuse" else "")


@pytest.mark.parametrize(("trust", "ends"), [("none", "refuse"), ("possession", "refuse"), ("full", "allow")])
def test_a_pin_tool_needs_full_trust(trust, ends):
    assert verdict(tool(pin=True), facts(trust=trust))[0] == ends


def test_whoever_rings_gets_only_what_the_owner_opened():
    stranger = {"channel": "phone", "trust": "none"}
    assert verdict(tool(), facts(**stranger)) == ("refuse", "pin")
    assert verdict(tool(), facts(**stranger, pin_set=False)) == ("refuse", "no_pin")
    assert verdict(tool(), facts(channel="phone")) == ("allow", "")
    assert verdict(tool(), facts(channel="voice", trust="none")) == ("allow", "")
    for pattern in ("roll", "plugin:dice", "plugin:*", "contract:etui"):
        assert verdict(tool(), facts(**stranger, settings=settings(before_pin=(pattern,)))) == ("allow", "")
        assert verdict(tool(pin=True), facts(**stranger, settings=settings(before_pin=(pattern,)))) == ("refuse", "pin")
    assert verdict(tool(contract="keryx"), facts(**stranger)) == ("allow", "")


def test_the_hosts_own_tools_are_no_matter_of_policy():
    own = tool(contract="built-in", toolset="built-in")
    strict = settings(allow_read="refuse", unconfined="refuse")
    assert verdict(own, facts(channel="phone", trust="none", settings=strict, enforced=False)) == ("allow", "")


def test_what_this_machine_cannot_enforce_asks_first():
    assert verdict(tool(), facts(enforced=False)) == ("ask", "not_enforced")
    assert verdict(tool(), facts(enforced=False, settings=settings(unconfined="refuse"))) == ("refuse", "not_enforced")
    assert verdict(tool(), facts(enforced=False, settings=settings(unconfined="allow"))) == ("allow", "")


def test_a_turn_has_so_many_calls_and_so_many_failures():
    assert verdict(tool(), facts(turn=Turn(calls=8))) == ("refuse", "loop_guard")
    assert verdict(tool(), facts(turn=Turn(calls=1, failures=3))) == ("refuse", "loop_guard")
    assert verdict(tool(), facts(mode="work", turn=Turn(calls=39, failures=5))) == ("allow", "")
    assert verdict(tool(), facts(mode="work", turn=Turn(calls=40))) == ("refuse", "loop_guard")
    assert verdict(tool(), facts(mode="work", turn=Turn(failures=6))) == ("refuse", "loop_guard")


def test_every_rule_has_a_name_and_a_reason_to_give():
    assert all(rule.__doc__ for rule in RULES)
    given = decide(CALL, tool(risk=Risk.EXEC), facts())
    assert given.decision is Decision.ASK
    assert given.reason.endswith(".")
