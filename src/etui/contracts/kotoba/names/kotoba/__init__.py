"""The names that Kotoba's tool modules import, as thin clients of the host. They exist inside workers only.

What belongs to Kotoba's product and is not here fails at its import, with a sentence that names it.
"""
