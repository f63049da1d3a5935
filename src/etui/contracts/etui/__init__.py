"""The contract `etui`: typed functions marked with `@tool`.

`authoring` and `context` are what authors import; `contract` reads and calls their files, inside workers; `declaring` turns
one function into a tool, for whoever has one, and `calling` calls it; `grants` is safe for the host. Above: `run`. Below: the
nouns. It refuses to know: the host.
"""

from etui.contracts import Contract
from etui.contracts.etui.contract import EtuiContract

CONTRACT: Contract = EtuiContract()
"""What `contracts.find("etui")` gives."""
