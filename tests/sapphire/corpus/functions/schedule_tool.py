# functions/schedule_tool.py
"""
One-shot reminders through the continuity scheduler. The AI says when in plain
words, we turn it into cron and let the task delete itself.
"""

import logging
import re
from datetime import datetime, timedelta

logger = logging.getLogger(__name__)

ENABLED = True
EMOJI = '📅'

TOOLS = [
    {
        "type": "function",
        "is_local": True,
        "function": {
            "name": "schedule_task",
            "description": "Schedule something to be done once, later. Times like '5pm', '17:30', 'in 20 minutes'.",
            "parameters": {
                "type": "object",
                "properties": {
                    "description": {"type": "string", "description": "What is to be done"},
                    "time": {"type": "string", "description": "When"}
                },
                "required": ["description", "time"]
            }
        }
    }
]


def _now():
    import config
    name = getattr(config, 'USER_TIMEZONE', '') or ''
    if name:
        try:
            from zoneinfo import ZoneInfo
            return datetime.now(ZoneInfo(name))
        except Exception:
            logger.warning(f"bad USER_TIMEZONE {name!r}")
    return datetime.now()


def _parse(text, now):
    text = (text or '').strip().lower()
    m = re.fullmatch(r'in (\d+)\s*(minutes?|mins?|m|hours?|hrs?|h)', text)
    if m:
        unit = 'hours' if m[2].startswith('h') else 'minutes'
        return now + timedelta(**{unit: int(m[1])})
    m = re.fullmatch(r'(?:at )?(\d{1,2})(?::(\d{2}))?\s*(am|pm)?', text)
    if not m or (m[2] is None and m[3] is None):
        return None
    hour, minute = int(m[1]), int(m[2] or 0)
    if m[3]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if m[3] == 'pm' else 0)
    if hour > 23 or minute > 59:
        return None
    when = now.replace(hour=hour, minute=minute, second=0, microsecond=0)
    return when if when > now else when + timedelta(days=1)


def execute(function_name, arguments, config=None):
    if function_name != 'schedule_task':
        return f"Unknown function: {function_name}", False
    what = (arguments.get('description') or '').strip()
    if not what:
        return "A description is required.", False
    now = _now()
    when = _parse(arguments.get('time'), now)
    if when is None:
        return f"Could not parse time '{arguments.get('time')}'. Use '5pm', '17:30' or 'in 20 minutes'.", False
    cron = f"{when.minute} {when.hour} {when.day} {when.month} *"
    try:
        from croniter import croniter
        if not croniter.is_valid(cron):
            return f"Could not parse time '{arguments.get('time')}'.", False
    except ImportError:
        pass
    try:
        from core.api_fastapi import get_system
        scheduler = get_system().continuity_scheduler
        task = scheduler.create_task({
            "name": what[:60],
            "schedule": cron,
            "enabled": True,
            "chance": 100,
            "initial_message": f"[Scheduled] {what}",
            "delete_after_run": True,
        })
    except Exception as e:
        logger.error(f"schedule_task: {e}")
        return f"Failed to schedule: {e}", False
    day = 'today' if when.date() == now.date() else 'tomorrow'
    clock = when.strftime('%I:%M %p').lstrip('0')
    return f'Scheduled one-shot task for {clock} {day}: "{what}"\nTask ID: {task["id"][:8]}', True
