# plugins/mcp_client/daemon.py
# Keeps the connections to the servers. Without servers there is nothing to keep.

_servers = {}


def start(plugin_loader, settings):
    for name in (settings or {}).get('servers', []):
        _servers[name] = None


def stop():
    _servers.clear()


def get_server(function_name):
    return _servers.get(function_name.split('_')[0])
