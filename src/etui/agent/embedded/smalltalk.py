"""Fixed, honest replies: greetings, thanks, who this is, what it can do, and what it cannot.

Above: model. Below: known. It refuses to make anything up: what it can do is read from the tools that are really there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from etui.agent.embedded.known import Known
from etui.agent.embedded.parameters import Kind
from etui.agent.embedded.words import cut, plain
from etui.agent.model import Elsewhere
from etui.tool import Risk

HOW_TO_ADD = (
    "To talk freely, add a model: a key or a local server, on the console's Settings page or with `etui config model ...`."
)
_MOST_TOLD = 12

_REPLIES: list[tuple[str, str]] = [
    (
        (
            r"(hi|hello|hey|hiya|howdy|greetings|good (morning|afternoon|evening|day)|yo)( there| everyone| etui| "
            r"again| computer| assistant| friend)*"
        ),
        "Hello! What can I do for you?",
    ),
    (r"(what is (up|going on|happening|new)|sup|how is it going)", "Ready when you are. What can I do for you?"),
    (r"(.* )?(thanks|thank you|thx|ta|cheers|much appreciated|i appreciate (it|that))( .*)?", "You're welcome."),
    (r"(good ?night|sleep well|sweet dreams)( .*)?", "Good night."),
    (
        r"(bye|goodbye|good bye|bye bye|see you( later| soon| tomorrow)?|so long|farewell|later|ciao|take care)( .*)?",
        "Goodbye.",
    ),
    (
        r"(how are you|how do you do|how are you doing|how do you feel|are you ok|are you okay|how have you been)( .*)?",
        ("I'm a program and I'm running fine, thank you. What can I do for you?"),
    ),
    (
        (
            r"(who|what) (are you|is this|am i talking to|is etui)|what is your name|who made you|introduce "
            r"yourself|are you (a )?(robot|human|real|bot|ai|an ai|there|alive|chatgpt)|(tell me )?about yourself"
        ),
        (
            "I'm Etui, an assistant that runs tools. Right now you are talking to my small built-in command "
            "matcher: it understands commands, and it does not chat. "
        )
        + HOW_TO_ADD,
    ),
    (
        (
            r"(tell me |do you know |got |say |make |know )?(a|another|any|some|one more)? ?(good |funny |short "
            r")?jokes?|make me laugh|tell me something funny"
        ),
        "I only know one: why did the command matcher cross the road? Nobody gave it an example for staying.",
    ),
    (
        r"((give me|just|wait|hang on|hold on) )?(a|one|just a) (minute|second|moment|sec|tick)|hang on|hold on|take your time",
        "Take your time.",
    ),
    (r"(sorry|i am sorry|my bad|my mistake|apologies)", "No harm done."),
    (
        (
            r"(well done|good job|nice|great|awesome|perfect|cool|excellent|amazing|good|wonderful|great job|nice "
            r"one|lovely|brilliant|super|nice work|good work|you are (great|the best|awesome|amazing|good|smart|"
            r"helpful|brilliant))"
        ),
        "Glad to hear it.",
    ),
    (
        r"(ok|okay|alright|all right|fine|got it|i see|right|sure|yes|yeah|yep|no|nope|hmm+|oh|wow|really|interesting)",
        "All right.",
    ),
    (
        r"(you are|that is|this is) (stupid|dumb|useless|bad|wrong|an idiot|terrible|not (helpful|smart|right))",
        "I'm sorry that didn't help. I only understand commands; " + "you can teach me your own wording with `etui teach`.",
    ),
    (r"(i love you|i like you|do you love me|marry me)", "That's kind. I'm a program, but I'm happy to help."),
    (r"(just|wait|hold on|hang on|give me|one| )*(a |one )?(second|sec|minute|min|moment|bit)( please)?", "Take your time."),
    (r"(nice|pleased|good|lovely) to (meet|see|talk to) you( too)?", "Nice to meet you, too."),
    (r"(never ?mind|forget (about )?it|cancel|cancel that|stop|abort|nothing)", "All right."),
]
_ABOUT = re.compile(
    r"help( me)?|what can (you|i) (do|ask|say)( for me)?|what (else )?(can|do) you (do|know|understand)"
    r"|what are you (able|capable)( to| of)?.*|what do i say|how can you help( me)?"
    r"|what (commands|tools|things|skills) .*(have|know|understand|do|are there|can i)"
    r"|what are your (tools|commands|skills|abilities)|how do (i|you) (use|work)( with)? ?(this|you|it)?"
    r"|(show|list|tell)( me)?( all)?( your| the| what)? ?(tools|commands|you can do|skills|abilities)"
)


def reply(sentence: str) -> str:
    """The fixed reply to small talk, or nothing."""
    for line in _lines(sentence):
        for pattern, answer in _REPLIES:
            if re.fullmatch(pattern, line):
                return answer
    return ""


def only_ends(sentence: str) -> bool:
    """True where thanks only end a sentence that says more: "half an hour on the timer, thanks"."""
    words = cut(sentence[:200])
    lean = plain(words)
    return len(lean) >= _MORE and lean[-1].end < words[-1].end


_MORE = 4
"""Words that are more than a greeting."""


def _lines(sentence: str) -> list[str]:
    words = cut(sentence[:200])
    whole, lean = (" ".join(word.text for word in part) for part in (words, plain(words)))
    return [whole, lean] if len(words) <= 12 else []


def asks_what(sentence: str) -> bool:
    """True for "what can you do" and its like."""
    return any(_ABOUT.fullmatch(line) for line in _lines(sentence))


def abilities(tools: Sequence[Known], elsewhere: Sequence[Elsewhere] = ()) -> str:
    """What the tools that are really there can do, grouped by plugin; where there is none, why one of `elsewhere` is not."""
    if not tools and elsewhere:
        return f"I have no tools here. {elsewhere[0].why}"
    if not tools:
        return "I have no tools yet: put a tool file into the tools folder, and I can use it at once. " + HOW_TO_ADD
    groups: dict[str, list[str]] = {}
    for tool in tools:
        groups.setdefault(tool.view.plugin, []).append(example(tool))
    lines = []
    for plugin, said in list(groups.items())[:_MOST_TOLD]:
        more = f" and {len(said) - 3} more" if len(said) > 3 else ""
        lines.append(f"- {plugin or 'tools'}: {'; '.join(said[:3])}{more}")
    rest = len(groups) - _MOST_TOLD
    return (
        "I can run these tools. Say, for example:\n" + "\n".join(lines) + (f"\n- and {rest} more plugins" if rest > 0 else "")
    )


def example(tool: Known) -> str:
    """One sentence that means the tool, in quotes, or what it does."""
    own = [template for template in tool.templates if not template.derived]
    return f"“{tool.sample(own[0])}”" if own else f"{tool.name}: {tool.first_sentence.rstrip('.')}"


_TAKES_BACK = {"cancel", "stop", "delete", "remove", "clear", "forget", "erase", "undo", "reset", "close", "end"}
_TOLD = 2
"""The most values of an example that speak for it."""


def _telling(tool: Known) -> float:
    """How well the tool's first example shows a newcomer what they may say: it holds likely values, and takes nothing back."""
    template = next(one for one in tool.templates if not one.derived)
    parameters = [tool.parameters[name] for name in template.slots if name in tool.parameters]
    if (
        template.items[0] in _TAKES_BACK
        or tool.view.risk is Risk.EXEC
        or any(one.file or not tool.shows(one) for one in parameters)
    ):
        return -1.0
    values = sum(2 if one.many or one.kind not in (Kind.TEXT, Kind.OTHER) else 1 for one in parameters)
    return min(values, _TOLD)


def cannot(tools: Sequence[Known]) -> str:
    """The honest answer to what no tool does."""
    own = [tool for tool in tools if any(not one.derived for one in tool.templates)]
    sizes = Counter(tool.view.plugin for tool in own)
    chosen = sorted(own, key=lambda tool: (-_telling(tool), tool.reads, -sizes[tool.view.plugin]))
    seen: dict[str, Known] = {}
    for tool in chosen:
        seen.setdefault(tool.view.plugin or tool.name, tool)
    known = list(dict.fromkeys(example(tool) for tool in [*seen.values(), *chosen]))[:3]
    can = (
        f" What I can do is run tools, for example {', '.join(known[:-1])}{' or ' if len(known) > 1 else ''}{known[-1]}."
        if known
        else ""
    )
    matcher = "I'm running on the small built-in command matcher, which understands commands and doesn't know things."
    return f"I can't answer that: {matcher}{can} {HOW_TO_ADD}"
