# plugins/google-calendar/tools/calendar.py
import logging
from datetime import datetime, timedelta

import requests

logger = logging.getLogger(__name__)

ENABLED = True
EMOJI = '🗓️'
AVAILABLE_FUNCTIONS = ['calendar_today', 'calendar_range', 'calendar_add', 'calendar_delete']

API = 'https://www.googleapis.com/calendar/v3'

TOOLS = [
    {"type": "function", "network": True, "is_local": False, "function": {
        "name": "calendar_today", "description": "What is on today.",
        "parameters": {"type": "object", "properties": {}, "required": []}}},
    {"type": "function", "network": True, "is_local": False, "function": {
        "name": "calendar_range", "description": "What is on between two days.",
        "parameters": {"type": "object", "properties": {"start": {"type": "string"}, "end": {"type": "string"}}, "required": []}}},
    {"type": "function", "network": True, "is_local": False, "function": {
        "name": "calendar_add", "description": "Add an event.",
        "parameters": {"type": "object", "properties": {
            "title": {"type": "string"}, "start": {"type": "string"}, "minutes": {"type": "integer", "default": 60}},
            "required": ["title", "start"]}}},
    {"type": "function", "network": True, "is_local": False, "function": {
        "name": "calendar_delete", "description": "Delete an event.",
        "parameters": {"type": "object", "properties": {"event_id": {"type": "string"}}, "required": ["event_id"]}}},
]


def _zone():
    import config
    try:
        return getattr(config, 'USER_TIMEZONE', '') or 'UTC'
    except AttributeError:
        return 'UTC'


def _account():
    try:
        from core.chat.function_manager import scope_gcal
        scope = scope_gcal.get()
    except Exception:
        return None, None
    if scope is None:
        return None, None
    from core.credentials_manager import credentials
    account = credentials.get_gcal_account(scope)
    tokens = credentials.get_gcal_tokens_snapshot(scope)
    return scope, {**account, **tokens} if account and tokens else None


def _call(account, method, path, **kw):
    r = requests.request(method, API + path, headers={'Authorization': f"Bearer {account['access_token']}"}, timeout=15, **kw)
    r.raise_for_status()
    return r.json() if r.content else {}


def execute(function_name, arguments, config=None, plugin_settings=None):
    scope, account = _account()
    if not account or not account.get('access_token'):
        return "Google Calendar not connected. Connect it in Settings > Plugins > Google Calendar.", False
    calendar_id = account.get('calendar_id') or 'primary'
    days = int((plugin_settings or {}).get('days_ahead', 7))
    try:
        if function_name in ('calendar_today', 'calendar_range'):
            now = datetime.utcnow()
            start = arguments.get('start') or now.strftime('%Y-%m-%dT00:00:00Z')
            end = arguments.get('end') or (now + timedelta(days=1 if function_name == 'calendar_today' else days)).strftime('%Y-%m-%dT00:00:00Z')
            items = _call(account, 'GET', f'/calendars/{calendar_id}/events', params={'timeMin': start, 'timeMax': end, 'timeZone': _zone(), 'singleEvents': 'true'}).get('items', [])
            return '\n'.join(f"[{e['id']}] {e['start'].get('dateTime', e['start'].get('date'))} {e.get('summary', '')}" for e in items) or 'Nothing scheduled.', True
        if function_name == 'calendar_add':
            event = _call(account, 'POST', f'/calendars/{calendar_id}/events', json={'summary': arguments['title'], 'start': {'dateTime': arguments['start'], 'timeZone': _zone()}, 'end': {'dateTime': arguments['start'], 'timeZone': _zone()}})
            return f"Added: {event.get('id')}", True
        if function_name == 'calendar_delete':
            _call(account, 'DELETE', f"/calendars/{calendar_id}/events/{arguments['event_id']}")
            return "Deleted.", True
    except requests.RequestException as e:
        return f"Calendar error: {e}", False
    return f"Unknown function: {function_name}", False
