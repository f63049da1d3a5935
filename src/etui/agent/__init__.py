"""The turn: models, messages, the loop and narration.

Above: the host, which puts one loop together, and the surfaces, which start turns. Below: session, store and events.
It refuses to know: how a tool runs and who may call it; tools are reached only through `Session.call`.
"""
