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
    'Sure. <tool_call name="lamp_on">{"room": "hall"}</tool_call>',
    'Sure. <function name="lamp_on">{"room": "hall"}</function>',
    'Sure. <function=lamp_on{"room": "hall"}</function>',
    "Sure. <tool_call>{'name': 'lamp_on', 'arguments': {'room': 'hall',}}</tool_call>",
    'Sure. <tool_call>{name: "lamp_on", arguments: {room: "hall"}}</tool_call>',
    'Sure. <tool_call>{{"name": "lamp_on", "arguments": {"room": "hall"}}}</tool_call>',
    'Sure. <tool_call>{"name": "lamp_on", "arguments": {"room": "hall"}</tool_call>',
    'Sure. <tool_call>{"name": "lamp_on", "room": "hall"}</tool_call>',
    'Sure. <tool_call>{"tool": "lamp_on", "tool_input": {"room": "hall"}}</tool_call>',
    'Sure. <tool_call>{"function_call": {"name": "lamp_on", "kwargs": {"room": "hall"}}}</tool_call>',
    'Sure. <tool_call>lamp_on(room="hall")</tool_call>',
    'Sure. <tool_call>[lamp_on("hall")]</tool_call>',
    "Sure. <|tool_call_start|>[lamp_on(room='hall')]<|tool_call_end|>",
    'Sure. <|python_tag|>lamp_on.call(room="hall")',
    'Sure. [TOOL_CALLS]lamp_on[CALL_ID]abc123def[ARGS]{"room": "hall"}',
    'Sure. <|START_ACTION|>[{"tool_call_id": "0", "tool_name": "lamp_on", "parameters": {"room": "hall"}}]<|END_ACTION|>',
    'Sure. <|action_start|><|plugin|>\n{"name": "lamp_on", "parameters": {"room": "hall"}}<|action_end|>',
    "Sure. <function_calls><invoke><tool_name>lamp_on</tool_name><parameters><room>hall</room></parameters></invoke>"
    "</function_calls>",
    'Sure. <｜DSML｜function_calls><｜DSML｜invoke name="lamp_on"><｜DSML｜parameter name="room" string="true">hall'
    "</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜function_calls>",
    'Sure. <|channel|>commentary to=functions.lamp_on <|constrain|>json<|message|>{"room": "hall"}<|call|>',
    'Sure. <|start|>assistant to=functions.lamp_on<|channel|>commentary json<|message|>{"room": "hall"}<|call|>',
    "Sure.\n```tool_code\nprint(default_api.lamp_on(room='hall'))\n```",
    'Sure.\n```tool_call\n{"name": "lamp_on", "arguments": {"room": "hall"}}\n```\n',
    'Sure.\nAction: lamp_on\nAction Input: {"room": "hall"}\nObservation: It is on.',
    'Sure.\nAction: lamp_on(room="hall")',
    'Sure.\nAction:\n```json\n[{"tool_name": "lamp_on", "parameters": {"room": "hall"}}]\n```',
    'Sure. <tool_call>{"name": "lamp_on", "arguments": {"room": "hall"}}</tool_call>\n<tool_response>It is on.</tool_response>',
]
WHOLE = [
    '[{"name": "lamp_on", "arguments": {"room": "hall"}}]',
    'functools[{"name": "lamp_on", "arguments": {"room": "hall"}}]',
    '{"arguments": {"room": "hall"}, "name": "lamp_on"}',
    '{"tool_calls": [{"function": {"name": "lamp_on", "arguments": "{\\"room\\": \\"hall\\"}"}}]}',
    '{"action": "lamp_on", "action_input": {"room": "hall"}}',
    "{'name': 'lamp_on', 'arguments': {'room': 'hall'}}",
    '{"name": "lamp_on", "arguments": {"room": "hall"}}\n</tool_call>',
    '[lamp_on(room="hall")]',
    "lamp_on(room='hall')",
]


@pytest.mark.parametrize("text", CALLS)
def test_a_call_in_the_text_is_taken_out_whichever_way_it_is_written(text: str) -> None:
    for pieces in ([text], list(text), [text[at : at + 7] for at in range(0, len(text), 7)]):
        shown, calls, unreadable = _sift(*pieces)
        assert (shown.strip(), calls, unreadable) == ("Sure.", HALL, 0), pieces


@pytest.mark.parametrize("text", WHOLE)
def test_a_whole_answer_that_is_a_call_in_any_writing_is_a_call(text: str) -> None:
    assert _sift(*text) == _sift(text) == ("", HALL, 0)


