"""That something which is remembered has changed: an event, and nothing else."""

from etui.contracts.sapphire import telling


def publish_mind_changed(domain: object, scope: object = None, action: object = None, **more: object) -> None:
    """Tell it; never raises."""
    telling.tell("event.mind", domain=_text(domain), scope=_text(scope), action=_text(action))


def _text(value: object) -> str:
    return "" if value is None else str(value)
