"""Every error that Etui raises on purpose, drawn as one tree.

    EtuiError
    ├── SettingError    a setting or the configuration file cannot be used
    ├── StoreError      the database cannot be opened or written
    ├── WireError       the other end of a worker's socket broke the protocol
    ├── WorkerGone      the process that should have answered is dead
    ├── ModelError      a model could not be asked, or answered nonsense
    ├── ServiceError    a tool asked the host for something that it cannot have
    └── UsageError      a person gave a command that makes no sense

Above: everything. Below: nothing. It refuses to know: how an error is shown.
"""

from __future__ import annotations


class EtuiError(Exception):
    """The root; its text is one sentence for a person: what, where, what to do."""


class SettingError(EtuiError):
    """A setting or the configuration file cannot be used; nothing was changed."""


class StoreError(EtuiError):
    """The database cannot be opened or written."""


class WireError(EtuiError):
    """The other end of a worker's socket broke the protocol; the worker is killed."""


class WorkerGone(EtuiError):
    """The process that should have answered is dead; the text says how it died."""


class ModelError(EtuiError):
    """A model could not be asked, or its answer could not be used."""


class ServiceError(EtuiError):
    """A tool asked the host for something that it cannot have."""


class UsageError(EtuiError):
    """A person gave a command that makes no sense; the text says what would."""
