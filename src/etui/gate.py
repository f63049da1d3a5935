"""May this call run now: ordered rules, each a plain function with a name that the audit and the console show.

A rule looks at the call, the tool and the session's facts and does no I/O. It answers None to let the next rule look.
Above: `host` hands `decide` to sessions. Below: `session`'s nouns. It refuses to know: how a question reaches a person.
"""

from __future__ import annotations

from collections.abc import Callable

from etui.modes import WORK, named, reaches, waits
from etui.settings import Policy
from etui.tool import BUILT_IN, Call, Risk, Tool
from etui.verdict import FULL, NO_PIN, NOT_CHOSEN, PIN, STRANGERS, Decision, Facts, Verdict

Rule = Callable[[Call, Tool, Facts], Verdict | None]


def decide(call: Call, tool: Tool, facts: Facts) -> Verdict:
    """The first rule that has something to say decides; a call that none objects to is allowed."""
    for rule in RULES:
        verdict = rule(call, tool, facts)
        if verdict is not None:
            return verdict
    return ALLOWED


def withheld(call: Call, tool: Tool, facts: Facts) -> Verdict | None:
    """The tool was kept back from this session by name."""
    if tool.name in facts.withheld:
        return _refuse("withheld", f"{tool.name} was withheld: it is not given out in this turn, so nothing was run.")
    return None


def switched_off(call: Call, tool: Tool, facts: Facts) -> Verdict | None:
    """The owner switched the tool or its family off."""
    if tool.name in facts.off or tool.toolset in facts.off:
        what = f"{tool.name} is" if tool.name in facts.off else f"{tool.toolset}, to which {tool.name} belongs, is"
        text = f"{what} switched OFF in the owner's settings. They can switch it on in the console or with `etui tools`."
        return _refuse("switched_off", text)
    return None


def out_of_scope(call: Call, tool: Tool, facts: Facts) -> Verdict | None:
    """The session has only some toolsets, and the tool is in none of them."""
    if tool.contract == BUILT_IN:
        return None
    if facts.toolsets is not None and tool.toolset not in facts.toolsets:
        return _refuse("toolset", f"{tool.name} is not among the tools of this conversation.")
    return None


def not_chosen(call: Call, tool: Tool, facts: Facts) -> Verdict | None:
    """The chat has only some tools, and this is none of them."""
    if facts.chosen.lets(tool) or tool.contract == BUILT_IN:
        return None
    return _refuse(
        NOT_CHOSEN, f"{tool.name} is not among the tools that were chosen for this chat; its owner can choose it there."
    )


def scope_closed(call: Call, tool: Tool, facts: Facts) -> Verdict | None:
    """The tool needs a scope, such as one of several accounts, that is closed in this chat."""
    if not tool.scope or tool.scope not in facts.chosen.closed:
        return None
    return _refuse(
        "scope_closed",
        f"{tool.name} needs the scope {tool.scope!r}, which is closed in this chat; its owner can choose one there.",
    )


def other_mode(call: Call, tool: Tool, facts: Facts) -> Verdict | None:
    """The tool is for conversations and this is a background job, or the other way round."""
    if reaches(tool, facts.mode, facts.settings.only_in_jobs) and not (tool.contract == BUILT_IN and facts.mode == WORK):
        return None
    if facts.mode == WORK:
        return _refuse("mode", f"{tool.name} belongs to conversations and is not part of a background job.")
    return _refuse("mode", f"{tool.name} is not part of a conversation: it belongs to a background job.")


def not_activated(call: Call, tool: Tool, facts: Facts) -> Verdict | None:
    """The tool is an MCP server's, for which this background job has not asked."""
    if not waits(tool, facts.mode, facts.activated):
        return None
    server = tool.toolset.removeprefix("mcp:")
    why = f"{tool.name} belongs to the MCP server {server!r}, which is not active in this job"
    return _refuse("not_activated", f"{why}: call activate_tools with its name first.")


