# functions/network.py
"""Am I online, and is that site up?"""

import logging
import time

import requests

import config
from core.socks_proxy import SocksAuthError, get_session

logger = logging.getLogger(__name__)

ENABLED = True
EMOJI = '📡'
AVAILABLE_FUNCTIONS = ['get_external_ip', 'check_internet', 'website_status']

TOOLS = [
    {
        "type": "function",
        "is_local": False,
        "network": True,
        "function": {
            "name": "get_external_ip",
            "description": "The public IP address, through the proxy when one is on.",
            "parameters": {"type": "object", "properties": {}}
        }
    },
    {
        "type": "function",
        "is_local": False,
        "network": True,
        "function": {
            "name": "check_internet",
            "description": "Whether the internet can be reached.",
            "parameters": {"type": "object", "properties": {}}
        }
    },
    {
        "type": "function",
        "is_local": False,
        "network": True,
        "function": {
            "name": "website_status",
            "description": "Whether a website is up, and how fast it answers.",
            "parameters": {
                "type": "object",
                "properties": {"url": {"type": "string", "description": "Address of the site"}}
            }
        }
    },
]

PROBES = ['https://www.google.com/generate_204', 'https://cloudflare.com/cdn-cgi/trace', 'https://1.1.1.1']


def _check_internet():
    for url in PROBES:
        try:
            r = requests.get(url, timeout=5)
            if r.status_code < 500:
                return f"Internet is UP (answer from {url})", True
        except requests.RequestException:
            continue
    return f"Internet appears DOWN. Tried {len(PROBES)} sites.", False


def _external_ip():
    try:
        ip = get_session().get('https://api.ipify.org', timeout=10).text.strip()
    except SocksAuthError as e:
        return f"Proxy login failed: {e}", False
    except (requests.RequestException, ValueError) as e:
        return f"Could not get the external IP: {e}", False
    via = ' (through SOCKS proxy)' if config.SOCKS_ENABLED else ''
    return f"External IP: {ip}{via}", True


def _website_status(url):
    url = (url or '').strip()
    if not url:
        return "No URL given.", False
    if not url.startswith(('http://', 'https://')):
        url = f'https://{url}'
    start = time.time()
    try:
        r = get_session().get(url, timeout=10)
    except requests.exceptions.Timeout:
        return f"{url} timed out.", False
    except requests.RequestException as e:
        return f"{url} is DOWN: {type(e).__name__}", False
    ms = int((time.time() - start) * 1000)
    return f"{url} is UP (HTTP {r.status_code}, {ms}ms)", True


def execute(function_name, arguments, config):
    if function_name == 'get_external_ip':
        return _external_ip()
    if function_name == 'check_internet':
        return _check_internet()
    if function_name == 'website_status':
        return _website_status(arguments.get('url'))
    return f"Unknown function: {function_name}", False
