# plugins/discord/tools/discord_tools.py
ENABLED = True
EMOJI = '🎮'

TOOLS = [
    {"type": "function", "network": True, "is_local": False, "function": {
        "name": "discord_get_servers", "description": "Servers and channels.",
        "parameters": {"type": "object", "properties": {}, "required": []}}},
    {"type": "function", "network": True, "is_local": False, "function": {
        "name": "discord_read_messages", "description": "Read a channel.",
        "parameters": {"type": "object", "properties": {"channel": {"type": "string"}, "count": {"type": "integer"}}, "required": ["channel"]}}},
    {"type": "function", "network": True, "is_local": False, "function": {
        "name": "discord_send_message", "description": "Write to a channel.",
        "parameters": {"type": "object", "properties": {"channel": {"type": "string"}, "text": {"type": "string"}}, "required": ["channel", "text"]}}},
]
AVAILABLE_FUNCTIONS = [t['function']['name'] for t in TOOLS]


def execute(function_name, arguments, config):
    try:
        from core.chat.function_manager import scope_discord
        if scope_discord.get() is None:
            return "Discord is disabled for this chat.", False
    except Exception:
        return "Discord is disabled for this chat.", False
    try:
        from plugins.discord.daemon import get_client, get_loop
    except ImportError:
        return "Discord is not connected.", False
    from core.tool_context import context_header
    return context_header() + str(get_client()), True
