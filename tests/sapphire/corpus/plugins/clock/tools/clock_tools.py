# plugins/clock/tools/clock_tools.py
"""
Clock tools: current time, timers, stopwatches, alarms.

Timers and stopwatches live in memory (gone on restart). Alarms are handed to the
continuity scheduler as one-shot tasks, so they survive.
"""

import logging
import re
import threading
import time
from datetime import datetime, timedelta

logger = logging.getLogger(__name__)

ENABLED = True
EMOJI = '⏰'
AVAILABLE_FUNCTIONS = ['get_time', 'set_timer', 'set_stopwatch', 'set_alarm']

# name -> {'end': epoch, 'label': '5m', 'handle': threading.Timer}
_timers = {}
# name -> epoch of start
_stopwatches = {}
_lock = threading.Lock()

ALARM_PREFIX = '(alarm) '
BAD_DURATION = "Bad time. Use '5m', '30s', '1h 10m', etc."

TOOLS = [
    {
        "type": "function",
        "is_local": True,
        "function": {
            "name": "get_time",
            "description": "Current date and time, plus every running timer, stopwatch and alarm.",
            "parameters": {"type": "object", "properties": {}, "required": []}
        }
    },
    {
        "type": "function",
        "is_local": True,
        "function": {
            "name": "set_timer",
            "description": "Start a countdown, or cancel one with delete=true. A bare number means minutes.",
            "parameters": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "description": "What the timer is for"},
                    "time": {"type": "string", "description": "How long: '5m', '30s', '1h 10m'"},
                    "delete": {"type": "boolean", "description": "Cancel this timer instead", "default": False}
                },
                "required": ["name"]
            }
        }
    },
    {
        "type": "function",
        "is_local": True,
        "function": {
            "name": "set_stopwatch",
            "description": "Start a stopwatch, or stop one with delete=true.",
            "parameters": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "description": "Name of the stopwatch"},
                    "delete": {"type": "boolean", "description": "Stop it and say how long it ran", "default": False}
                },
                "required": ["name"]
            }
        }
    },
    {
        "type": "function",
        "is_local": True,
        "function": {
            "name": "set_alarm",
            "description": "Set an alarm for a time of day (24h, HH:MM), or cancel one with delete=true.",
            "parameters": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "description": "Name of the alarm"},
                    "time": {"type": "string", "description": "Time of day, e.g. '07:00'"},
                    "delete": {"type": "boolean", "description": "Cancel this alarm instead", "default": False}
                },
                "required": ["name"]
            }
        }
    }
]

_UNITS = {'h': 3600, 'm': 60, 's': 1}


def _parse_duration(text):
    """'1h 10m' -> 4200. Bare digits are minutes. None when it makes no sense."""
    text = str(text or '').strip().lower()
    if text.isdigit():
        return int(text) * 60
    parts = re.findall(r'(\d+)\s*([hms])', text)
    if not parts or re.sub(r'(\d+)\s*([hms])', '', text).strip():
        return None
    return sum(int(n) * _UNITS[u] for n, u in parts)


def _fmt(seconds):
    seconds = max(0, int(seconds))
    h, rest = divmod(seconds, 3600)
    m, s = divmod(rest, 60)
    parts = []
    if h:
        parts.append(f'{h}h')
    if m:
        parts.append(f'{m}m')
    if s or not parts:
        parts.append(f'{s}s')
    return ' '.join(parts)


def _ring(name):
    with _lock:
        _timers.pop(name, None)
    logger.info(f"[CLOCK] timer '{name}' done")
    try:
        from core.api_fastapi import get_system
        system = get_system()
        if hasattr(system, 'tts'):
            system.tts.stop()
    except Exception as e:
        logger.debug(f"[CLOCK] no voice for timer: {e}")


def _scheduler():
    from core.api_fastapi import get_system
    system = get_system()
    return getattr(system, 'continuity_scheduler', None)


