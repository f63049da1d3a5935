"""Vectors of texts, for files that can do without them."""

from etui.contracts.sapphire.embeddings import get_embedder, stamp_embedding

__all__ = ["get_embedder", "stamp_embedding"]
