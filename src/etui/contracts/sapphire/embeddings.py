"""The embedder as plugins ask for it: there is none, which it says, and then they search by words.

Above: the name `core.embeddings`. Below: nothing. It refuses to know: vectors.
"""

from __future__ import annotations

from collections.abc import Iterable


class Embedder:
    """What `get_embedder` gives."""

    available = False
    provider_id = ""

    def embed(self, texts: Iterable[str], prefix: str = "") -> None:
        """No vectors, as from an embedder that cannot be reached."""


_NONE = Embedder()


def get_embedder() -> Embedder:
    """The one that there is."""
    return _NONE


def stamp_embedding(*row: object, **more: object) -> None:
    """Note by which embedder a row's vector was made: there are no vectors, so there is nothing to note."""
