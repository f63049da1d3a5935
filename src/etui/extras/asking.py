"""One question to a web service, answered in JSON, or the one sentence that says why there is no answer.

Above: `house` and `results`. Below: `contracts.hosts`, `httpx2`, which the tools' environment holds. It refuses to know: what
is asked. No redirect is followed, since it would carry a secret elsewhere; the open web is reached by the owner's proxy where
there is one.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Mapping
from typing import Literal

import httpx2

from etui.contracts.hosts import proxy_for

MOST = 16 << 20
"""Bytes of the largest answer."""
Status = Literal["auth", "rate_limited", "unavailable", "timeout", "not_found", "refused"]


class Trouble(Exception):
    """There is no answer."""

    def __init__(self, status: Status, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message

    @property
    def payload(self) -> dict[str, object]:
        """What the model is given."""
        return {"status": self.status, "message": self.message}


class Service:
    """One web service: its name for people, its address, and what is sent with each question."""

    def __init__(self, name: str, address: str, headers: Mapping[str, str], seconds: float, authority: str = "") -> None:
        """`authority` is the path of a PEM file; empty for the authorities that the machine knows."""
        self.name = name
        self.address = address
        self._headers = {"accept": "application/json", **headers}
        self._seconds = seconds
        self._authority = authority

    async def get(self, path: str, query: Mapping[str, str | int] | None = None) -> object:
        """What lies at that path. Raises Trouble."""
        return await self._ask("GET", path, query=query)

    async def post(self, path: str, body: Mapping[str, object]) -> object:
        """What comes of sending this as JSON. Raises Trouble."""
        return await self._ask("POST", path, body=body)

    async def _ask(
        self, method: str, path: str, *, query: Mapping[str, str | int] | None = None, body: Mapping[str, object] | None = None
    ) -> object:
        try:
            async with (
                httpx2.AsyncClient(
                    timeout=self._seconds, trust_env=False, verify=self._trusted(), proxy=self._proxy()
                ) as client,
                client.stream(method, self.address + path, params=query, json=body, headers=self._headers) as answer,
            ):
                content = bytearray()
                async for piece in answer.aiter_bytes():
                    content += piece
                    if len(content) > MOST:
                        raise Trouble("unavailable", f"{self.name} sent more than {MOST >> 20} MB.")
        except httpx2.TimeoutException:
            raise Trouble("timeout", f"{self.name} did not answer in time.") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, ssl.SSLError) as error:
            why = "its certificate is not trusted" if "CERTIFICATE_VERIFY" in str(error) else "the connection failed"
            raise Trouble("unavailable", f"{self.name} cannot be reached: {why}.") from None
        return self._read(answer, bytes(content))

    def _proxy(self) -> str | None:
        return proxy_for(httpx2.URL(self.address).host) or None

    def _trusted(self) -> ssl.SSLContext | bool:
        if not self._authority:
            return self.address.startswith("https:")  # Reading every authority takes a while, and http has no use for it.
        try:
            return ssl.create_default_context(cafile=self._authority)
        except (OSError, ssl.SSLError):
            raise Trouble("unavailable", f"The certificate file for {self.name} cannot be read.") from None

    def _read(self, answer: httpx2.Response, content: bytes) -> object:
        """The JSON of an answer. Raises Trouble for anything else."""
        code = answer.status_code
        if code == 401:
            raise Trouble("auth", f"{self.name} does not take the token it was given.")
        if code == 403:
            raise Trouble("auth", f"{self.name} forbids this.")
        if code == 404:
            raise Trouble("not_found", f"{self.name} has no such thing.")
        if code == 429:
            raise Trouble("rate_limited", f"{self.name} was asked too often; try again later.")
        if 300 <= code < 400:
            raise Trouble("unavailable", f"{self.name} has moved to another address; its setting must be mended.")
        if code >= 500:
            raise Trouble("unavailable", f"{self.name} has a fault of its own ({code}).")
        if code >= 400:
            raise Trouble("refused", f"{self.name} did not take the request ({code}).")
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            raise Trouble("unavailable", f"{self.name} gave an answer that is no JSON.") from None
