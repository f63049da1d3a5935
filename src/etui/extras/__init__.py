"""Plugins with settings that come with Etui: each a factory that a one-line tool file in a Keryx folder calls.

`etui plugins install NAME` writes that line and a TOML file of settings beside it. Above: the tool file, inside a worker; the
host reads `offers` and `rows` alone. Below: the contract `keryx`, whose tools they make. It refuses to know: where the
folder lies, and where secrets are kept: a factory finds its own in the environment of its worker.
"""
