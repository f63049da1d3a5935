"""Gallery: browse folders, contact sheets, single images. Pillow is imported when needed."""

import base64
import io
import logging
import math
from pathlib import Path

logger = logging.getLogger(__name__)

ENABLED = True
EMOJI = '🖼️'

IMAGE_EXTENSIONS = {'.png', '.jpg', '.jpeg', '.webp', '.gif', '.bmp'}
CELL = 256

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "gallery_browse",
            "description": "List folders and images of the gallery.",
            "parameters": {
                "type": "object",
                "properties": {"path": {"type": "string", "description": "Folder inside the gallery", "default": ""}},
                "required": []
            }
        }
    },
    {
        "type": "function",
        "function": {
            "name": "gallery_grid",
            "description": "See many images at once as a numbered grid.",
            "parameters": {
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "Folder inside the gallery"},
                    "page": {"type": "integer", "default": 1}
                },
                "required": ["path"]
            }
        }
    },
    {
        "type": "function",
        "function": {
            "name": "gallery_view",
            "description": "See one image of a folder by its number.",
            "parameters": {
                "type": "object",
                "properties": {
                    "path": {"type": "string"},
                    "index": {"type": "integer", "description": "Number, from 1"}
                },
                "required": ["path", "index"]
            }
        }
    },
]


def _settings():
    from core.plugin_loader import plugin_loader
    return plugin_loader.get_plugin_settings("gallery") or {}


def _folder(root, path):
    folder = (root / (path or '')).resolve()
    if root != folder and root not in folder.parents:
        return None
    return folder if folder.is_dir() else None


def _images(folder):
    return sorted(p for p in folder.iterdir() if p.suffix.lower() in IMAGE_EXTENSIONS)


def _entry(image, fmt, media_type):
    buf = io.BytesIO()
    image.save(buf, format=fmt)
    return {"type": "image", "data": base64.b64encode(buf.getvalue()).decode('ascii'), "media_type": media_type}


def _browse(root, folder, path):
    lines = [f"Gallery: {path or '(root)'}"]
    subs = sorted(p for p in folder.iterdir() if p.is_dir())
    if subs:
        lines.append("Subfolders:")
        lines += [f"  {p.name}/ ({len(_images(p))} images)" for p in subs]
    images = _images(folder)
    if images:
        lines.append("Images:")
        lines += [f"  {i}. {p.name}" for i, p in enumerate(images, 1)]
    if len(lines) == 1:
        lines.append("(empty)")
    return '\n'.join(lines), True


def _grid(folder, path, page, per_page):
    from PIL import Image, ImageDraw
    images = _images(folder)
    if not images:
        return f"No images in {path}.", True
    pages = math.ceil(len(images) / per_page)
    page = min(max(page, 1), pages)
    start = (page - 1) * per_page
    shown = images[start:start + per_page]
    cols = math.ceil(math.sqrt(len(shown)))
    sheet = Image.new('RGB', (cols * CELL, math.ceil(len(shown) / cols) * CELL), 'black')
    draw = ImageDraw.Draw(sheet)
    for i, file in enumerate(shown):
        x, y = i % cols * CELL, i // cols * CELL
        with Image.open(file) as im:
            im.thumbnail((CELL, CELL))
            sheet.paste(im.convert('RGB'), (x, y))
        draw.text((x + 4, y + 4), str(start + i + 1), fill='white')
    text = (f"Grid: {path} — page {page}/{pages} (showing {start + 1}-{start + len(shown)} of {len(images)})\n"
            + '\n'.join(f"{start + i + 1}. {file.name}" for i, file in enumerate(shown)))
    return {"text": text, "images": [_entry(sheet, 'PNG', 'image/png')]}, True


def _view(folder, path, index):
    from PIL import Image
    images = _images(folder)
    if not 1 <= index <= len(images):
        return f"Image index {index} out of range (1-{len(images)})", False
    file = images[index - 1]
    with Image.open(file) as im:
        im.thumbnail((1024, 1024))
        entry = _entry(im.convert('RGB'), 'JPEG', 'image/jpeg')
    return {"text": f"{file.name} ({index} of {len(images)} in {path})", "images": [entry]}, True


def execute(function_name, arguments, config):
    settings = _settings()
    root_path = (settings.get('gallery_root') or '').strip()
    if not root_path:
        return "No gallery folder configured. Set one in Settings > Plugins > Gallery.", False
    root = Path(root_path).expanduser().resolve()
    path = arguments.get('path', '') or ''
    folder = _folder(root, path)
    if folder is None:
        return f"Folder not found: {path}", False
    try:
        if function_name == 'gallery_browse':
            return _browse(root, folder, path)
        if function_name == 'gallery_grid':
            return _grid(folder, path, arguments.get('page', 1), int(settings.get('per_page') or 9))
        if function_name == 'gallery_view':
            return _view(folder, path, arguments.get('index', 1))
    except ImportError:
        return "Pillow not installed. Run: pip install Pillow", False
    return f"Unknown function: {function_name}", False
