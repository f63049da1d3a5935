"""A PIN for tests: cheap to compare, kept in a dict or in a host, tried by somebody of whom nothing is known."""

from __future__ import annotations

from pathlib import Path

from etui.host import Host
from etui.owner.guard import Guard, Limits
from etui.owner.pin import Cost, Pins
from etui.session import Session

RIGHT = "123456"
CHEAP = Cost(memory=32, iterations=1, lanes=1)


class Clock:
    """Time that stands still until it is moved."""

    def __init__(self, now: float = 1_800_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class Kept(dict[tuple[str, str], object]):
    """Values that outlive whoever keeps them here."""

    def get(self, space: str, key: str) -> object | None:  # type: ignore[override]
        return super().get((space, key))

    def put(self, space: str, key: str, value: object) -> None:
        self[space, key] = value


class Somebody:
    """A session, as far as a PIN changes it."""

    def __init__(self) -> None:
        self.trust = "none"

    def authorize(self) -> None:
        self.trust = "full"


class Door:
    """A PIN that is set, its guard, and the alerts that the owner got."""

    def __init__(self, kept: Kept | None = None, clock: Clock | None = None, limits: Limits | None = None) -> None:
        self.kept = Kept() if kept is None else kept
        self.clock = clock or Clock()
        self.alerts: list[float] = []
        guard = Guard(self.kept, self.clock, lambda: limits or Limits(), self.alerts.append)
        self.pins = Pins(self.kept, guard, lambda: 3, cost=CHEAP)

    async def set(self, digits: str = RIGHT) -> Door:
        await self.pins.set(digits)
        return self

    async def tries(self, who: Somebody, *texts: str) -> list[str]:
        """What becomes of each."""
        return [(await self.pins.submit(who, text)).status for text in texts]

    async def wrong(self, count: int) -> list[str]:
        """So many wrong ones, never two by the same session."""
        return [(await self.tries(Somebody(), f"{900_000 + number}"))[0] for number in range(count)]

    async def status(self, text: str = RIGHT) -> str:
        """What becomes of one, by somebody new."""
        return (await self.tries(Somebody(), text))[0]


async def pin_in(host: Host, digits: str = RIGHT) -> None:
    """Set the PIN of a host, cheaply."""
    host.entrance.pins._cost = CHEAP
    await host.entrance.pins.set(digits)


async def submit(host: Host, session: Session, text: str) -> dict[str, object]:
    """Hand a PIN over as a model does; gives what the model is told."""
    outcome = await session.call(session.new_call("submit_pin", {"pin": text}))
    assert isinstance(outcome.data, dict)
    return outcome.data


def holds(folder: Path, *secrets: str) -> list[str]:
    """The files below a folder in which one of these texts stands."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    return [f"{file.name}: {one}" for file in files for one in secrets if one.encode() in file.read_bytes()]
