"""What a person may read in an answer: nothing of it runs a tool, and nothing of it is lost or kept waiting."""

from __future__ import annotations

import pytest

from etui.agent.sieve import Sieve

OFFERED: dict[str, dict[str, object]] = {
    "lamp_on": {"type": "object", "properties": {"room": {"type": "string"}, "level": {"type": "integer"}}},
    "unlock_door": {"type": "object", "properties": {}},
    "search": {"type": "object", "properties": {"query": {"type": "string"}}},
    "time": {"type": "object", "properties": {}},
}
CALL = '<tool_call>{"name": "unlock_door", "arguments": {}}</tool_call>'
INNOCENT = [
    # Tutorials that show JSON.
    'Here is JSON:\n\n{"name": "unlock_door", "arguments": {}}\n\nThat is how a call looks.',
    'In another form:\n{"tool_calls": [{"function": {"name": "unlock_door", "arguments": "{}"}}]}',
    '```json\n{"name": "unlock_door", "arguments": {}}\n```\n',
    '{"name": "Ada", "type": "person"}',
    '{"type": "object", "properties": {"name": {"type": "string"}}}',
    '{"name": "search", "version": "1.0", "description": "a package"}',
    '{"name": "time"}',
    '{"action": "time"}',
    '{"tool": "time", "id": 3}',
    '{"function": "search", "type": "function"}',
    'In JSON-LD: {"@type": "Action", "name": "search"}',
    "[1, 2, 3]",
    "{}",
    # Code.
    "```\nunlock_door()\n```",
    'In Python you would write unlock_door() and then lamp_on(room="hall").',
    "unlock_door() is the tool that unlocks the door.",
    'unlock_door() unlocks the door.\nlamp_on(room="hall") switches the light on.',
    'def unlock_door():\n    return lamp_on(room="hall")',
    "print(unlock_door())\n# prints what happened",
    "time[0] and search[1]",
    "if (a<b && c>d) { return map<string, vector<int>>(); }",
    "functools.partial(f)",
    "$ unlock_door --now\n$ lamp_on hall",
    "name: unlock_door\narguments: {}\n",
    "---\naction: unlock_door\ninput: {}\n---",
    "In Gemini code:\n```tool_code\nprint(unlock_door())\n```\nruns it.",
    f"    {CALL}\n\nis indented code.",
    # XML and HTML.
    '<?xml version="1.0"?>\n<root><a b="c">d</a></root>',
    '<tools>\n  <hammer weight="2"/>\n  <saw/>\n</tools>',
    "My shop has this:\n<tools>\n  <tool>hammer</tool>\n</tools>\nIt lists the tools.",
    "The config has a <tools> element with a <name> in it.",
    "The element <tools><name>hammer</name></tools> describes a hammer.",
    'Write <invoke name="x"> in the build file.',
    'In NAnt: <invoke name="compile"> runs it, </invoke> ends it.',
    'Use <function name="main"> … </function> in the WSDL.',
    "Old price: <s>10 €</s>",
    "<details><summary>A</summary>\n\nB\n</details>",
    "a < b and c > d; x<y>z; List<String> l;",
    # Dialects, explained.
    f"Hermes models write {CALL} into their text.",
    f"| form | example |\n|---|---|\n| Hermes | {CALL} |\n",
    "| tool | mark |\n|---|---|\n| lamp_on | <tool_call> |\n",
    "You can write <tool_call> in the text and it means a call.",
    "The tag <think> begins the thinking, and </think> ends it.",
    "- <think>: begins thinking\n- </think>: ends it\n\nThat is all.",
    "1. `<think>`, then words\n2. </think> ends it",
    "The tags <tool_response>x</tool_response> hold results.",
    "He opened <thought>a box</thought> in his mind.",
    "Some models emit <|python_tag|> before a call.",
    "DeepSeek uses <｜tool▁calls▁begin｜> as its marker.",
    "The marker [TOOL_CALLS] is Mistral's.",
    'Mistral: [TOOL_CALLS] then a list such as [{"name": "unlock_door", "arguments": {}}] follows.',
    "The template ends with <|im_end|> and begins with <|im_start|>.",
    "<function=foo> is how Llama writes it, with </function> at the end.",
    "<tool_use> is a tag of Anthropic's.",
    "<function_calls> opens the block",
    # ReAct, explained.
    'It works so:\n\nThought: I search.\nAction: search\nAction Input: {"query": "x"}\nObservation: found\n\nThen it goes on.',
    'In ReAct a model writes "Action: search" and then "Action Input: x".',
    "The form:\nThought: what to do\nAction: the tool\nAction Input: what it gets\nFinal Answer: the answer",
    "Action: the film was great.\nDirector: someone.",
    "Thought: a poem is long\nand it never ends.",
    'Action:\n```json\n{"name": "unlock_door", "arguments": {}}\n```\nThat is how an action looks.',
    'Action: search(query="x")\n\nis what one writes in some frameworks.',
    "Action: lamp_on\n\nI would call it next, if you agree.",
    # Words, quotations, marks of Markdown.
    "Roses [are red]\nViolets {are} blue <3\n[sighs] and (so) on",
    "[lamp_on] is a tool, and [unlock_door] another.",
    "Use [search](https://example.org) or [time][1].\n\n[1]: https://example.org",
    'The pair is [search] {"query": "x"}',
    "A heading [note]{.class} in Pandoc, and more words behind it.",
    f"He said: “{CALL}” and left.",
    f"> Quoted:\n> {CALL}",
    f"1. First\n2. Second: `{CALL}`",
    "A lone ` tick, it is 5 o`clock, ~~struck~~ text ~ and ~~~ more.",
    "```\ncode that never ends\nmore",
]


