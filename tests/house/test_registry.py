"""Who owns a name."""

from __future__ import annotations

from etui.registry import Registry, build, nearest, squeeze
from etui.tool import Plugin, Tool


def plugin(name: str, *tools: str, digest: str = "1") -> Plugin:
    made = tuple(
        Tool(name=tool, description=tool, parameters={}, contract="etui", plugin=name, digest=digest, file=f"{name}.py", line=3)
        for tool in tools
    )
    return Plugin(name=name, contract="etui", source="tools", path=f"{name}.py", tools=made, digest=digest)


def test_the_first_to_take_a_name_keeps_it_and_the_other_is_refused_with_both_named():
    snapshot, owners = build([plugin("a", "roll"), plugin("b", "roll", "toss")], {}, generation=1)
    assert snapshot.tools["roll"].plugin == "a"
    assert sorted(snapshot.tools) == ["roll", "toss"]
    assert owners == {"roll": "a", "toss": "b"}
    (problem,) = snapshot.problems
    assert problem.plugin == "b"
    assert "'a'" in problem.reason
    assert "a.py:3" in problem.reason


def test_a_newcomer_that_sorts_before_does_not_inherit_the_name():
    _, owners = build([plugin("b", "roll")], {}, generation=1)
    snapshot, _ = build([plugin("a", "roll"), plugin("b", "roll")], owners, generation=2)
    assert snapshot.tools["roll"].plugin == "b"


def test_a_name_is_free_again_when_its_owner_is_gone():
    snapshot, _ = build([plugin("a", "roll")], {"roll": "b"}, generation=1)
    assert snapshot.tools["roll"].plugin == "a"


def test_names_that_differ_only_in_case_are_the_same_name():
    snapshot, _ = build([plugin("a", "Roll"), plugin("b", "roll")], {}, generation=1)
    assert list(snapshot.tools) == ["Roll"]
    assert len(snapshot.problems) == 1


def test_a_reserved_name_can_never_be_taken():
    snapshot, _ = build([plugin("a", "submit_pin")], {}, generation=1, reserved=["submit_pin"])
    assert not snapshot.tools
    assert "never be taken" in snapshot.problems[0].reason


def test_a_swap_says_what_changed():
    registry = Registry()
    assert registry.swap(build([plugin("a", "roll", "toss")], {}, generation=1)[0]).added == ("roll", "toss")
    change = registry.swap(build([plugin("a", "roll", digest="2"), plugin("c", "spin")], {}, generation=2)[0])
    assert (change.added, change.removed, change.changed) == (("spin",), ("toss",), ("roll",))
    assert not registry.swap(build([plugin("a", "roll", digest="2"), plugin("c", "spin")], {}, generation=3)[0])


def test_a_name_is_found_by_its_letters_whatever_the_separators():
    assert squeeze("functions.memory__read_graph") == squeeze("Memory:readGraph") == "memoryreadgraph"


def test_the_nearest_names_help_a_model_out():
    assert nearest("set_tmer", ["set_timer", "roll"]) == ["set_timer"]
