"""The embedded model over several sentences: questions, answers, undo, follow-ups, and honest words."""

import json
from itertools import count

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.embedded.household import TOOLS
from tests.embedded.judge import ask, said

from etui.agent.embedded import EmbeddedModel
from etui.agent.model import CallPart, Elsewhere, End, Meta, Text, ToolView
from etui.store.chats import Message, ToolCall
from etui.tool import Risk


class Talk:
    """A chat with the model in which every tool answers with a fixed text."""

    def __init__(self, model, tools=TOOLS, results=None):
        self.model, self.tools, self.results = model, tools, results or {}
        self.messages, self.ids = [], count(1)
        self.called = []

    async def step(self):
        text, calls, meta = "", {}, {}
        async for part in self.model.stream(ask(self.tools, *self.messages)):
            match part:
                case Text():
                    text += part.text
                case CallPart():
                    calls[part.index] = (part.name, json.loads(part.arguments))
                case Meta():
                    meta = json.loads(json.dumps(part.data))
                case End():
                    pass
        made = tuple(ToolCall(f"c{next(self.ids)}", name, arguments) for name, arguments in calls.values())
        self.messages.append(Message(chat="c", role="assistant", text=text, calls=made, meta=meta))
        return text, made

    async def say(self, sentence):
        self.messages.append(said(sentence))
        text, calls = await self.step()
        if not calls:
            return text
        for call in calls:
            self.called.append((call.tool, call.arguments))
            text, meta = self.results.get(call.tool, (f"Did {call.tool}.", {}))
            self.messages.append(Message(chat="c", role="tool", call=call.id, tool=call.tool, text=text, meta=meta))
        return (await self.step())[0]


@pytest.fixture
def talk(model):
    return Talk(model)


async def test_the_answer_after_a_call_is_the_tools_own_sentence(model):
    talk = Talk(model, results={"get_time": ("It is 22:00 in Tokyo.", {})})
    assert await talk.say("What time is it in Tokyo?") == "It is 22:00 in Tokyo."


async def test_a_json_result_is_told_in_words(model):
    talk = Talk(model, results={"shopping_show": ("[3, 5, 1]", {}), "get_weather": ('{"wind_speed": 3, "rain": false}', {})})
    assert await talk.say("what's on my shopping list") == "3, 5 and 1"
    assert await talk.say("what's the weather in London") == "wind speed: 3, rain: no"


async def test_a_missing_argument_is_asked_for_and_the_next_sentence_gives_it(talk):
    assert await talk.say("set a timer") == "For how long?"
    assert await talk.say("twenty five minutes please") == "Did set_timer."
    assert talk.called == [("set_timer", {"amount": 25, "unit": "minutes"})]


async def test_an_open_question_outlives_the_model(talk):
    await talk.say("set a timer")
    talk.model = EmbeddedModel(talk.model._vectors)
    await talk.say("two hours")
    assert talk.called == [("set_timer", {"amount": 2, "unit": "hours"})]


async def test_a_new_command_drops_the_open_question(talk):
    await talk.say("set a timer")
    await talk.say("add milk to my shopping list")
    assert talk.called == [("shopping_add", {"item": "milk"})]


@pytest.mark.parametrize("sentence", ["never mind", "cancel that", "oh forget it", "no, never mind"])
async def test_an_open_question_can_be_dropped(talk, sentence):
    await talk.say("set a timer")
    await talk.say(sentence)
    await talk.say("ten minutes")
    assert talk.called == []


async def test_an_answer_that_says_nothing_is_asked_again(talk):
    await talk.say("set a timer")
    assert await talk.say("purple") == "I didn't get that. For how long?"
    await talk.say("a minute")
    assert talk.called == [("set_timer", {"amount": 1, "unit": "minutes"})]


@pytest.mark.parametrize("yes", ["yes", "Yeah, do it!", "sure", "yep please", "go ahead", "ok", "send it"])
async def test_what_sends_is_repeated_first_and_done_after_a_yes(talk, yes):
    question = await talk.say("text David: dinner is ready")
    assert question.endswith("(yes/no)")
    assert "David" in question
    assert "dinner is ready" in question
    assert talk.called == []
    await talk.say(yes)
    assert talk.called == [("send_message", {"recipient": "David", "text": "dinner is ready"})]


@pytest.mark.parametrize("no", ["no", "nope", "no, don't", "stop", "rather not", "cancel"])
async def test_what_sends_is_not_done_after_a_no(talk, no):
    await talk.say("send a message to Anna saying I am running late")
    await talk.say(no)
    await talk.say("yes")
    assert talk.called == []


async def test_two_commands_in_one_sentence_are_two_calls(talk):
    assert await talk.say("add milk to my shopping list and set a timer for ten minutes") == "Did shopping_add. Did set_timer."
    assert [tool for tool, _ in talk.called] == ["shopping_add", "set_timer"]