@pytest.mark.parametrize("text", INNOCENT)
def test_what_is_only_told_of_runs_nothing_and_is_shown_whole(text: str) -> None:
    for pieces in ([text], list(text), [text[at : at + 6] for at in range(0, len(text), 6)]):
        sieve = Sieve(OFFERED)
        shown = "".join(map(sieve.feed, pieces)) + sieve.close()
        assert (shown, sieve.calls, sieve.unreadable) == (text.lstrip(), [], 0), pieces


@pytest.mark.parametrize(
    "mark",
    [
        *("<tool_call> is", "<tools> hold", "<|python_tag|> is", "[TOOL_CALLS] is", "<function=f> is", "<invoke name='x'> is"),
        *(
            "a < b and",
            "x <- y is",
            "[note]{.x} is",
            "Action: see",
            "[1] says",
            "<tool> is",
            "Thought",
            "lamp_on() is",
            "{x} is",
        ),
    ],
)
def test_what_turns_out_to_be_no_mark_is_shown_at_once(mark: str) -> None:
    sieve = Sieve(OFFERED)
    text = f"{mark} what comes"
    assert "".join(map(sieve.feed, text)) == text


LONG = [
    *("[" * 25_000, "{" * 25_000, "<" * 25_000, "` " * 12_000, "```\n" * 6_000, "\"'" * 12_000, "“" * 25_000),
    *(" " * 25_000 + "x", "[happy] " * 2_000, "<tool_call>" * 2_000, "[lamp_on]{" * 2_000, "</s>" * 5_000),
    "Action: lamp_on\nAction Input: {}" + "\n " * 12_000,
    "<tool_call><name>lamp_on</name><args>" + "<a>" * 7_000 + "</args></tool_call>",
    "<tool_call>lamp_on\n" + "<arg_key>a" * 2_000 + "</tool_call>",
    '<tool_call>{"a": "' + "</tool_call>" * 2_000,
    '{"name": "lamp_on", "arguments": {"room": "' + "x" * 25_000,
    "Thought: " + "so\n" * 7_000,
]


@pytest.mark.parametrize("text", LONG, ids=range(len(LONG)))
def test_a_long_answer_costs_no_more_than_its_length(text: str) -> None:
    for size in (100, len(text)):
        sieve = Sieve(OFFERED)
        for at in range(0, len(text), size):
            sieve.feed(text[at : at + size])
        sieve.close()
        assert all(one.name in OFFERED for one in sieve.calls)
