"""What the owner of this machine decided, and kept: switches, grants, approvals, taught sentences, the personality file.

Above: `services` and `host` ask here. Below: the store's values, cards and the session's nouns. It refuses to know: surfaces,
and how a decision is enforced.
"""
