"""Entries and feeds: written as the clients of that time did, read with no leniency at all."""

import base64
import re
from dataclasses import dataclass, field
from urllib.parse import unquote
from xml.sax.saxutils import escape

A = "{http://www.w3.org/2005/Atom}"
D = "{http://schemas.microsoft.com/ado/2007/08/dataservices}"
M = "{http://schemas.microsoft.com/ado/2007/08/dataservices/metadata}"
XML = "{http://www.w3.org/XML/1998/namespace}"
SCHEME = "http://schemas.microsoft.com/ado/2007/08/dataservices/scheme"

STRING = "Edm.String"
FORMS = {
    "Edm.Boolean": r"true|false",
    "Edm.Int32": r"-?\d{1,10}",
    "Edm.Int64": r"-?\d{1,19}",
    "Edm.Double": r"-?\d+(\.\d+)?(E[+-]?\d+)?|NaN|-?INF|-?Infinity",
    "Edm.DateTime": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{0,6}[1-9])?Z",
    "Edm.Guid": r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    "Edm.Binary": r"[A-Za-z0-9+/]*={0,2}",
}


@dataclass
class Entry:
    id: str
    etag: str
    edit: str
    term: str
    title: str
    types: dict = field(default_factory=dict)
    values: dict = field(default_factory=dict)

    def own(self):
        """What the client put there."""
        system = ("PartitionKey", "RowKey", "Timestamp")
        return {name: value for name, value in self.values.items() if name not in system}


def prop(name, value, kind=STRING, prefix="d"):
    """A property element; None is m:null."""
    if value is None:
        return f'<{prefix}:{name} m:null="true" />'
    marks = "" if kind == STRING else f' m:type="{kind}"'
    if kind == STRING and value != value.strip():
        marks = ' xml:space="preserve"'
    return f"<{prefix}:{name}{marks}>{escape(value)}</{prefix}:{name}>"


def entry(*properties, id="", updated="2008-09-18T23:46:19.3857256Z"):
    """The entry that the .NET client sent, with these property elements."""
    return (
        '<?xml version="1.0" encoding="utf-8" standalone="yes"?>\n'
        '<entry xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices" '
        'xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" '
        'xmlns="http://www.w3.org/2005/Atom">\n'
        f"  <title />\n  <updated>{updated}</updated>\n  <author>\n    <name />\n  </author>\n  <id>{escape(id)}</id>\n"
        '  <content type="application/xml">\n    <m:properties>\n      '
        + "\n      ".join(properties)
        + "\n    </m:properties>\n  </content>\n</entry>"
    )


def entity(partition, row, *properties, **options):
    """An entity, with the Timestamp that a .NET object has before the server gave it one."""
    keys = (prop("PartitionKey", partition), prop("RowKey", row))
    stamp = prop("Timestamp", "0001-01-01T00:00:00", "Edm.DateTime")
    return entry(*properties, *keys, stamp, **options)


def table(name):
    return entry(prop("TableName", name))


def only(parent, tag):
    """The one child with this tag."""
    found = parent.findall(tag)
    assert len(found) == 1, f"{len(found)} {tag} in {parent.tag}"
    return found[0]


def time_of(element):
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", element.text), element.text


def read_entry(root, base, inside_feed=False):
    """An entry of the account at base: every part that the service sends is there, once, and nothing else."""
    assert root.tag == A + "entry", root.tag
    assert root.get(XML + "base") == (None if inside_feed else base)
    assert {child.tag for child in root} == {A + tag for tag in "id title updated author link category content".split()}
    assert (only(root, A + "title").text or "") == ""
    time_of(only(root, A + "updated"))
    assert not only(only(root, A + "author"), A + "name").text
    link, category, content = (only(root, A + tag) for tag in ("link", "category", "content"))
    assert link.get("rel") == "edit" and category.get("scheme") == SCHEME and content.get("type") == "application/xml"
    read = Entry(only(root, A + "id").text, root.get(M + "etag"), link.get("href"), category.get("term"), link.get("title"))
    assert read.id == base + read.edit
    for element in only(content, M + "properties"):
        read_property(element, read)
    if "Timestamp" in read.values and read.etag:
        stamp = unquote(re.fullmatch(r"W/\"datetime'(.*)'\"", read.etag)[1])
        assert ":" not in read.etag and stamp == read.values["Timestamp"], "the ETag is the Timestamp"
    return read


def read_property(element, into):
    assert element.tag.startswith(D), f"{element.tag} is not a data element"
    assert set(element.attrib) <= {M + "type", M + "null", XML + "space"}, element.attrib
    assert len(element) == 0, "a value has no elements"
    name = element.tag[len(D):]
    assert name not in into.values, f"{name} twice"
    kind = element.get(M + "type", STRING)
    text = element.text or ""
    assert element.get(M + "type") != STRING, "the service leaves Edm.String out"
    if M + "null" in element.attrib:
        assert element.get(M + "null") == "true" and text == ""
        into.types[name], into.values[name] = None, None
        return
    if kind == STRING:
        assert (element.get(XML + "space") == "preserve") == (text != text.strip()), f"xml:space of {text!r}"
    else:
        assert re.fullmatch(FORMS[kind], text), f"{text!r} is no {kind}"
    if kind == "Edm.Binary":
        base64.b64decode(text, validate=True)
    if kind in ("Edm.Int32", "Edm.Int64"):
        assert abs(int(text)) <= 1 << (31 if kind == "Edm.Int32" else 63)
    expected = {"PartitionKey": STRING, "RowKey": STRING, "Timestamp": "Edm.DateTime"}.get(name, kind)
    assert kind == expected, f"{name} is {kind}"
    into.types[name], into.values[name] = kind, text


def read_feed(root, base, name):
    """The entries of a feed called name, which lies at that name below base."""
    assert root.tag == A + "feed", root.tag
    assert root.get(XML + "base") == base
    allowed = {A + tag for tag in "title id updated author link entry".split()}
    assert {child.tag for child in root} <= allowed
    assert only(root, A + "title").text == name and only(root, A + "id").text == base + name
    time_of(only(root, A + "updated"))
    link = only(root, A + "link")
    assert (link.get("rel"), link.get("title"), link.get("href")) == ("self", name, name)
    entries = root.findall(A + "entry")
    assert entries or root.find(A + "author") is not None, "a feed without entries has an author (RFC 4287, 4.1.1)"
    return [read_entry(element, base, inside_feed=True) for element in entries]


def read_error(root):
    """The code and the first line of the message; the other two are the request's id and the time."""
    assert root.tag == M + "error", root.tag
    assert [child.tag for child in root] == [M + "code", M + "message"]
    code, message = root
    assert message.get(XML + "lang") == "en-US"
    lines = message.text.split("\n")
    assert re.fullmatch(r"RequestId:[0-9a-f-]{36}", lines[-2]), lines
    assert re.fullmatch(r"Time:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z", lines[-1]), lines
    return code.text, "\n".join(lines[:-2])
