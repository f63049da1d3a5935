"""From what a model or a tool names to an image's bytes: a handle of the chat, a file, an address of the web.

Above: `core.images`. Below: `keeping`, the file system as far as the plugin may read it, and `core.net`. It refuses to know:
which lane an address takes.
"""

from __future__ import annotations

import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from etui.contracts.faults import causes
from etui.contracts.media import picture_type
from etui.contracts.sapphire.images.forms import HANDLE, ImageError
from etui.contracts.sapphire.images.keeping import stored

MOST = 20 * 1024 * 1024
"""Bytes that an image from the web or a file may have."""
SECONDS = 30
WHYS = {
    "PermissionError": "this plugin may not use the network",
    "SocksAuthError": "the SOCKS proxy refused the user name or the password",
    "ProxyError": "the proxy did not connect to it",
    "SSLError": "its certificate cannot be trusted",
    "ConnectTimeout": "it did not answer in time",
    "ReadTimeout": "it did not answer in time",
    "NameResolutionError": "its name cannot be found",
    "ConnectionRefusedError": "nothing answers there",
    "InvalidURL": "it is no address",
    "TooManyRedirects": "it leads from place to place without end",
}
"""What is said of an error of this kind, the first one that fits; the kinds are those of `requests` and below."""
FORMS = "img:<id>, doc:<N>, an absolute path, or an http(s) address"


@dataclass(frozen=True)
class Resolved:
    """An image that was found, and where."""

    data: bytes
    media_type: str
    label: str
    """What it is called."""
    origin: str
    """`chat`, `library`, `file` or `web`."""

    @property
    def size(self) -> int:
        """Its bytes, counted."""
        return len(self.data)


def resolve(source: object, *, private_key: str | None = None) -> Resolved:
    """The image that is meant. Raises ImageError with a sentence that names it."""
    name = source.strip() if isinstance(source, str) else ""
    if name.startswith(HANDLE):
        data, media_type = stored(name.removeprefix(HANDLE))
        return Resolved(data, media_type, name, "chat")
    if name.startswith("doc:"):
        raise _no_library(name)
    if name.lower().startswith(("http://", "https://")):
        return _fetched(name)
    if name.startswith("/"):
        return _read(name)
    said = f"{name!r} names no image" if name else "no image was named"
    raise ImageError(f"{said}; it is named by {FORMS}")


def _no_library(name: str) -> ImageError:
    if not name.removeprefix("doc:").strip().isdecimal():
        return ImageError(f"{name} is not a library id")
    return ImageError(f"{name} cannot be opened: no image library is installed here")


def _read(path: str) -> Resolved:
    try:
        about = Path(path).stat()
        if not stat.S_ISREG(about.st_mode):
            raise ImageError(f"no file at {path}: it is something else")
        if about.st_size > MOST:
            raise ImageError(f"image over 20MB: {path}")
        with open(path, "rb") as file:
            data = file.read(MOST + 1)
    except FileNotFoundError:
        raise ImageError(f"no file at {path}") from None
    except (OSError, ValueError) as error:
        why = "this plugin may not read it" if isinstance(error, PermissionError) else getattr(error, "strerror", "") or error
        raise ImageError(f"no file at {path}: {why}") from None
    return _known(data, path, Path(path).name, "file", "not in a form that is known")


def _fetched(url: str) -> Resolved:
    from core import net  # type: ignore[import-not-found]  # Lazily: the name is there inside workers.

    try:
        answer: Any = net.get(url, timeout=SECONDS, stream=True)
    except Exception as error:  # whatever stands between here and there: requests has a tree of them
        raise ImageError(f"couldn't fetch {url}: {_plain(error)}") from None
    try:
        if answer.status_code != 200:
            raise ImageError(f"couldn't fetch {url}: the server answered {answer.status_code}")
        kind = str(answer.headers.get("content-type") or "nothing said").partition(";")[0].strip()
        length = str(answer.headers.get("content-length") or "")
        if length.isdecimal() and int(length) > MOST:
            raise ImageError(f"image over 20MB: {url}")
        data = bytearray()
        for piece in answer.iter_content(65_536):
            data += piece
            if len(data) > MOST:
                raise ImageError(f"image over 20MB: {url}")
    except ImageError:
        raise
    except Exception as error:  # it broke off half way
        raise ImageError(f"couldn't fetch {url}: {_plain(error)}") from None
    finally:
        answer.close()
    return _known(bytes(data), url, url, "web", kind)


def _known(data: bytes, source: str, label: str, origin: str, kind: str) -> Resolved:
    media_type = picture_type(data)
    if not media_type:
        raise ImageError(f"{source} is not an image ({kind})")
    return Resolved(data, media_type, label, origin)


def _plain(error: BaseException) -> str:
    """Why it could not be fetched, for a person: by the kind of the error, else in its own words."""
    kinds = {type(one).__name__ for one in causes(error)}
    for kind, words in WHYS.items():
        if kind in kinds:
            return words
    text = " ".join(str(error).split())
    return text[:200] if text else type(error).__name__
