# plugins/bitcoin/tools/bitcoin_tool.py
import logging

logger = logging.getLogger(__name__)

ENABLED = True
EMOJI = '₿'
AVAILABLE_FUNCTIONS = ['get_wallet', 'send_bitcoin', 'get_transactions']

TOOLS = [
    {"type": "function", "network": True, "is_local": False, "function": {
        "name": "get_wallet", "description": "Balance and address of the wallet.",
        "parameters": {"type": "object", "properties": {}, "required": []}}},
    {"type": "function", "network": True, "is_local": False, "function": {
        "name": "send_bitcoin", "description": "Send bitcoin. There is no way back.",
        "parameters": {"type": "object", "properties": {
            "address": {"type": "string"}, "amount": {"type": "number", "description": "In BTC"}},
            "required": ["address", "amount"]}}},
    {"type": "function", "network": True, "is_local": False, "function": {
        "name": "get_transactions", "description": "The last transactions.",
        "parameters": {"type": "object", "properties": {"count": {"type": "integer", "default": 10}}, "required": []}}},
]


def _key(scope):
    from core.credentials_manager import credentials
    wallet = credentials.get_bitcoin_wallet(scope)
    if not wallet or not wallet.get('wif'):
        return None
    from bit import Key
    return Key(wallet['wif'])


def execute(function_name, arguments, config):
    if function_name not in AVAILABLE_FUNCTIONS:
        return f"Unknown function: {function_name}", False
    try:
        import bit  # noqa: F401
    except ImportError:
        return "Bitcoin library not installed. Run: pip install bit", False
    try:
        from core.chat.function_manager import scope_bitcoin
        scope = scope_bitcoin.get()
    except Exception:
        scope = None
    if scope is None:
        return "Bitcoin is disabled for this chat.", False
    try:
        key = _key(scope)
        if key is None:
            return "No wallet configured.", False
        if function_name == 'get_wallet':
            return f"{key.segwit_address}: {key.get_balance('btc')} BTC", True
        if function_name == 'send_bitcoin':
            return f"Sent. Transaction {key.send([(arguments['address'], arguments['amount'], 'btc')])}", True
        return '\n'.join(key.get_transactions()[:arguments.get('count', 10)]), True
    except Exception as e:
        return f"Bitcoin error: {e}", False