def _get_time():
    now = datetime.now()
    lines = [f"**Now:** {now.strftime('%Y-%m-%d %H:%M:%S')} ({now.strftime('%A')})"]
    with _lock:
        timers = {n: t['end'] - time.time() for n, t in _timers.items()}
        watches = {n: time.time() - start for n, start in _stopwatches.items()}
    alarms = []
    try:
        scheduler = _scheduler()
        if scheduler:
            alarms = [t for t in scheduler.list_tasks() if t.get('name', '').startswith(ALARM_PREFIX)]
    except Exception as e:
        logger.warning(f"[CLOCK] alarms not listed: {e}")
    if timers:
        lines.append("**Timers:**")
        lines += [f"- `{n}` — {_fmt(left)} remaining" for n, left in timers.items()]
    if watches:
        lines.append("**Stopwatches:**")
        lines += [f"- `{n}` — {_fmt(run)} elapsed" for n, run in watches.items()]
    if alarms:
        lines.append("**Alarms:**")
        lines += [f"- `{t['name'][len(ALARM_PREFIX):]}` — cron {t.get('schedule')}" for t in alarms]
    if len(lines) == 1:
        lines.append("_No active timers, stopwatches, or alarms._")
    return '\n'.join(lines), True


def _set_timer(name, length, delete):
    if delete:
        with _lock:
            timer = _timers.pop(name, None)
        if not timer:
            return f"No timer named '{name}'.", False
        timer['handle'].cancel()
        return f"Timer '{name}' cancelled.", True
    seconds = _parse_duration(length)
    if not seconds:
        return BAD_DURATION, False
    handle = threading.Timer(seconds, _ring, args=(name,))
    handle.daemon = True
    with _lock:
        old = _timers.get(name)
        if old:
            old['handle'].cancel()
        _timers[name] = {'end': time.time() + seconds, 'handle': handle}
    handle.start()
    return f"Timer '{name}' set for {_fmt(seconds)}.", True


def _set_stopwatch(name, delete):
    with _lock:
        if delete:
            start = _stopwatches.pop(name, None)
            if start is None:
                return f"No stopwatch named '{name}'.", False
            return f"Stopwatch '{name}' stopped at {_fmt(time.time() - start)}.", True
        if name in _stopwatches:
            return f"Stopwatch '{name}' already running — {_fmt(time.time() - _stopwatches[name])} elapsed.", True
        _stopwatches[name] = time.time()
    return f"Stopwatch '{name}' started.", True


def _set_alarm(name, at, delete):
    try:
        scheduler = _scheduler()
    except Exception as e:
        return f"Scheduler unreachable: {e}", False
    if scheduler is None:
        return "Continuity scheduler not available.", False
    task_name = f"{ALARM_PREFIX}{name}"
    if delete:
        for task in scheduler.list_tasks():
            if task.get('name') == task_name:
                scheduler.delete_task(task['id'])
                return f"Alarm '{name}' cancelled.", True
        return f"No alarm named '{name}'.", False
    match = re.fullmatch(r'(\d{1,2}):(\d{2})', str(at or '').strip())
    if not match or int(match[1]) > 23 or int(match[2]) > 59:
        return "Bad time. Use 24h HH:MM, like '07:00' or '18:30'.", False
    hour, minute = int(match[1]), int(match[2])
    now = datetime.now()
    due = now.replace(hour=hour, minute=minute, second=0, microsecond=0)
    if due <= now:
        due += timedelta(days=1)
    try:
        scheduler.create_task({
            "name": task_name,
            "enabled": True,
            "schedule": f"{minute} {hour} * * *",
            "chance": 100,
            "initial_message": f"Alarm '{name}' is ringing. Wake the user.",
            "delete_after_run": True,
        })
    except Exception as e:
        return f"Scheduler unreachable: {e}", False
    minutes = int((due - now).total_seconds() // 60)
    return f"Alarm '{name}' set for {hour:02d}:{minute:02d} (in {minutes // 60}h {minutes % 60}m).", True


def execute(function_name, arguments, config):
    try:
        name = (arguments.get('name') or '').strip()
        if function_name == 'get_time':
            return _get_time()
        if function_name == 'set_timer':
            return _set_timer(name or 'timer', arguments.get('time'), arguments.get('delete', False))
        if function_name == 'set_stopwatch':
            return _set_stopwatch(name or 'stopwatch', arguments.get('delete', False))
        if function_name == 'set_alarm':
            return _set_alarm(name or 'alarm', arguments.get('time'), arguments.get('delete', False))
        return f"Unknown function: {function_name}", False
    except Exception as e:
        logger.error(f"[CLOCK] {function_name} failed: {e}", exc_info=True)
        return f"Clock error: {e}", False
