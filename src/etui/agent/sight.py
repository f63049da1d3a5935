"""Which images a model is shown: those of the last turns, in forms that models take, and none that its server has refused.

Above: `asking` keeps the window, `chat` and `direct` keep a `Sight` each. Below: `history`, the store's messages. It refuses to
know: providers. An image that is not shown is told of in words; one of an older turn is not, for its result names it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from etui.agent.history import Entry, Picture, Pictures, Said
from etui.store.chats import Message

FORMS = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""What every provider that takes images takes."""
BLIND = "the current model does not support image inputs"
ABOUT = ("image", "vision", "multimodal", "multi-modal", "picture", "unsupported content", "content type", "content part")
"""Words by which a server says that it was about the images."""


def pictured(messages: Iterable[Message], turns: int, vision: str) -> Iterator[Message]:
    """The chat with the images of tools in their own turn and in so many after it; with `never`, told of and not shown."""
    told = list(messages)
    after = sum(message.role == "user" for message in told)
    for message in told:
        after -= message.role == "user"
        if not message.images:
            yield message
        elif vision == "never":
            note = _note(len(message.images), BLIND) if after <= turns else ""
            yield msgspec.structs.replace(message, images=(), text=f"{message.text}{note}".lstrip("\n"))
        elif message.role != "user" and after > turns:
            yield msgspec.structs.replace(message, images=())
        else:
            yield message


class Sight:
    """What one model was refused."""

    def __init__(self, pictures: Pictures) -> None:
        self._pictures = pictures
        self._refused: frozenset[str] = frozenset()
        self._forms: dict[str, str] = {}
        """The media types of images, by id, as far as they were looked at."""

    def shown(self, images: Iterable[str]) -> list[Picture]:
        """The images that it is shown, in their order."""
        return [found for image in images if (found := self._seen(image))]

    def words(self, images: Sequence[str]) -> str:
        """What is said of those that it is not shown, to stand behind the text; empty where there are none."""
        refused = sum(image in self._refused for image in images)
        odd = sum(image not in self._refused and self._odd(image) for image in images)
        return _note(refused, f"{BLIND}, or not this one") + _note(odd, "models are not shown images of this form")

    def among(self, entries: Iterable[Entry]) -> frozenset[str]:
        """The ids of what it is shown in these."""
        known = {image for entry in entries for image in _images(entry)} - self._refused
        return frozenset(image for image in known if self._seen(image))

    def refuse(self, images: frozenset[str]) -> None:
        """Its server did not take a request with these: it is not shown them again."""
        self._refused |= images

    def forgive(self, images: frozenset[str]) -> None:
        """It was not about these."""
        self._refused -= images

    def _seen(self, image: str) -> Picture | None:
        if image in self._refused or self._forms.get(image, "image/png") not in FORMS:
            return None
        found = self._pictures(image)
        self._forms[image] = form = found.media_type if found is not None else ""
        return found if form in FORMS else None

    def _odd(self, image: str) -> bool:
        if image not in self._forms:
            self._seen(image)
        return bool(self._forms[image]) and self._forms[image] not in FORMS


def about_images(said: str) -> bool:
    """Whether a server's refusal speaks of images."""
    words = said.casefold()
    return any(word in words for word in ABOUT)


def _images(entry: Entry) -> tuple[str, ...]:
    if isinstance(entry, Said):
        return entry.images
    return tuple(image for call in entry.calls for image in call.images)


def _note(count: int, why: str) -> str:
    if not count:
        return ""
    return f"\n({count} image{' was' if count == 1 else 's were'} withheld here: {why}.)"
