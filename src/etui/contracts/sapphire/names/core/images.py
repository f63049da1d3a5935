"""Pictures for the person and the model: made fit, kept, found, shown."""

from etui.contracts.sapphire.images.drawing import contact_sheet, for_chat
from etui.contracts.sapphire.images.forms import ImageError, media_type, new_id
from etui.contracts.sapphire.images.gallery import gallery, proxied
from etui.contracts.sapphire.images.giving import result
from etui.contracts.sapphire.images.keeping import last_image_id, stash
from etui.contracts.sapphire.images.sources import Resolved, resolve

__all__ = [
    "ImageError",
    "Resolved",
    "contact_sheet",
    "for_chat",
    "gallery",
    "last_image_id",
    "media_type",
    "new_id",
    "proxied",
    "resolve",
    "result",
    "stash",
]
