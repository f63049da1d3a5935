"""HTTP, shaped like `requests`, by the lane that the host's spelling is on."""

from typing import Any

import requests

from etui.contracts.hosts import classify, local_ip
from etui.contracts.sapphire.lanes import request, session_for, wan_session


def get(url: str, profile: str = "plain", **kwargs: Any) -> requests.Response:
    """GET; keywords as `requests` has them."""
    return request("GET", url, profile, **kwargs)


def post(url: str, data: Any = None, json: Any = None, profile: str = "plain", **kwargs: Any) -> requests.Response:
    """POST."""
    return request("POST", url, profile, data=data, json=json, **kwargs)


def put(url: str, data: Any = None, profile: str = "plain", **kwargs: Any) -> requests.Response:
    """PUT."""
    return request("PUT", url, profile, data=data, **kwargs)


def delete(url: str, profile: str = "plain", **kwargs: Any) -> requests.Response:
    """DELETE."""
    return request("DELETE", url, profile, **kwargs)


__all__ = ["classify", "delete", "get", "local_ip", "post", "put", "request", "session_for", "wan_session"]
