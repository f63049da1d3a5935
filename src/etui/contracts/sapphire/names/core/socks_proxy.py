"""Sessions through the owner's proxy, and names of this network that look public."""

from etui.contracts.hosts import register_direct_hosts, unregister_direct_hosts
from etui.contracts.sapphire.lanes import SocksAuthError, clear_session_cache, get_session

__all__ = ["SocksAuthError", "clear_session_cache", "get_session", "register_direct_hosts", "unregister_direct_hosts"]
