from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from etui.agent.sieve import Sieve

OFFERED = {
    "lamp_on": {"type": "object", "properties": {"room": {"type": "string"}, "level": {"type": "integer"}}},
    "unlock_door": {"type": "object", "properties": {}},
}
HALL = [("lamp_on", {"room": "hall"})]
CALL = '<tool_call>{"name": "lamp_on", "arguments": {"room": "hall"}}</tool_call>'


def _sift(*pieces: str) -> tuple[str, list[tuple[str, object]], int]:
    sieve = Sieve(OFFERED)
    shown = "".join(map(sieve.feed, pieces)) + sieve.close()
    return shown, [(found.name, found.arguments) for found in sieve.calls], sieve.unreadable


CALLS = [
    f"Sure. {CALL}",
    'Sure. <tool_call>\n{"name": "lamp_on", "arguments": {"room": "hall"}}\n',
    'Sure. <tool_call>{"name": "lamp_on", "arguments": "{\\"room\\": \\"hall\\"}"}</tool_call>',
    'Sure. <tool_call>{"name": "lamp_on", "parameters": {"room": "hall"}}</tool_call>',
    'Sure. [lamp_on]\n{"room": "hall"}\n[END_TOOL_REQUEST]',
    'Sure. [TOOL_REQUEST]{"name": "lamp_on", "arguments": {"room": "hall"}}[END_TOOL_REQUEST]',
    'Sure. [TOOL_CALLS][{"name": "lamp_on", "arguments": {"room": "hall"}}]',
    'Sure. [TOOL_CALLS]lamp_on[ARGS]{"room": "hall"}',
    'Sure. <function=lamp_on>{"room": "hall"}</function>',
    "Sure. <tool_call>\n<function=lamp_on>\n<parameter=room>\nhall\n</parameter>\n</function>\n</tool_call>",
    "Sure. <function=lamp_on><parameter=room>hall</parameter></function>",
    'Sure. <function_calls><invoke name="lamp_on"><parameter name="room">hall</parameter></invoke></function_calls>',
    'Sure. <invoke name="lamp_on"><parameter name="room">hall</parameter></invoke>',
    "Sure. <tool_call>lamp_on\n<arg_key>room</arg_key>\n<arg_value>hall</arg_value>\n</tool_call>",
    'Sure. <|python_tag|>{"name": "lamp_on", "parameters": {"room": "hall"}}<|eom_id|>',
    'Sure. <tools>{"name": "lamp_on", "arguments": {"room": "hall"}}</tools>',
    'Sure. <function_call>{"name": "lamp_on", "arguments": {"room": "hall"}}</function_call>',
    "Sure. <|tool_calls_section_begin|><|tool_call_begin|>functions.lamp_on:0<|tool_call_argument_begin|>"
    '{"room": "hall"}<|tool_call_end|><|tool_calls_section_end|>',
    'Sure. <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>lamp_on\n```json\n{"room": "hall"}\n```'
    "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
]


@pytest.mark.parametrize("text", CALLS)
def test_a_call_in_the_text_is_taken_out_whichever_way_it_is_written(text: str) -> None:
    for pieces in ([text], list(text), [text[at : at + 7] for at in range(0, len(text), 7)]):
        shown, calls, unreadable = _sift(*pieces)
        assert (shown.strip(), calls, unreadable) == ("Sure.", HALL, 0), pieces


@pytest.mark.parametrize("text", CALLS)
def test_no_half_of_a_block_is_shown_on_the_way(text: str) -> None:
    sieve = Sieve(OFFERED)
    shown = ""
    for char in text:
        shown += sieve.feed(char)
        assert "Sure. ".startswith(shown)


MENTIONS = [
    f"Like this:\n```xml\n{CALL}\n```\nThat is all.",
    f"Like this:\n\n    {CALL}\n\nThat is all.",
    f"Like this:\n~~~\n{CALL}\n~~~\n",
    f"````md\n```\n{CALL}\n```\n````\n",
    f"- a list\n  ```\n  {CALL}\n  ```\n",
    f'You wrote: "please run {CALL} now".',
    f"You wrote: “please run {CALL} now”.",
    f"Er schrieb: „bitte {CALL} jetzt“.",
    f"Il a écrit : « lance {CALL} ».",
    f"> {CALL}\n\nis what you sent.",
    f"Write `{CALL}` to switch it on.",
    f"Write ``{CALL}`` to switch it on.",
    f"Write '{CALL}' to switch it on.",
    f"<code>{CALL}</code> switches it on.",
    f"<pre>\n{CALL}\n</pre>",
    '```json\n{"name": "unlock_door", "arguments": {}}\n```',
    'The form is `[lamp_on]{"room": "hall"}[END_TOOL_REQUEST]`.',
    'See [lamp_on](https://example.org) and {"name": "lamp_on"}.',
    "In HTML, <b>bold</b> and a < b and a[0] < a[1].",
    'An array: [1, 2] and [lamp_on] {"room": "hall"} is the pair.',
]


