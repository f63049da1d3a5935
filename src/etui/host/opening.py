"""How sessions are opened: what each is handed, and what follows when one reads its own tools or proves something.

Above: `host`. Below: `session`, the gate, `tooling`, and the parts of the host that a call goes through. It refuses to know:
which sessions live, beyond telling whoever keeps them, and how a turn is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from etui import gate
from etui.agent.jobs import Job
from etui.briefing import Briefing
from etui.builtins import TOOLS as BUILT_INS
from etui.cards import Cards
from etui.contracts.standing import Standing
from etui.entrance import Entrance
from etui.events import Hub, Kind
from etui.front.tools import Tools
from etui.host.tooling import Tooling
from etui.modes import WORK, reaches
from etui.owner.approvals import Approvals
from etui.plugins.servers import plugin_of
from etui.run import Serve
from etui.selection import Selections
from etui.services import Services
from etui.session import TRUSTED, Session
from etui.session.parts import Around, Parts
from etui.sessions import Sessions
from etui.settings import Settings
from etui.store import Store
from etui.store.redact import mask
from etui.tool import BUILT_IN, Call, Tool


class Opening:
    """Opens the sessions of one host."""

    def __init__(
        self,
        tooling: Tooling,
        tools: Tools,
        store: Store,
        hub: Hub,
        *,
        cards: Cards,
        entrance: Entrance,
        services: Services,
        briefing: Briefing,
        settings: Callable[[], Settings],
        sessions: Callable[[], Sessions],
        selections: Selections,
        around: Around,
    ) -> None:
        """`sessions` gives those that live; `around` is asked before and after calls."""
        self._tooling = tooling
        self._hub = hub
        self._entrance = entrance
        self._services = services
        self._sessions = sessions
        self._parts = Parts(
            snapshot=lambda: tooling.registry.snapshot,
            settings=settings,
            decide=gate.decide,
            off=tools.off,
            enforced=tooling.enforced,
            memory=Approvals(store.values),
            journal=store.journal,
            runner=tooling.runner,
            serve=self._serve,
            keep=store.images.keep,
            find=store.images.id_of,
            mask=mask,
            conceal=entrance.conceal,
            hub=hub,
            cards=cards,
            taught=tools.taught,
            decided=store.journal.decided,
            built_in=BUILT_INS,
            pin_set=entrance.is_set,
            reaches=lambda tool, mode: reaches(tool, mode, settings().only_in_jobs),
            unusable=tooling.availability.unusable,
            brief=briefing.brief,
            fresh=self._own_tools,
            changed=self._changed,
            rested=lambda session: sessions().rested(session),
            chosen=lambda session: selections.chosen(session.chooses, private=session.private, own=session.own),
            hide=tooling.hiding.hide,
            around=around,
        )

    def session(
        self,
        channel: str,
        *,
        chat: str = "",
        trust: str = "",
        mode: str = "conversation",
        private: bool = False,
        attended: bool = False,
        toolsets: frozenset[str] | None = None,
        withheld: frozenset[str] = frozenset(),
        caller: str = "",
        possession: bool = False,
        chooses: str = "",
    ) -> Session:
        """A conversation's view; trust follows the channel where it is not said.

        `chooses` is the chat whose choices hold in it, where that is not its own.

        Tools that are read afresh for each session are read when it first needs them; `Sessions.open` reads them at once.
        """
        return Session(
            self._parts,
            channel=channel,
            trust=trust or ("full" if channel in TRUSTED else "none"),
            chat=chat,
            mode=mode,
            private=private,
            attended=attended,
            toolsets=toolsets,
            withheld=withheld,
            caller=caller,
            possession=possession,
            chooses=chooses,
        )

    def for_job(self, job: Job) -> Session:
        """The session in which a background job works: it may do no more than the one that it was started from."""
        return self.session(
            job.channel,
            chat=job.id,
            trust=job.trust,
            mode=WORK,
            private=job.private,
            attended=job.attended,
            toolsets=None if job.toolsets is None else frozenset(job.toolsets),
            withheld=frozenset(job.withheld),
            chooses=job.chat,
        )

    async def activate(self, session: Session, meant: str) -> dict[str, list[str]]:
        """Let a job see the tools of the MCP servers that are meant. Raises UsageError."""
        found = await self._tooling.servers.wake(meant)
        session.activated |= {plugin_of(name) for name in found}
        return found

    def _serve(self, tool: Tool, call: Call, session: Session) -> Serve:
        """What serves one call: of the host's own tools, that is what they do."""
        return self._entrance.serve(session) if tool.contract == BUILT_IN else self._services.desk(tool, call, session)

    async def _own_tools(self, session: Session) -> Mapping[str, Tool]:
        """The tools that are read for one session alone; then it lives until it is ended, and they with it."""
        tools = await self._tooling.fresh.open(session.id)
        if tools:
            self._sessions().keep(session)
        if session.ended:
            self._tooling.workers.end_instance(session.id)
        return tools

    def _changed(self, session: Session) -> None:
        """Something was proved in a session: everybody is told, its tools that run included."""
        standing = Standing(trust=session.trust, authorized=session.authorized, keypressed=session.keypressed)
        self._tooling.workers.tell(session.id, standing)
        data: dict[str, object] = {"trust": session.trust, "keypressed": session.keypressed}
        self._hub.tell(Kind.TRUST_CHANGED, data, session=session.id, chat=session.chat)
