# functions/ai.py
"""Ask a bigger model."""

from core.credentials_manager import credentials

ENABLED = True
EMOJI = '🤖'
AVAILABLE_FUNCTIONS = ['ask_claude']

TOOLS = [
    {
        "type": "function",
        "is_local": False,
        "network": True,
        "function": {
            "name": "ask_claude",
            "description": "Ask Claude a hard question.",
            "parameters": {
                "type": "object",
                "properties": {"question": {"type": "string", "description": "The question, with all it needs to know"}},
                "required": ["question"]
            }
        }
    }
]


def execute(function_name, arguments, config):
    if function_name == 'ask_claude':
        import anthropic
        key = credentials.get_llm_api_key('claude')
        if not key:
            return f"No Claude key. Set one in Settings or {credentials.get_env_var_name('claude')}.", False
        client = anthropic.Anthropic(api_key=key)
        answer = client.messages.create(
            model='claude-3-5-sonnet-latest', max_tokens=2000,
            messages=[{"role": "user", "content": arguments['question']}])
        return answer.content[0].text, True
    return f"Unknown function: {function_name}", False
