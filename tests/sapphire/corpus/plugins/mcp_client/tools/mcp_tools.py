# plugins/mcp_client/tools/mcp_tools.py
# Tools come later: the daemon registers them when its servers answer.

ENABLED = True
EMOJI = '🔌'
AVAILABLE_FUNCTIONS = []
TOOLS = []


def execute(function_name, arguments, config):
    from plugins.mcp_client.daemon import get_server
    server = get_server(function_name)
    if server is None:
        return f"Unknown function: {function_name}", False
    return server.call(function_name, arguments)