@pytest.mark.parametrize("text", CALLS)
def test_no_half_of_a_block_is_shown_on_the_way(text: str) -> None:
    sieve = Sieve(OFFERED)
    shown = ""
    for char in text:
        shown += sieve.feed(char)
        assert "Sure. ".startswith(shown.rstrip("\n"))


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
    'Like this:\n```tool_call\n{"name": "lamp_on", "arguments": {"room": "hall"}}\n```\nThat is all.',
    "```tool_code\nprint(open_sesame())\n```",
    "Action: look around\nAction Input: your eyes",
    "Call lamp_on(room='hall') for light.",
    "lamp_on(room) switches it on.",
    "[lamp_on(room='hall'), open_sesame()]",
    '[{"name": "Ada"}, {"name": "Grace"}]',
    '{"action": "buy", "input": {"item": "milk"}}',
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
    assert _sift("<tool_call>{!!!}</tool_call>Sorry.") == ("Sorry.", [], 1)


def test_several_calls_in_one_answer_are_all_found() -> None:
    assert [name for name, _ in _sift(f"{CALL}\n{CALL}\n<tool_call>{{}}</tool_call>")[1]] == ["lamp_on", "lamp_on"]
    two = json.dumps([{"name": "lamp_on", "arguments": {"room": "a"}}, {"name": "unlock_door", "arguments": {}}])
    assert _sift(f"[TOOL_CALLS]{two}")[1] == [("lamp_on", {"room": "a"}), ("unlock_door", {})]


def test_values_written_as_text_are_typed_by_the_schema() -> None:
    text = "<function=lamp_on><parameter=room>12</parameter><parameter=level>3</parameter></function>"
    assert _sift(text)[1] == [("lamp_on", {"room": "12", "level": 3})]


def test_the_end_of_a_block_may_stand_in_one_of_its_texts() -> None:
    text = '<tool_call>{"name": "lamp_on", "arguments": {"room": "a </tool_call> b"}}</tool_call> Done.'
    assert _sift(*text) == _sift(text) == ("Done.", [("lamp_on", {"room": "a </tool_call> b"})], 0)


def test_a_whole_answer_whose_call_is_cut_off_is_reported_as_it_came() -> None:
    shown, calls, _ = _sift(*'{"name": "lamp_on", "arguments": {"room": "ha')
    assert shown == "" and calls[0][0] == "lamp_on" and isinstance(calls[0][1], str)


@pytest.mark.parametrize("mark", ["<|im_end|>", "<|eot_id|>", "<|end|>", "<|endoftext|>", "</s>", "\n</s>\n"])
def test_marks_of_a_template_are_not_shown(mark: str) -> None:
    assert _sift(*f"It is dark.{mark}")[0].strip() == "It is dark."


def test_a_thought_before_an_action_or_an_answer_is_hidden() -> None:
    assert _sift(*"Thought: I know.\nFinal Answer: It is dark.") == ("It is dark.", [], 0)
    assert _sift(*"Thought: hm.\nAction: lamp_on\nAction Input: {'room': 'hall'}") == ("", HALL, 0)
    assert _sift(*"Thought: a poem.\nIt has lines.")[0] == "Thought: a poem.\nIt has lines."


def test_thinking_of_which_only_the_end_is_marked_is_a_mistake_and_nothing_in_it_runs() -> None:
    sieve = Sieve(OFFERED)
    sieve.feed(f"I could {CALL}.\n</think>\n\nIt is")
    assert sieve.mistaken and sieve.feed(" dark.") + sieve.close() == " dark." and sieve.calls == []
    assert not any(
        _mistaken(text) for text in ("Models end it with </think> in a line.", "`</think>`\n", "<think>a</think>\nb")
    )


def _mistaken(text: str) -> bool:
    sieve = Sieve(OFFERED)
    sieve.feed(text)
    sieve.close()
    return sieve.mistaken


def test_words_in_a_channel_for_the_person_are_shown() -> None:
    text = "<|channel|>commentary<|message|>One moment.<|end|><|start|>assistant<|channel|>final<|message|>It is dark."
    assert _sift(*text)[0] == "One moment.\n\nIt is dark."


def test_channels_that_are_not_for_the_person_are_hidden() -> None:
    text = "<|channel|>analysis<|message|>I think.<|end|><|start|>assistant<|channel|>final<|message|>It is dark."
    assert _sift(*text)[0] == _sift(text)[0] == "It is dark."


PIECES = st.sampled_from(
    [
        *("<", ">", "[", "]", "{", "}", '"', "`", "```", "~~~", "\n", " a ", "    ", "“", "”"),
        *("<tool_call>", "</tool_call>", "<think>", "</think>", "<code>", "</code>", "<function=", "</function>"),
        *(
            "[lamp_on]",
            "[TOOL_CALLS]",
            '{"name"',
            CALL,
            "lamp_on(",
            ")",
            "Action: ",
            "lamp_on",
            "Thought: ",
            "\nAction Input: ",
        ),
        *("<|channel|>", "analysis", "final", "<|message|>", "<|start|>assistant", "<|end|>", "```tool_code\n", "</s>"),
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
