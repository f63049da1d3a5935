"""The sets of sentences through the embedded model: nothing may be done that was not asked for."""

import json
from collections import Counter
from pathlib import Path

import pytest
from tests.embedded.household import CASES, KINDS, OTHERS, TOOLS
from tests.embedded.judge import judge, replied, tool_right, verdict

OWN, BLIND, FINAL = (
    json.loads((Path(__file__).parent / f"{name}.json").read_text(encoding="utf-8")) for name in ("sentences", "blind", "final")
)


@pytest.fixture(scope="module")
def verdicts(model):
    return [(case, *judge(model, TOOLS, case)) for case in CASES["requests"]]


def test_at_least_38_of_the_40_plain_requests_are_right(verdicts):
    failed = [f"{case['text']!r}: {verdict}, {happened}" for case, verdict, happened in verdicts if verdict != "right"]
    assert len(failed) <= 2, failed


def test_none_of_the_plain_requests_ends_in_a_wrong_call(verdicts):
    assert [f"{case['text']!r}: {happened}" for case, verdict, happened in verdicts if verdict == "wrong"] == []


@pytest.mark.parametrize(("part", "share"), [("household", 0.9), ("fresh", 0.7)])
def test_of_our_own_harder_sentences_most_are_right_and_next_to_none_are_wrong(model, part, share):
    judged = [(case["text"], *judge(model, TOOLS, case)) for case in OWN[part]]
    counted = Counter(verdict for _, verdict, _ in judged)
    assert counted["right"] >= share * len(judged), counted
    assert [f"{text!r}: {happened}" for text, verdict, happened in judged if verdict == "wrong"] == []


@pytest.mark.parametrize("cases", [BLIND["household"], FINAL["household"]], ids=["blind", "final"])
def test_of_sentences_written_blind_the_tool_is_right_and_few_are_wrong(model, cases):
    replies = [(case, replied(model, TOOLS, case)) for case in cases]
    wrong = [case["text"] for case, reply in replies if verdict(case, reply)[0] == "wrong"]
    assert sum(tool_right(case, reply) for case, reply in replies) >= 0.87 * len(cases)
    assert len(wrong) <= 0.06 * len(cases), wrong


@pytest.mark.parametrize(("kind", "share"), [*[(kind, 0.75) for kind in OTHERS], ("again", 0.85)])
def test_of_new_wordings_and_kinds_of_tools_most_are_right_and_next_to_none_are_wrong(model, kind, share):
    judged = [(case["text"], *judge(model, OTHERS.get(kind, TOOLS), case)) for case in KINDS[kind]]
    wrong = [f"{text!r}: {happened}" for text, verdict, happened in judged if verdict == "wrong"]
    assert sum(verdict == "right" for _, verdict, _ in judged) >= share * len(judged), judged
    assert len(wrong) <= 0.01 * len(judged), wrong


def test_there_are_at_least_150_sentences_of_our_own():
    assert len(OWN["household"]) >= 150
