"""Images of Sapphire's tools: `forms` (what an image is), `drawing` (Pillow), `keeping` (the store), `sources` (handles, files,
addresses), `gallery` (many at once), `giving` (what a tool returns, and what becomes of it).

Above: `core.images`, which tool files import, and `calling`. Below: the host's image services. It refuses to know: who looks.
Pillow is loaded when something is drawn, and only inside workers.
"""