async def test_a_follow_up_runs_the_last_command_with_the_new_value(talk):
    await talk.say("What time is it in Tokyo?")
    await talk.say("and in Paris?")
    await talk.say("what about New York")
    assert [arguments for _, arguments in talk.called] == [{"city": "Tokyo"}, {"city": "Paris"}, {"city": "New York"}]


async def test_a_pronoun_stands_for_what_was_named_last(talk):
    await talk.say("add milk to my shopping list")
    await talk.say("what's on it?")
    assert talk.called[-1] == ("shopping_show", {})


async def test_undo_calls_what_the_tool_said_undoes_it_and_only_once(model):
    undo = {"undo": {"tool": "shopping_remove", "arguments": {"item": "milk"}}}
    talk = Talk(model, results={"shopping_add": ("Added milk.", undo)})
    await talk.say("add milk to my shopping list")
    await talk.say("undo that")
    assert talk.called[-1] == ("shopping_remove", {"item": "milk"})
    assert await talk.say("undo") == "There is nothing in this chat that I can undo."
    assert len(talk.called) == 2


async def test_a_question_of_knowledge_is_declined_honestly(talk):
    answer = await talk.say("Who was Napoleon?")
    assert "built-in command matcher" in answer
    assert "set a timer for" in answer
    assert "add a model" in answer


async def test_what_can_you_do_lists_the_tools_that_are_there(talk):
    answer = await talk.say("What can you do?")
    assert answer.startswith("I can run these tools.")
    assert "household" in answer
    assert "tools folder" in await Talk(talk.model, ()).say("What can you do?")


@pytest.mark.parametrize(
    "sentence", ["Hello there!", "thanks a lot", "who are you", "how are you?", "tell me a joke", "good night"]
)
async def test_small_talk_gets_a_fixed_reply_and_no_call(talk, sentence):
    answer = await talk.say(sentence)
    assert talk.called == []
    assert "can't answer" not in answer


async def test_a_command_not_to_do_something_does_nothing(talk):
    assert await talk.say("don't turn off the kitchen lights") == "All right, I won't."
    assert talk.called == []


async def test_optional_arguments_are_given_only_when_they_were_said(model):
    roll = ToolView(
        name="roll",
        description="Roll six-sided dice and say what came up.",
        parameters={"type": "object", "properties": {"count": {"type": "integer", "default": 1}}},
        examples=("roll {count} dice", "roll a die"),
    )
    talk = Talk(model, (roll,))
    await talk.say("roll three dice")
    await talk.say("roll a die")
    assert talk.called == [("roll", {"count": 3}), ("roll", {})]


async def test_a_tool_without_examples_is_known_by_its_description(model):
    weather = ToolView(
        name="get_weather",
        description="Get the weather for a city.",
        parameters={
            "type": "object",
            "properties": {"city": {"type": "string", "description": "City name"}},
            "required": ["city"],
        },
    )
    talk = Talk(model, (weather,))
    await talk.say("what's the weather in Oslo?")
    if not talk.called:
        await talk.say("yes")
    assert talk.called == [("get_weather", {"city": "Oslo"})]


async def test_a_taught_sentence_works_at_once(model):
    lamp = ToolView(
        name="lamp_42",
        description="Actuates relay 42.",
        parameters={"type": "object", "properties": {"level": {"type": "integer"}}, "required": ["level"]},
        taught=("let there be light at {level} percent",),
        risk=Risk.WRITE,
    )
    talk = Talk(model, (*TOOLS, lamp))
    await talk.say("Please let there be light at fifty percent!")
    assert talk.called == [("lamp_42", {"level": 50})]


async def test_lists_dates_and_durations_are_given_as_the_schema_wants_them(model):
    plan = ToolView(
        name="plan",
        description="Plan a meeting.",
        parameters={
            "type": "object",
            "properties": {
                "people": {"type": "array", "items": {"type": "string"}},
                "start": {"type": "string", "format": "date-time"},
                "duration": {"type": "string", "format": "duration"},
            },
            "required": ["people", "start"],
        },
        examples=("plan a meeting with {people} {start} for {duration}", "plan a meeting with {people} {start}"),
    )
    talk = Talk(model, (plan,))
    await talk.say("plan a meeting with Anna, Bob and Carl tomorrow at 10:00 for half an hour")
    assert talk.called == [
        ("plan", {"people": ["Anna", "Bob", "Carl"], "start": "2026-04-01T10:00:00+02:00", "duration": "PT1800S"})
    ]


def many_tools(many):
    return tuple(
        ToolView(
            name=f"gadget_{number}",
            description=f"Operate gadget number {number}.",
            parameters={"type": "object", "properties": {"level": {"type": "integer"}}, "required": ["level"]},
            examples=(f"set gadget {number} to {{level}}",),
        )
        for number in range(many)
    )