def pin_needed(call: Call, tool: Tool, facts: Facts) -> Verdict | None:
    """The tool wants the owner's PIN, and this session has not given it; its answer is the same whatever was asked."""
    if facts.trust == FULL or not (tool.pin or _shut(tool, facts)):
        return None
    if not facts.pin_set:
        return _refuse(
            NO_PIN, tool.words.no_pin or f"{tool.name} needs the owner's PIN, but none is configured: `etui pin set`."
        )
    ask = "Ask for it in one short sentence, and call the tool again once it was right."
    return _refuse(PIN, tool.words.pin or f"{tool.name} needs the owner's PIN first. {ask}")


def _shut(tool: Tool, facts: Facts) -> bool:
    """Whether the tool is not for whoever happens to ring: there, what does not say so itself waits for the PIN."""
    if facts.channel not in STRANGERS or tool.contract in SAY_THEMSELVES:
        return False
    # Not what a file says of itself: it could name a family as a tool is called that the owner opened.
    family = tool.plugin if tool.contract == "mcp" else f"plugin:{tool.plugin}"
    return not named((tool.name, family, f"contract:{tool.contract}"), facts.settings.before_pin)


def loop_guard(call: Call, tool: Tool, facts: Facts) -> Verdict | None:
    """Too many calls or failures in one turn; asking again does not help."""
    settings, turn, work = facts.settings, facts.turn, facts.mode == WORK
    calls = settings.calls_a_job if work else settings.calls_a_turn
    failures = settings.failures_a_job if work else settings.failures_a_turn
    what = "background job" if work else "turn"
    if turn.calls >= calls:
        text = f"This {what} already made {turn.calls} calls, which is its limit. Answer with what you have."
    elif turn.failures >= failures:
        text = f"This {what} already had {turn.failures} failed calls. Say what went wrong and stop."
    else:
        return None
    return _refuse("loop_guard", f"THIS CALL DID NOT RUN. {text}")


def not_enforced(call: Call, tool: Tool, facts: Facts) -> Verdict | None:
    """This machine cannot hold the tool to what it declares."""
    if facts.enforced or facts.remembered or tool.contract == BUILT_IN:
        return None
    reason = f"This machine cannot hold {tool.name} ({tool.plugin}) to what it declares; `etui doctor` says what is missing."
    return _by_policy("not_enforced", facts.settings.unconfined, reason)


def risk_policy(call: Call, tool: Tool, facts: Facts) -> Verdict | None:
    """What the owner's settings say for this risk."""
    if tool.contract == BUILT_IN:
        return None
    rule, does = _POLICIES[tool.risk]
    said = policy = getattr(facts.settings, rule)
    if said == "auto":
        policy = "allow" if tool.asks else "ask"
    if policy == "ask" and facts.remembered:
        return None
    return _by_policy(rule, policy, f"{tool.name} {does}, and the setting `{rule}` is `{said}`.")


def _by_policy(rule: str, policy: Policy, reason: str) -> Verdict | None:
    if policy == "allow":
        return None
    return Verdict(Decision.ASK if policy == "ask" else Decision.REFUSE, rule, reason)


def _refuse(rule: str, reason: str) -> Verdict:
    return Verdict(Decision.REFUSE, rule, reason)


_POLICIES = {
    Risk.READ: ("allow_read", "reads"),
    Risk.WRITE: ("allow_write", "writes in the working folder"),
    Risk.NETWORK: ("allow_network", "uses the network"),
    Risk.EXEC: ("allow_exec", "starts other programs"),
}
"""By risk, the setting, which is also the rule's name, and what such a tool does."""
ALLOWED = Verdict(Decision.ALLOW)
SAY_THEMSELVES = frozenset({"keryx", BUILT_IN})
"""Contracts whose files say of each tool whether it is for everybody."""
RULES: tuple[Rule, ...] = (
    pin_needed,
    withheld,
    switched_off,
    out_of_scope,
    not_chosen,
    scope_closed,
    other_mode,
    not_activated,
    loop_guard,
    not_enforced,
    risk_policy,
)
"""In the order in which they are asked; before the PIN nothing else is told. Of private chats there is none yet."""
