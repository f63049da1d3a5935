"""From what lies in folders, environments and settings to the plugins that the registry holds, live.

`places` says where to look, `sources` and `installed` find candidates, `load` has them described, `good` keeps the last version
that loaded, `watching` follows folders, `catalogue` keeps the registry in step, `families` groups it for the owner, `added` and
`servers` bring what lies in no folder.
Above: `host`. Below: `registry`, `run`, `contracts`. It refuses to know: sessions, the gate, the store.
"""