async def test_a_thousand_tools_are_no_burden(model):
    talk = Talk(model, (*many_tools(1000), *TOOLS))
    await talk.say("set gadget 777 to 5")
    await talk.say("set a timer for ten minutes")
    assert talk.called == [("gadget_777", {"level": 5}), ("set_timer", {"amount": 10, "unit": "minutes"})]


ODD = [
    {},
    {"properties": 3},
    {"properties": {"a": 1}},
    {"properties": {"a": {"type": ["null"]}}, "required": [5]},
    {"properties": {"a": {"enum": []}}},
]


@pytest.mark.parametrize("schema", ODD)
async def test_an_odd_schema_breaks_nothing(model, schema):
    odd = ToolView(name="odd", description="", parameters=schema, examples=("", "{", "{a}", "do (x|y [z", "odd {b} {a} thing"))
    talk = Talk(model, (odd,))
    await talk.say("do the odd 5 thing")
    assert len(talk.called) <= 1


@settings(max_examples=25, deadline=None)
@given(st.text(max_size=120))
def test_no_sentence_breaks_the_model(sentence):
    MODEL.answer(ask(TOOLS, said(sentence)))


MODEL = EmbeddedModel()


async def test_a_sentence_of_a_million_letters_is_cut_off_and_answered(talk):
    assert await talk.say("word " * 200_000)


def _without(model, *sentences, has=(), lacks=TOOLS):
    """The last answer of the model in a chat that has these tools and lacks those."""
    view = [Elsewhere(tool=tool, why=f"This chat does not have the tool {tool.name!r}.") for tool in lacks]
    return model.answer(msgspec.structs.replace(ask(has, *map(said, sentences)), elsewhere=tuple(view))).text


def test_a_command_for_a_tool_that_the_chat_has_not_is_answered_with_why(model):
    lights, rest = [one for one in TOOLS if one.name == "set_lights"], [one for one in TOOLS if one.name != "set_lights"]
    assert _without(model, "set a timer for ten minutes", has=tuple(lights), lacks=rest) == (
        "This chat does not have the tool 'set_timer'."
    )
    assert _without(model, "what can you do?", lacks=lights) == (
        "I have no tools here. This chat does not have the tool 'set_lights'."
    )


@pytest.mark.parametrize("sentence", ["who was the first emperor of Rome?", "hello", "thanks a lot", "don't set a timer"])
def test_what_no_tool_does_is_answered_as_ever_though_the_chat_lacks_some(model, sentence):
    assert _without(model, sentence) == _without(model, sentence, lacks=())


async def test_an_answer_fills_what_is_missing_and_not_what_the_preposition_already_said(talk):
    assert await talk.say("send a message to Kim") == "What should it say?"
    await talk.say("I'm on my way")
    await talk.say("yes")
    assert talk.called == [("send_message", {"recipient": "Kim", "text": "I'm on my way"})]


async def test_a_number_out_of_bounds_is_asked_for_instead_of_called_with(model):
    bounds = {"type": "integer", "minimum": 0, "maximum": 100}
    schema = {"type": "object", "properties": {"level": bounds}, "required": ["level"]}
    loud = ToolView(
        name="volume",
        description="Set the volume.",
        parameters=schema,
        examples=("set the volume to {level}",),
        risk=Risk.WRITE,
    )
    talk = Talk(model, (loud,))
    assert await talk.say("set the volume to 150") == "What level?"
    await talk.say("70")
    assert talk.called == [("volume", {"level": 70})]


@pytest.mark.parametrize(
    ("said", "state"),
    [("it's too dark in the cellar", "on"), ("too bright in the cellar", "off"), ("make it dark in the cellar", "off")],
)
async def test_what_a_room_is_in_want_of_says_the_state_of_its_light(talk, said, state):
    await talk.say(said)
    assert talk.called == [("set_lights", {"room": "cellar", "state": state})]


@pytest.mark.parametrize(
    "sentence", ["I'm in the mood for a fight", "remove your hat from the list", "say something nice", "weather for a picnic"]
)
async def test_what_is_hardly_a_name_is_not_acted_on(talk, sentence):
    await talk.say(sentence)
    assert talk.called == []


async def test_thanks_behind_a_command_leave_it_a_command(talk):
    await talk.say("half an hour on the timer, thanks")
    assert talk.called == [("set_timer", {"amount": 30, "unit": "minutes"})]
    assert await talk.say("ok that's all for now, thanks") == "You're welcome."


async def test_a_message_is_what_was_said_and_not_what_leads_up_to_it(talk):
    await talk.say("shoot Ben a text, tell him the door is open")
    await talk.say("yes")
    await talk.say("inform Mr. Hall that the invoice has been paid")
    await talk.say("yes")
    assert talk.called == [
        ("send_message", {"recipient": "Ben", "text": "the door is open"}),
        ("send_message", {"recipient": "Mr. Hall", "text": "the invoice has been paid"}),
    ]


async def test_an_idle_word_is_no_name_of_a_place(talk):
    assert await talk.say("what's the weather like") == "Which city?"
