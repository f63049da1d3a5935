"""Background work: hand a long job over to the background, and cancel it.

Above: whoever speaks to the assistant. Below: the host, which runs the job as a turn of its own and tells this conversation
when it is done. An ordinary tool file. It refuses to know: how a job is done.
"""

from __future__ import annotations

from typing import Annotated

from etui import Context, Refusal, Result, tool


@tool(
    toolset="core",
    mode="conversation",
    examples=[
        "work on this in the background: {goal}",
        "work on {goal} in the background",
        "do this in the background: {goal}",
        "do {goal} in the background",
        "start a background job: {goal}",
        "start a background job to {goal}",
    ],
)
def start_work(
    ctx: Context, goal: Annotated[str, "What is to be done, whole: the job knows nothing else of this conversation."]
) -> Result:
    """Start a background job for what takes long or many steps; the conversation goes on and is told when it is done."""
    job = ctx.start_work(goal)
    return Result(f"Started in the background: {goal.strip()}. You are told when it is done.", data={"job": job})


@tool(
    toolset="core",
    mode="conversation",
    examples=[
        "cancel the background job",
        "cancel the background work",
        "cancel the job in the background",
        "stop the background job",
        "stop the background work",
        "stop working in the background",
    ],
)
def cancel_work(ctx: Context) -> str:
    """Cancel the background job of this conversation."""
    if not ctx.cancel_work():
        raise Refusal("No background job is running here.")
    return "The background job is cancelled."
