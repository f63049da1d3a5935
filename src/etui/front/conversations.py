"""Talking: turns are started and stopped in the sessions of their chats, and a chat is deleted with all that belongs to it.

Above: surfaces, and tools whose card a person typed into. Below: the turns that run, the jobs, the sessions that live, the
stored chats. It refuses to know: which model answers, and what is said.
"""

from __future__ import annotations

from collections.abc import Callable

from etui.agent.jobs import Jobs
from etui.agent.running import Running
from etui.session import Session
from etui.sessions import CLEARED, Sessions
from etui.store.chatnames import ChatNames
from etui.store.chats import Chats


class Conversations:
    """The conversations of one host."""

    def __init__(
        self,
        running: Running,
        jobs: Jobs,
        sessions: Sessions,
        chats: Chats,
        names: ChatNames,
        tell: Callable[..., None],
    ) -> None:
        """`tell` hears what became of a chat: the hook of that name, and its event."""
        self._names = names
        self._tell = tell
        self._running = running
        self._jobs = jobs
        self._sessions = sessions
        self._chats = chats

    def say(self, chat: str, text: str, *, channel: str = "console", attended: bool = True) -> str:
        """Start a turn in a chat; gives its id, and events tell the rest."""
        return self._running.say(self._session(chat, channel, attended), text)[0]

    async def turn(self, chat: str, text: str, *, channel: str = "python", attended: bool = False) -> str:
        """Take a turn and wait for the answer."""
        _, task = self._running.say(self._session(chat, channel, attended), text)
        return (await task).text

    def typed(self, session: Session, text: str) -> None:
        """What a person typed into a card that nobody waited for is their next sentence, where there is a chat."""
        if session.chat and self._chats.get(session.chat) is not None:
            self.say(session.chat, text, channel=session.channel)

    def stop(self, chat: str) -> bool:
        """Stop the turn that runs in a chat; where there is none, its background job."""
        return self._running.stop(chat) or self._jobs.cancel(chat)

    def delete(self, chat: str) -> bool:
        """Delete a conversation with all that was said and its jobs; what runs there is stopped. False if there is none."""
        self._running.stop(chat)
        self._sessions.end_chat(chat)
        name = self._names.of(chat)
        gone = self._chats.delete(chat)
        self._jobs.forget(chat)
        if gone:
            self._tell("chat_deleted", chat_name=name, metadata={"chat_name": name})
        return gone

    async def clear(self, chat: str) -> bool:
        """Forget all that was said in a conversation, and its jobs; what runs there is stopped. False if there is none."""
        self._jobs.forget(chat)
        self._sessions.end_chat(chat, CLEARED)
        await self._running.ended(chat)
        cleared = self._chats.clear(chat)
        if cleared:
            name = self._names.of(chat)
            self._tell("chat_cleared", chat_name=name, metadata={"chat_name": name})
        return cleared

    def rename(self, chat: str, title: str) -> bool:
        """Give a conversation another title. False if there is none."""
        before = self._names.of(chat)
        renamed = self._chats.rename(chat, title)
        if renamed and (after := self._names.of(chat)) != before:
            metadata = {"chat_name": after, "old_name": before, "new_name": after}
            self._tell("chat_renamed", chat_name=after, metadata=metadata)
        return renamed

    def _session(self, chat: str, channel: str, attended: bool) -> Session:
        """The session of a chat and channel, for a turn at which somebody is there or not."""
        session = self._sessions.of(chat, channel)
        session.attended = attended
        return session
