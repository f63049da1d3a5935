"""The names that Keryx's custom tools import. They exist inside workers only.

What belongs to Keryx's product and is not here fails at its import, with a sentence that names it.
"""
