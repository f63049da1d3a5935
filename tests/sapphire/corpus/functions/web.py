# functions/web.py
"""Web search, pages, Wikipedia. Everything goes through the proxy session."""

import json
import logging
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote_plus, urljoin, urlparse

import requests
from bs4 import BeautifulSoup

import config
from core.socks_proxy import SocksAuthError, clear_session_cache, get_session

logger = logging.getLogger(__name__)

ENABLED = True
EMOJI = '🌐'
AVAILABLE_FUNCTIONS = [
    'web_search', 'get_website', 'get_wikipedia', 'research_topic', 'get_site_links', 'get_images',
]

MAX_CHARS = 20000
SEARCH_URL = 'https://html.duckduckgo.com/html/?q='


def _tool(name, description, key, what, **more):
    return {
        "type": "function",
        "is_local": False,
        "network": True,
        "function": {
            "name": name,
            "description": description,
            "parameters": {
                "type": "object",
                "properties": {key: {"type": "string", "description": what}, **more},
                "required": [key]
            }
        }
    }


TOOLS = [
    _tool('web_search', 'Search the web. Gives titles and URLs; read them with get_website.', 'query', 'Search words'),
    _tool('get_website', 'Read the text of a page.', 'url', 'Address of the page'),
    _tool('get_wikipedia', 'Summary of a Wikipedia article.', 'topic', 'Title or topic'),
    _tool('research_topic', 'Search and read the first pages at once.', 'topic', 'What to find out',
          pages={"type": "integer", "default": 3}),
    _tool('get_site_links', 'List the links of a page.', 'url', 'Address of the page'),
    _tool('get_images', 'Find pictures on the web.', 'query', 'What to show',
          count={"type": "integer", "minimum": 1, "maximum": 10, "default": 4}),
]


def _fetch(url, timeout=12):
    session = get_session()
    response = session.get(url, timeout=timeout)
    response.raise_for_status()
    return response


def _results(query, most=8):
    soup = BeautifulSoup(_fetch(SEARCH_URL + quote_plus(query)).text, 'html.parser')
    found = []
    for a in soup.select('a.result__a')[:most]:
        found.append({'title': a.get_text(' ', strip=True), 'url': a.get('href', '')})
    return found


def _page_text(html):
    soup = BeautifulSoup(html, 'html.parser')
    for tag in soup(['script', 'style', 'nav', 'header', 'footer', 'aside', 'noscript', 'form']):
        tag.decompose()
    lines = (line.strip() for line in soup.get_text('\n').splitlines())
    return '\n'.join(line for line in lines if line)[:MAX_CHARS]


def _url(url):
    url = (url or '').strip()
    return url if url.startswith(('http://', 'https://')) else f'https://{url}'


def _web_search(query):
    try:
        found = _results(query)
    except SocksAuthError as e:
        clear_session_cache()
        return f"Search failed: proxy login refused ({e})", False
    except requests.exceptions.ConnectionError:
        return "Search failed: Could not connect through the network/proxy. Tell the user.", False
    except Exception as e:
        return f"Search failed: {e}", False
    if not found:
        return f"No results for '{query}'.", True
    return '\n'.join(f"{i}. {r['title']}\n   {r['url']}" for i, r in enumerate(found, 1)), True


def _get_website(url):
    try:
        text = _page_text(_fetch(_url(url)).text)
    except requests.exceptions.HTTPError as e:
        return f"HTTP error {e.response.status_code} for {url}", False
    except requests.RequestException as e:
        return f"Could not open {url}: {e}", False
    return text or f"{url} has no readable text.", True


def _get_wikipedia(topic):
    try:
        data = _fetch('https://en.wikipedia.org/api/rest_v1/page/summary/' + quote_plus(topic.replace(' ', '_'))).json()
    except (requests.RequestException, json.JSONDecodeError) as e:
        return f"Wikipedia failed: {e}", False
    return data.get('extract') or f"No article about '{topic}'.", True


def _research(topic, pages):
    try:
        found = _results(topic, pages)
    except Exception as e:
        return f"Research failed: {e}", False
    with ThreadPoolExecutor(max_workers=3) as pool:
        texts = list(pool.map(lambda r: _get_website(r['url'])[0][:4000], found))
    return '\n\n'.join(f"## {r['title']}\n{r['url']}\n{text}" for r, text in zip(found, texts)), True


def _site_links(url):
    url = _url(url)
    try:
        soup = BeautifulSoup(_fetch(url).text, 'html.parser')
    except requests.RequestException as e:
        return f"Could not open {url}: {e}", False
    links, seen = [], set()
    for a in soup.find_all('a', href=True):
        target = urljoin(url, a['href'])
        if urlparse(target).scheme in ('http', 'https') and target not in seen:
            seen.add(target)
            links.append(f"{a.get_text(' ', strip=True) or '(no text)'} -> {target}")
    return f"Found {len(links)} links on {url}:\n" + '\n'.join(links), True


def _get_images(query, count):
    try:
        soup = BeautifulSoup(_fetch('https://www.bing.com/images/search?q=' + quote_plus(query)).text, 'html.parser')
    except Exception as e:
        return f"Image search failed: {e}", False
    urls = [json.loads(a['m']).get('murl') for a in soup.select('a.iusc[m]')][:count]
    return '\n'.join(urls) or f"No pictures for '{query}'.", True


def execute(function_name, arguments, config):
    if function_name == 'web_search':
        return _web_search(arguments.get('query', ''))
    elif function_name == 'get_website':
        return _get_website(arguments.get('url', ''))
    elif function_name == 'get_wikipedia':
        return _get_wikipedia(arguments.get('topic', ''))
    elif function_name == 'research_topic':
        return _research(arguments.get('topic', ''), arguments.get('pages', 3))
    elif function_name == 'get_site_links':
        return _site_links(arguments.get('url', ''))
    elif function_name == 'get_images':
        return _get_images(arguments.get('query', ''), arguments.get('count', 4))
    return f"Unknown function: {function_name}", False
