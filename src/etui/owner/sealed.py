"""A file of named values that is encrypted as a whole, and the key of the home that it is shut with.

The key comes from the passphrase in `ETUI_KEY` where that is set, else from a file of its own. What cannot be opened stays as
it is: nothing is lost, and nothing is written over. Above: `secrets`. Below: the library `cryptography`. It refuses to know:
what the values are, and who may have them.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.constant_time import bytes_eq
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from etui.errors import EtuiError

VARIABLE = "ETUI_KEY"
"""The variable of the environment that holds the passphrase."""
SUFFIX = ".sealed"
"""How the names of such files end."""
SECRET, CHECK, SALT, NONCE = 32, 8, 16, 12
"""Bytes of a key, of what tells whether it is the right one, of a salt, of a nonce."""
INFO = b"etui sealed 1"
UNTIL = "until then none is handed out and nothing is written over"
Named = dict[str, dict[str, str]]
"""Values by section and name."""
Write = Callable[[Path, bytes], None]
"""Puts a file in place whole, readable by the owner alone; raises EtuiError where it cannot."""


class Cost(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How much work it is to try one passphrase: scrypt's numbers; it takes 128 bytes, times `n`, times `r`."""

    n: Annotated[int, msgspec.Meta(ge=2, le=2**20)] = 2**16
    r: Annotated[int, msgspec.Meta(ge=1, le=16)] = 8
    p: Annotated[int, msgspec.Meta(ge=1, le=16)] = 1


