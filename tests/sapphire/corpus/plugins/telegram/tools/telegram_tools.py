# plugins/telegram/tools/telegram_tools.py
import asyncio
import logging

logger = logging.getLogger(__name__)

ENABLED = True
EMOJI = '✈️'

_CHAT = {"type": ["string", "integer"], "description": "Name or number of the chat"}


def _tool(_name, _text, _required, **props):
    return {"type": "function", "network": True, "is_local": False,
            "function": {"name": _name, "description": _text,
                         "parameters": {"type": "object", "properties": props, "required": _required}}}


TOOLS = [
    _tool('telegram_list_chats', 'The newest chats.', []),
    _tool('telegram_read', 'Read a chat.', ['chat'], chat=_CHAT, count={"type": "integer", "default": 10}),
    _tool('telegram_send', 'Write to a chat.', ['chat', 'text'], chat=_CHAT, text={"type": "string"}),
    _tool('telegram_send_image', 'Send a picture by its handle.', ['chat', 'image'], chat=_CHAT, image={"type": "string"}),
    _tool('telegram_reply', 'Answer a message.', ['chat', 'message_id', 'text'], chat=_CHAT, message_id={"type": "integer"}, text={"type": "string"}),
    _tool('telegram_status', 'Whether it is connected.', []),
]

AVAILABLE_FUNCTIONS = [t["function"]["name"] for t in TOOLS]


def _scope():
    try:
        from core.chat.function_manager import scope_telegram
        return scope_telegram.get()
    except Exception:
        return None


def execute(function_name, arguments, config):
    account = _scope()
    if account is None:
        return "Telegram is disabled for this chat.", False
    try:
        from plugins.telegram.daemon import get_client, get_loop
    except ImportError:
        return "Telegram is not connected.", False
    client = get_client(account)
    if client is None:
        return "Telegram is not connected.", False
    from core.tool_context import context_header
    coro = getattr(client, function_name)(**arguments)
    return context_header() + str(asyncio.run_coroutine_threadsafe(coro, get_loop()).result(30)), True
