"""What a plugin.json says: what is taken of it, what is passed over and told, and what is the end of it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sapphire.homes import manifest, sapphire, tool

from etui.plugins.manifests import ManifestError, read


def said(**top: object) -> dict[str, object]:
    return read(json.dumps({"name": "p", **top}).encode()).said


@pytest.mark.promise("S399")
async def test_a_plugin_is_called_by_its_manifest_and_not_by_its_folder(tmp_path):
    files = {
        "plugins/x/plugin.json": manifest("y", "tools/a.py", settings=[{"key": "city", "type": "string", "default": "Oslo"}]),
        "plugins/x/tools/a.py": tool(
            "a", signature="f, arguments, config, settings", body="return f\"{__name__} {settings['city']}\", True"
        ),
        "plugins/z/plugin.json": '{"capabilities": {"tools": ["a.py"]}}',
        "plugins/z/a.py": tool("z"),
    }
    async with sapphire(tmp_path, files, on=("y",)) as room:
        assert room.tools() == ["a"]
        assert room.tool("a").plugin == "y"
        assert await room.ran("a") == ("plugins.x.tools.a Oslo", True)
        assert (room.user / "webui/plugins/y.json").is_file()
        assert room.reasons("z") == ["z: Its manifest has no name, which is the one key that it needs."]


@pytest.mark.promise("S400", "S401", "S402", "S414")
async def test_what_is_odd_in_a_manifest_is_told_and_the_rest_of_it_loads(tmp_path):
    top = {"zzz": 1, "priority": "x", "min_core_version": "99.0", "default_enabled": True}
    files = {
        "plugins/p/plugin.json": json.dumps({"name": "p", **top, "capabilities": {"zzz": [1], "tools": "tools/a.py"}}),
        "plugins/p/tools/a.py": tool("a"),
    }
    async with sapphire(tmp_path, files, on=()) as room:
        assert room.tools() == ["a"]
        assert room.host.registry.snapshot.plugins["p"].manifest["priority"] == 50
        assert {(one.reason, one.refused) for one in room.host.problems.all()} == {
            ("It was written for release 99.0 of Sapphire, which is newer than Etui knows.", False),
            ("In its manifest 'priority' is not a whole number. It counts as 50.", False),
            ("In its manifest 'tools' is not a list but a text. It is taken as the one path 'tools/a.py'.", False),
        }


@pytest.mark.promise("S402")
async def test_hooks_run_in_the_order_of_a_priority_that_is_no_number_taken_as_fifty(tmp_path):
    change = "dict(event.arguments, order=event.arguments.get('order', '') + '{}')"
    hook = f"def pre_execute(event):\n    event.arguments = {change}\n"
    files = {"plugins/t/tools/t.py": tool("t", body='return arguments["order"], True')}
    for name, priority in (("late", 60), ("odd", "x"), ("early", 40)):
        files[f"plugins/{name}/plugin.json"] = manifest(name, priority=priority, hooks={"pre_execute": "h.py"})
        files[f"plugins/{name}/h.py"] = hook.format(name[0])
    async with sapphire(tmp_path, files) as room:
        assert await room.ran("t") == ("eol", True)


@pytest.mark.promise("S403")
def test_the_title_is_the_newest_that_there_is_else_the_first_clause_of_the_description_else_the_name():
    full = {"short_display_name": "A", "display_name": "B", "short_name": "C", "description": "Plays music, and more. Or not."}
    assert said(**full)["title"] == "A"
    assert said(**{**full, "short_display_name": ""})["title"] == "B"
    assert said(short_name="C", description="D")["title"] == "C"
    assert said(description=full["description"])["title"] == "Plays music"
    assert said(description="x" * 60)["title"] == "x" * 40
    assert said()["title"] == "p"


@pytest.mark.promise("S405")
async def test_a_missing_package_is_named_before_any_code_runs_and_the_plugin_stays_on(tmp_path):
    mark = tmp_path / "ran"
    body = f"open({str(mark)!r}, 'w').close()\n"
    files = {
        "plugins/p/plugin.json": manifest(
            "p", "a.py", pip_dependencies=["nosuchdist>=1", "msgspec", "other; python_version<'3'"]
        ),
        "plugins/p/a.py": body + tool("a"),
    }
    async with sapphire(tmp_path, files) as room:
        assert room.tools() == []
        [reason] = room.reasons("p")
        assert reason == (
            "p: Missing pip package: nosuchdist>=1. pip install 'nosuchdist>=1' "
            "(into the environment that tools run in; `etui doctor` names it)."
        )
        assert "plugin:p" not in room.host.tools.off()
        assert not mark.exists()


async def test_what_is_no_manifest_at_all_is_refused_with_its_reason(tmp_path):
    files = {"plugins/p/plugin.json": "{", "plugins/q/plugin.json": "[]", "plugins/r/plugin.json": '{"name": "../r"}'}
    async with sapphire(tmp_path, files) as room:
        [p], [q], [r] = room.reasons("p"), room.reasons("q"), room.reasons("r")
        assert p.startswith("p: Its manifest is no JSON: ")
        assert q == "q: Its manifest is no JSON object."
        assert r.startswith("r: Its manifest's name '../r' cannot be used")


HOSTILE = {
    "half a character": ('"description": "\\ud800"', "half a character"),
    "a number of three hundred digits": (f'"priority": 1{"0" * 300}', "a number that is too large"),
    "a number of five thousand digits": (f'"priority": 1{"0" * 5000}', "4300 digits"),
    "no number": ('"x": NaN', "NaN is no number of JSON"),
    "endless": ('"x": 1e999', "not JSON compliant"),
    "deep": (f'"x": {"[" * 100_000}{"]" * 100_000}', "nested too deeply"),
    "not utf-8": ('"x": "\xff"', "decode"),
}


async def test_a_hostile_manifest_costs_its_own_plugin_and_no_other(tmp_path):
    files: dict[str, str | bytes] = {
        f"plugins/h{number}/plugin.json": f'{{"name": "h{number}", {said}}}'.encode("latin-1")
        for number, (said, _) in enumerate(HOSTILE.values())
    }
    many = {
        "name": "many",
        "min_core_version": "9" * 5000,
        "default_enabled": True,
        "capabilities": {
            "tools": ["\0.py", "a.py"],
            "routes": [1] * 100_000 + [{"handler": "a\0.py:f"}],
            "settings": [{"key": f"k{number}", "default": number} for number in range(10_000)],
        },
    }
    files |= {"plugins/many/plugin.json": json.dumps(many), "plugins/many/a.py": tool("many")}
    twice = '{"name": "x", "name": "twice", "capabilities": {"tools": []}, "capabilities": {"tools": ["a.py"]}}'
    files |= {"plugins/twice/plugin.json": twice, "plugins/twice/a.py": tool("twice")}
    async with sapphire(tmp_path, files, on=("twice",)) as room:
        for number, (_, why) in enumerate(HOSTILE.values()):
            [reason] = room.reasons(f"h{number}")
            assert reason.startswith(f"h{number}: Its manifest is no JSON: ")
            assert why in reason
        assert await room.ran("many") == await room.ran("twice") == ("done", True)
        assert len(room.host.installed.form("many")["rows"]) == 10_000
        told = room.reasons("many")
        assert len(told) == 21
        assert told[-1] == "many: 99,983 more entries of its manifest are passed over."


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(
    [
        "priority",
        "tools",
        "hooks",
        "scopes",
        "routes",
        "schedule",
        "settings",
        "daemon",
        "voice_commands",
        "cleanup_paths",
        "icon",
    ]
)


@given(st.dictionaries(KEYS, JSON), st.dictionaries(KEYS, JSON) | JSON)
def test_any_json_with_a_name_is_a_manifest_whose_lists_hold_what_they_should(top, capabilities):
    found = read(json.dumps({**top, "name": "p", "capabilities": capabilities}).encode()).said
    assert all(isinstance(one, str) for key in ("tools", "cleanup_paths") for one in found[key])
    lists = [found[key] for key in ("scopes", "routes", "schedule", "settings", "voice_commands")]
    assert all(isinstance(one, dict) for listed in lists for one in listed)
    assert all(isinstance(path, str) for path in found["hooks"].values())
    assert isinstance(found["priority"], int) and isinstance(found["title"], str)


@given(st.binary(max_size=64))
def test_other_bytes_are_refused_in_a_sentence(content):
    try:
        read(content)
    except ManifestError as error:
        assert str(error).startswith("Its manifest")
