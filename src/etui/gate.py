"""May this call run now: ordered rules, each a plain function with a name that the audit and the console show.

A rule looks at the call, the tool and the session's facts and does no I/O. It answers None to let the next rule look.
Above: `host` hands `decide` to sessions. Below: `session`'s nouns. It refuses to know: how a question reaches a person.
"""

from __future__ import annotations

from collections.abc import Callable

from etui.session import Decision, Facts, Verdict
from etui.settings import Policy
from etui.tool import Call, Risk, Tool

Rule = Callable[[Call, Tool, Facts], Verdict | None]


def decide(call: Call, tool: Tool, facts: Facts) -> Verdict:
    """The first rule that has something to say decides; a call that none objects to is allowed."""
    for rule in RULES:
        verdict = rule(call, tool, facts)
        if verdict is not None:
            return verdict
    return ALLOWED


def switched_off(call: Call, tool: Tool, facts: Facts) -> Verdict | None:
    """The owner switched the tool or its family off."""
    if tool.name in facts.off or tool.toolset in facts.off:
        what = f"{tool.name} is" if tool.name in facts.off else f"{tool.toolset}, to which {tool.name} belongs, is"
        return _refuse("switched_off", f"{what} switched off. The owner can switch it on in the console or with `etui tools`.")
    return None


def out_of_scope(call: Call, tool: Tool, facts: Facts) -> Verdict | None:
    """The session has only some toolsets, and the tool is in none of them."""
    if facts.toolsets is not None and tool.toolset not in facts.toolsets:
        return _refuse("toolset", f"{tool.name} is not among the tools of this conversation.")
    return None


def pin_needed(call: Call, tool: Tool, facts: Facts) -> Verdict | None:
    """The tool wants the owner's PIN, and this session has not given it."""
    if tool.pin and facts.trust != "full":
        return _refuse("pin", f"{tool.name} needs the owner's PIN first.")
    return None


def loop_guard(call: Call, tool: Tool, facts: Facts) -> Verdict | None:
    """Too many calls or failures in one turn; asking again does not help."""
    settings, turn = facts.settings, facts.turn
    if turn.calls >= settings.calls_a_turn:
        return _refuse(
            "loop_guard", f"This turn already made {turn.calls} calls, which is its limit. Answer with what you have."
        )
    if turn.failures >= settings.failures_a_turn:
        return _refuse("loop_guard", f"This turn already had {turn.failures} failed calls. Say what went wrong and stop.")
    return None


def not_enforced(call: Call, tool: Tool, facts: Facts) -> Verdict | None:
    """This machine cannot hold the tool to what it declares."""
    if facts.enforced or facts.remembered:
        return None
    reason = f"This machine cannot hold {tool.name} ({tool.plugin}) to what it declares; `etui doctor` says what is missing."
    return _by_policy("not_enforced", facts.settings.unconfined, reason)


def risk_policy(call: Call, tool: Tool, facts: Facts) -> Verdict | None:
    """What the owner's settings say for this risk."""
    does = {
        Risk.READ: "reads",
        Risk.WRITE: "writes in the working folder",
        Risk.NETWORK: "uses the network",
        Risk.EXEC: "starts other programs",
    }[tool.risk]
    policy: Policy = getattr(facts.settings, f"allow_{tool.risk.value}")
    if policy == "ask" and facts.remembered:
        return None
    return _by_policy(f"allow_{tool.risk.value}", policy, f"{tool.name} {does}, and the setting is `{policy}`.")


def _by_policy(rule: str, policy: Policy, reason: str) -> Verdict | None:
    if policy == "allow":
        return None
    return Verdict(Decision.ASK if policy == "ask" else Decision.REFUSE, rule, reason)


def _refuse(rule: str, reason: str) -> Verdict:
    return Verdict(Decision.REFUSE, rule, reason)


ALLOWED = Verdict(Decision.ALLOW)
RULES: tuple[Rule, ...] = (switched_off, out_of_scope, pin_needed, loop_guard, not_enforced, risk_policy)
"""In the order in which they are asked. Scopes and private chats join with the contracts that know them."""
