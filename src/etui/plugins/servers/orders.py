"""Whether a text that a stranger's server hands to the model tries to give it orders: a list of signs, English and Spanish.

Above: `offers` lets nothing through in which one is found. Below: nothing. It refuses to know: tools. It looks at what a text
says, not at how it is written: accents, case and invisible characters are folded away first. A list like this stops the plain
attempts and no others; what such a tool may do is still the gate's to say.
"""

from __future__ import annotations

import re
import unicodedata

_RULES = r"(instructions?|prompts?|guidelines|directives?|safety rules)"
_NORMAS = r"(instrucciones|indicaciones|directrices|ordenes (anteriores|previas|recibidas))"
_SECRET = (
    r"(passwords?(?! reset)|private keys?|ssh keys?|credentials|(chat|conversation) history|system prompt"
    r"|environment variables)"
)
_SECRETO = r"(contrasenas?|claves? privadas?|credenciales|historial de (la |el )?(conversacion|chat)|variables de entorno)"
SIGNS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b(ignore|disregard|forget|override|bypass)\b.{{0,40}}\b{_RULES}\b",
        r"\b(do not|don't|never|without)\b.{0,20}\b(tell|telling|inform|informing|mention|mentioning|notify|notifying|alert)\b"
        r".{0,30}\b(user|person|human|owner)\b",
        r"\byou are now (an?|the|in|no longer)\b|\bfrom now on,? you\b|\bact as if you\b|\bpretend (that )?you\b",
        r"\b(new|updated|real) (system )?(instructions?|prompt) ?:",
        r"</?\s*(system|important|instructions?|assistant|secret)\s*>|\[/?(system|inst)\]|<<\s*sys\s*>>|<\|\w+\|>",
        rf"\b(reveal|print|repeat|show|output)\b.{{0,30}}\b(system|hidden|initial|your)\b.{{0,15}}\b{_RULES}\b",
        rf"\b(send|forward|upload|post|leak|exfiltrate)\b.{{0,60}}\b(the|your|all|any|user'?s)\b.{{0,20}}\b{_SECRET}\b",
        r"\b(before|instead of) (you )?(use|using|call|calling|run|running|invoke|invoking)\b.{0,15}\b(any|every|all|other)\b"
        r".{0,15}\btools?\b",
        rf"\b(ignora|ignore|olvida|olvide|descarta|omite|desobedece|anula)\w*\b.{{0,40}}\b{_NORMAS}\b",
        r"\b(no|nunca|sin)\b.{0,15}\b(dig\w+|decir\w*|inform\w+|mencion\w+|cuent\w+|avis\w+|revel\w+)\b"
        r".{0,30}\b(usuari[oa]|persona|duen[oa])\b",
        r"\bahora eres\b|\b(a partir de|desde) ahora,? (eres|debes|responde)\b|\bactua como si\b|\bfinge (ser|que)\b",
        r"\b(nuevas?|verdaderas?) (instrucciones|ordenes|indicaciones) ?:",
        rf"\b(revela|muestra|repite|imprime)\w*\b.{{0,30}}\b({_NORMAS}|prompt)\b.{{0,20}}\b(sistema|ocult\w+|inicial\w*)\b",
        rf"\b(envia|manda|reenvia|sube|publica|filtra)\w*\b.{{0,60}}\b{_SECRETO}\b",
        r"\b(antes|en lugar) de (usar|llamar|ejecutar|invocar)\b.{0,15}\b(cualquier|otras?|todas?|ninguna)\b.{0,15}"
        r"\bherramientas?\b",
    )
)
_HIDDEN = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\u00ad]")
_TAGS = re.compile("[\U000e0000-\U000e007f]")
"""Letters that no one sees and a model reads."""


def order_in(text: str) -> str:
    """The first piece of a text that tells the model what to do, as it is to be shown; empty if there is none."""
    if _TAGS.search(text):
        return "characters that cannot be seen"
    folded = fold(text)
    found = next((hit for sign in SIGNS if (hit := sign.search(folded))), None)
    return found.group()[:80] if found else ""


def fold(text: str) -> str:
    """Small letters without accents, without what cannot be seen, with single blanks."""
    plain = unicodedata.normalize("NFKD", _HIDDEN.sub("", text))
    bare = "".join(letter for letter in plain if not unicodedata.combining(letter))
    return re.sub(r"\s+", " ", bare.casefold().replace("’", "'"))
