"""The embedded default: a command matcher that works without a key, for every tool of every contract.

Above: `models` offers it like any model. Below: onnxruntime, loaded at the first need. It refuses to chat and to guess.
"""

from etui.agent.embedded.model import EmbeddedModel

__all__ = ["EmbeddedModel"]
