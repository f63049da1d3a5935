# plugins/agents/tools/agent_tools.py
import logging

import config as app_config

logger = logging.getLogger(__name__)

ENABLED = True
EMOJI = '🧑‍🤝‍🧑'
AVAILABLE_FUNCTIONS = ['agent_spawn', 'agent_status', 'agent_recall', 'agent_dismiss', 'agent_options']


def _f(name, text, **props):
    return {"type": "function", "is_local": True, "function": {
        "name": name, "description": text,
        "parameters": {"type": "object", "properties": {k: {"type": "string", "description": v} for k, v in props.items()},
                       "required": list(props)[:1]}}}


TOOLS = [
    _f('agent_spawn', 'Start an agent on a mission.', mission='What it is to do', model='Which model', toolset='Which tools'),
    _f('agent_status', 'What the agents are doing.'),
    _f('agent_recall', 'Read the report of an agent.', agent_id='Its id'),
    _f('agent_dismiss', 'End an agent.', agent_id='Its id'),
    _f('agent_options', 'Which models, prompts and toolsets agents may have.'),
]


def _manager():
    from core.api_fastapi import get_system
    system = get_system()
    if not hasattr(system, 'agent_manager') or system.agent_manager is None:
        return None
    return system.agent_manager


def execute(function_name, arguments, config):
    manager = _manager()
    if manager is None:
        return "Agent system not initialized. Restart may be needed.", False
    if function_name == 'agent_options':
        from core import prompts
        from core.chat.llm_providers import provider_registry
        from core.toolsets import toolset_manager
        return f"{prompts.list_prompts()} {provider_registry.get_all()} {toolset_manager.get_toolset_names()}", True
    if function_name == 'agent_spawn':
        from core.agents.base_worker import BaseWorker
        from core.continuity.execution_context import ExecutionContext
        return str(manager.spawn(arguments.get('mission'), worker=BaseWorker, context=ExecutionContext,
                                 zone=getattr(app_config, 'USER_TIMEZONE', 'UTC'))), True
    return str(getattr(manager, function_name.removeprefix('agent_'))(**arguments)), True