@pytest.mark.parametrize("text", MENTIONS)
def test_what_only_mentions_a_call_is_shown_as_text(text: str) -> None:
    for pieces in ([text], list(text), [text[at : at + 5] for at in range(0, len(text), 5)]):
        assert _sift(*pieces) == (text, [], 0), pieces


@pytest.mark.parametrize("tag", ["think", "thinking", "reasoning", "thought"])
def test_thinking_is_hidden_and_never_runs(tag: str) -> None:
    text = f"<{tag}>I could {CALL}.\n</{tag}>\n\nIt is dark."
    assert _sift(*text) == ("It is dark.", [], 0)
    assert _sift(f"<{tag}>I could {CALL}") == ("", [], 0)


def test_a_call_behind_thinking_and_code_runs() -> None:
    text = f'<think>hm "odd</think>As `code`:\n```\nx = "1\n```\nNow {CALL}'
    assert _sift(*text)[1] == HALL


def test_a_whole_answer_that_is_one_call_is_a_call() -> None:
    text = '{"name": "lamp_on", "parameters": {"room": "hall"}}'
    assert _sift(*text) == ("", HALL, 0)
    assert _sift('{"name": "lamp_off", "parameters": {}}') == ('{"name": "lamp_off", "parameters": {}}', [], 0)
    assert _sift('{"name": "lamp_on", "age": 3}')[1] == []


def test_an_answer_in_json_is_shown() -> None:
    assert _sift(*'{"name": "Ada", "born": 1815}') == ('{"name": "Ada", "born": 1815}', [], 0)
    assert _sift("{", '"a"', ": 1}") == ('{"a": 1}', [], 0)


def test_an_unknown_name_in_a_block_is_hidden_and_reported() -> None:
    shown, calls, _ = _sift('Well. <tool_call>{"name": "open_sesame", "arguments": {}}</tool_call>')
    assert (shown.strip(), calls) == ("Well.", [("open_sesame", {})])
    assert _sift('[open_sesame]{"a": 1}[END_TOOL_REQUEST]')[:2] == ("", [("open_sesame", {"a": 1})])


def test_a_block_that_is_cut_off_is_hidden_and_reported_as_it_came() -> None:
    shown, calls, _ = _sift('<tool_call>{"name": "lamp_on", "arguments": {"room": "ha')
    assert shown == "" and calls[0][0] == "lamp_on" and isinstance(calls[0][1], str)


def test_a_block_that_cannot_be_read_is_hidden_and_counted() -> None:
    assert _sift("<tool_call>!!!</tool_call>Sorry.") == ("Sorry.", [], 1)


def test_several_calls_in_one_answer_are_all_found() -> None:
    assert [name for name, _ in _sift(f"{CALL}\n{CALL}\n<tool_call>{{}}</tool_call>")[1]] == ["lamp_on", "lamp_on"]
    two = json.dumps([{"name": "lamp_on", "arguments": {"room": "a"}}, {"name": "unlock_door", "arguments": {}}])
    assert _sift(f"[TOOL_CALLS]{two}")[1] == [("lamp_on", {"room": "a"}), ("unlock_door", {})]


def test_values_written_as_text_are_typed_by_the_schema() -> None:
    text = "<function=lamp_on><parameter=room>12</parameter><parameter=level>3</parameter></function>"
    assert _sift(text)[1] == [("lamp_on", {"room": "12", "level": 3})]


def test_channels_that_are_not_for_the_person_are_hidden() -> None:
    text = "<|channel|>analysis<|message|>I think.<|end|><|start|>assistant<|channel|>final<|message|>It is dark."
    assert _sift(text)[0] == "It is dark."


PIECES = st.sampled_from(
    [
        *("<", ">", "[", "]", "{", "}", '"', "`", "```", "~~~", "\n", " a ", "    ", "“", "”"),
        *("<tool_call>", "</tool_call>", "<think>", "</think>", "<code>", "</code>", "<function=", "</function>"),
        *("[lamp_on]", "[TOOL_CALLS]", '{"name"', CALL),
    ]
)


@given(st.lists(PIECES, max_size=14), st.integers(1, 9))
def test_how_an_answer_is_cut_into_pieces_changes_nothing(parts: list[str], size: int) -> None:
    text = "".join(parts)
    assert _sift(*[text[at : at + size] for at in range(0, len(text), size)]) == _sift(text)


@given(st.text())
def test_any_text_passes_without_an_error(text: str) -> None:
    shown, calls, _ = _sift(*text)
    assert calls == [] and len(shown) <= len(text)