class Head(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What anybody may read of a sealed file: what opens it."""

    version: Literal[1] = 1
    by: Literal["file", "variable"]
    check: bytes
    """Made from the key, to tell a wrong one from a damaged file."""
    salt: bytes = b""
    cost: Cost = Cost()


class Shut(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A sealed file; its head is sealed with the rest, so that nobody can change it."""

    head: Head
    nonce: bytes
    sealed: bytes


class HomeKey:
    """The one key of a home, whichever way it comes; opens and shuts every sealed file there."""

    def __init__(self, file: Path, passphrase: str, write: Write, *, cost: Cost = Cost()) -> None:  # noqa: B008
        """`file` keeps the key where `passphrase` is empty; it is made when something is first shut with it."""
        self.file = file
        self._passphrase = passphrase.encode("utf-8", "surrogateescape")
        self._write = write
        self._cost = cost
        self._salt = b""
        """Of the passphrase, once it is known: one for all files of a home, so that it is stretched once."""
        self._stretched: dict[tuple[bytes, Cost], bytes] = {}

    @property
    def by(self) -> Literal["file", "variable"]:
        """Where the key comes from that things are shut with now."""
        return "variable" if self._passphrase else "file"

    def told(self) -> str:
        """The same in words, for the owner."""
        if self._passphrase:
            return f"the key from the passphrase in {VARIABLE}"
        return f"the key in {str(self.file)!r}" + ("" if self.file.exists() else ", which is made when it is first needed")

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Hold everything that is sealed here, over threads and processes. Raises EtuiError."""
        lock = self.file.with_name(".sealed.lock")
        try:
            handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise EtuiError(
                f"The secrets in {str(lock.parent)!r} cannot be held, so none is handed out: {error.strerror}."
            ) from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def new(self) -> tuple[Head, bytes]:
        """What to shut a file with: its head, and the key. Raises EtuiError where there can be none."""
        if self._passphrase:
            self._salt = self._salt or os.urandom(SALT)
            key, check = _parted(self._stretch(self._salt, self._cost))
            return Head(by="variable", check=check, salt=self._salt, cost=self._cost), key
        if not self.file.exists():
            self._make()
        key, check = _parted(self._kept())
        return Head(by="file", check=check), key

    def of(self, head: Head, file: Path) -> bytes:
        """The key that opens this file. Raises EtuiError with a sentence where it is not here."""
        if head.by == "variable":
            if not self._passphrase:
                raise EtuiError(
                    f"The secrets in {str(file)!r} are sealed with a passphrase, and {VARIABLE} is not set: set it to that "
                    f"passphrase and start Etui again; {UNTIL}."
                )
            key, check = _parted(self._stretch(head.salt, head.cost))
            if not bytes_eq(check, head.check):
                raise EtuiError(
                    f"The secrets in {str(file)!r} are sealed with another passphrase than the one in {VARIABLE}: set it to "
                    f"that one and start Etui again, or move the file away and give them anew; {UNTIL}."
                )
            if head.cost == self._cost:
                self._salt = self._salt or head.salt
            return key
        if not self.file.exists():
            raise EtuiError(
                f"The secrets in {str(file)!r} are sealed with the key in {str(self.file)!r}, which is not there: put it back, "
                f"or move the sealed file away and give them anew; {UNTIL}."
            )
        key, check = _parted(self._kept())
        if not bytes_eq(check, head.check):
            raise EtuiError(
                f"The secrets in {str(file)!r} are sealed with another key than the one in {str(self.file)!r}: put the right "
                f"one back, or move the sealed file away and give them anew; {UNTIL}."
            )
        return key

    def _make(self) -> None:
        for other in sorted(self.file.parent.glob(f"*{SUFFIX}")):
            if _by_file(other):
                raise EtuiError(
                    f"The key in {str(self.file)!r} is not there, though {str(other)!r} is sealed with it: put it back, or "
                    "move that file away, and only then can a new key be made; nothing was changed."
                )
        self._write(self.file, os.urandom(SECRET).hex().encode() + b"\n")

    def _kept(self) -> bytes:
        try:
            secret = bytes.fromhex(self.file.read_bytes().decode("ascii").strip())
        except (OSError, ValueError) as error:
            raise EtuiError(f"The key in {str(self.file)!r} cannot be read: put it back; {UNTIL} ({error}).") from None
        if len(secret) != SECRET:
            raise EtuiError(f"The key in {str(self.file)!r} is damaged: put it back from a copy; {UNTIL}.")
        return secret

    def _stretch(self, salt: bytes, cost: Cost) -> bytes:
        known = self._stretched.get((salt, cost))
        if known is None:
            try:
                known = Scrypt(salt=salt, length=SECRET, n=cost.n, r=cost.r, p=cost.p).derive(self._passphrase)
            except MemoryError:
                raise EtuiError(
                    f"There is not enough memory to make a key from the passphrase in {VARIABLE}; {UNTIL}."
                ) from None
            self._stretched[salt, cost] = known
        return known


class Sealed:
    """One sealed file; who changes it holds the key `alone`."""

    def __init__(self, file: Path, key: HomeKey, write: Write) -> None:
        self.file = file
        self._key = key
        self._write = write

    def read(self) -> Named:
        """Everything in it; nothing where there is no file. Raises EtuiError with a sentence where it cannot be opened.

        What was shut with the key file is shut anew where there is a passphrase now.
        """
        try:
            content = self.file.read_bytes()
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise EtuiError(f"The secrets in {str(self.file)!r} cannot be read: {error.strerror}; {UNTIL}.") from None
        try:
            shut = msgspec.json.decode(content, type=Shut)
            key = self._key.of(shut.head, self.file)
            opened = AESGCM(key).decrypt(shut.nonce, shut.sealed, msgspec.json.encode(shut.head))
            values = msgspec.json.decode(opened, type=Named)
        except (msgspec.DecodeError, InvalidTag, ValueError):
            raise EtuiError(
                f"The secrets in {str(self.file)!r} are damaged: put back a copy of the file, or move it away and give them "
                f"anew; {UNTIL}."
            ) from None
        if shut.head.by != self._key.by:
            with contextlib.suppress(EtuiError):  # They were read, and that is what was asked for.
                self.write(values)
        return values

    def write(self, values: Named) -> None:
        """Keep these and no others; without any there is no file. Raises EtuiError, and then the file is as it was."""
        if not values:
            _remove(self.file)
            return
        head, key = self._key.new()
        nonce = os.urandom(NONCE)
        sealed = AESGCM(key).encrypt(nonce, msgspec.json.encode(values), msgspec.json.encode(head))
        self._write(self.file, msgspec.json.encode(Shut(head, nonce, sealed)))


def _parted(secret: bytes) -> tuple[bytes, bytes]:
    """The key that is made from a secret, and what tells whether it is that one."""
    made = HKDF(algorithm=SHA256(), length=SECRET + CHECK, salt=None, info=INFO).derive(secret)
    return made[:SECRET], made[SECRET:]


def _by_file(file: Path) -> bool:
    """Whether this is a file that was shut with the key file."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=Shut).head.by == "file"
    except (OSError, msgspec.DecodeError):
        return False


def _remove(file: Path) -> None:
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        raise EtuiError(f"{str(file)!r} cannot be removed: {error.strerror}.") from None
