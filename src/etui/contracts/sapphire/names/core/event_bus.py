"""Events for everybody who listens: their names, and a way to tell one."""

from etui.contracts.sapphire import telling


class _Names(type):
    def __getattr__(cls, name: str) -> str:
        if not name.isupper():
            raise AttributeError(f"type object 'Events' has no attribute {name!r}")
        return name.lower()


class Events(metaclass=_Names):
    """Their names: each is its own in small letters."""

    TOOLSET_CHANGED = "toolset_changed"
    PLUGIN_TOGGLED = "plugin_toggled"
    SETTINGS_CHANGED = "settings_changed"


def publish(event: object, data: object = None) -> None:
    """Tell one; those that nobody here knows are passed over. Never raises."""
    telling.tell("event.publish", event=str(event))
