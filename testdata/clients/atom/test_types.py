import base64
import json

import pytest

import atom
import expect
from test_entities import add, stored
from wire import key_path

pytestmark = pytest.mark.operation("InsertEntity")

# What is sent, and what comes back if that is different.
VALUES = {
    "string": ("Edm.String", "plain", None),
    "empty string": ("Edm.String", "", None),
    "markup": ("Edm.String", "<b>&amp;</b> ]]> \"'", None),
    "outer blanks": ("Edm.String", "  x\n", None),
    "blanks only": ("Edm.String", "   ", None),
    "line ends": ("Edm.String", "a\nb\tc", None),
    "beyond the BMP": ("Edm.String", "\U0001f600 ß Ελλάδα", None),
    "true": ("Edm.Boolean", "true", None),
    "false": ("Edm.Boolean", "false", None),
    "int32": ("Edm.Int32", "-2147483648", None),
    "int64": ("Edm.Int64", "9223372036854775807", None),
    "guid": ("Edm.Guid", "C9DA6455-213D-42C9-9A79-3E9149A57833", "c9da6455-213d-42c9-9a79-3e9149a57833"),
    "binary": ("Edm.Binary", base64.b64encode(bytes(range(256))).decode(), None),
    "empty binary": ("Edm.Binary", "", None),
    "date": ("Edm.DateTime", "2008-07-10T13:14:15.1234567Z", None),
    "date without zone": ("Edm.DateTime", "2008-07-10T00:00:00", "2008-07-10T00:00:00Z"),
    "date with a zone": ("Edm.DateTime", "2008-07-10T02:00:00.5+02:00", "2008-07-10T00:00:00.5Z"),
    "first date": ("Edm.DateTime", "1601-01-01T00:00:00Z", None),
    "last date": ("Edm.DateTime", "9999-12-31T23:59:59.9999999Z", None),
}
DOUBLES = ["1.5", "-0.25", "5", "1E+20", "1.7976931348623157E+308", "NaN", "INF", "-INF", "Infinity", "-Infinity"]


@pytest.mark.parametrize("kind, sent, back", VALUES.values(), ids=VALUES.keys())
def test_round_trip(old, table, kind, sent, back):
    answered = add(old, table, atom.prop("V", sent, kind))
    read = stored(old, table)
    assert answered.values == read.values
    assert (read.types["V"], read.values["V"]) == (kind, sent if back is None else back)


@pytest.mark.parametrize("sent", DOUBLES)
def test_double(old, table, sent):
    add(old, table, atom.prop("V", sent, "Edm.Double"))
    read = stored(old, table)
    assert read.types["V"] == "Edm.Double"
    number = lambda text: float(text.replace("INF", "inf"))
    assert number(read.values["V"]) == number(sent) or sent == "NaN" == read.values["V"]


def test_null_is_not_stored(old, table):
    nulls = atom.prop("A", None), '<d:B m:type="Edm.Int32" m:null="true"></d:B>', '<d:C m:null="false">c</d:C>'
    assert add(old, table, *nulls).own() == {"C": "c"}
    assert stored(old, table).own() == {"C": "c"}


NAMES = ["_", "A1", "a1", "çñ", "Имя", "PartitionKeys", "timestamp", "N" * 255]


def test_names(old, table):
    """C# identifiers, in any script; their case counts."""
    given = {name: str(at) for at, name in enumerate(NAMES)}
    assert add(old, table, *(atom.prop(name, value) for name, value in given.items())).own() == given
    assert stored(old, table).own() == given


ENTITY = "<d:PartitionKey>p</d:PartitionKey><d:RowKey>r</d:RowKey><d:A>x</d:A>"
NAMESPACES = (
    'xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices" '
    'xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" xmlns="http://www.w3.org/2005/Atom"'
)
PLAIN = f'<entry {NAMESPACES}><content type="application/xml"><m:properties>{ENTITY}</m:properties></content></entry>'
SPELLINGS = {
    "no declaration, only what counts": PLAIN,
    "byte order mark": "\ufeff" + '<?xml version="1.0" encoding="utf-8"?>' + PLAIN,
    "single quotes in the declaration": "<?xml version='1.0' encoding='UTF-8' standalone='yes'?>\r\n" + PLAIN,
    "other prefixes": PLAIN.replace("d:", "data:").replace("m:", "meta:").replace("xmlns:d=", "xmlns:data=").replace("xmlns:m=", "xmlns:meta=").replace("<", "<a:", 1)
    .replace("</entry", "</a:entry").replace("content", "a:content").replace("xmlns=", "xmlns:a="),
    "namespaces where they are needed": PLAIN.replace("<d:A>", '<A xmlns="http://schemas.microsoft.com/ado/2007/08/dataservices">')
    .replace("</d:A>", "</A>"),
    "CDATA and references": PLAIN.replace(">x<", "><![CDATA[x]]><").replace(">p<", ">&#112;<").replace(">r<", ">&#x72;<"),
    "a comment in a value": PLAIN.replace(">x<", "><!-- y -->x<"),
    "the type of strings": PLAIN.replace("<d:A>", '<d:A m:type="Edm.String">'),
    "elements nobody needs": PLAIN.replace("<content", '<title type="text"/><category term="T" scheme="s"/><content'),
    "keys last": PLAIN.replace(ENTITY, "<d:A>x</d:A><d:RowKey>r</d:RowKey><d:PartitionKey>p</d:PartitionKey>"),
}


@pytest.mark.operation("ATOM")
@pytest.mark.parametrize("document", SPELLINGS.values(), ids=SPELLINGS.keys())
def test_spelling(old, account, table, document):
    entry = expect.entry(old.request("POST", f"/{table}", document), account, 201)
    assert (entry.values["PartitionKey"], entry.values["RowKey"], entry.own()) == ("p", "r", {"A": "x"})


REFUSED = {
    "not XML": ('{"PartitionKey":"p","RowKey":"r"}', "InvalidInput"),
    "nothing": ("", "InvalidInput"),
    "not closed": (PLAIN[:-3], "InvalidInput"),
    "something after it": (PLAIN + "<entry/>", "InvalidInput"),
    "a document type": ("<!DOCTYPE entry [<!ENTITY e 'x'>]>" + PLAIN.replace(">x<", ">&e;<"), "InvalidInput"),
    "an unknown entity": (PLAIN.replace(">x<", ">&nbsp;<"), "InvalidInput"),
    "an unbound prefix": (PLAIN.replace("d:A>", "x:A>"), "InvalidInput"),
    "elements without end": (PLAIN.replace("<content", "<a>" * 1000 + "<content"), "InvalidInput"),
    "UTF-16": (PLAIN.encode("utf-16"), "InvalidInput"),
    "elements in a value": (PLAIN.replace(">x<", "><d:B>x</d:B><"), "InvalidInput"),
    "no row key": (PLAIN.replace("<d:RowKey>r</d:RowKey>", ""), "PropertiesNeedValue"),
    "a null row key": (PLAIN.replace("<d:RowKey>r</d:RowKey>", '<d:RowKey m:null="true"/>'), "PropertiesNeedValue"),
    "a property twice": (PLAIN.replace("<d:A>", "<d:A>y</d:A><d:A>"), "DuplicatePropertiesSpecified"),
    "an unknown type": (PLAIN.replace("<d:A>", '<d:A m:type="Edm.Decimal">'), "InvalidInput"),
    "text as a number": (PLAIN.replace("<d:A>", '<d:A m:type="Edm.Int32">'), "InvalidInput"),
    "int32 out of range": (PLAIN.replace("<d:A>x", '<d:A m:type="Edm.Int32">2147483648'), "InvalidInput"),
    "text as a guid": (PLAIN.replace("<d:A>", '<d:A m:type="Edm.Guid">'), "InvalidInput"),
    "text as a date": (PLAIN.replace("<d:A>", '<d:A m:type="Edm.DateTime">'), "InvalidInput"),
    "a date before 1601": (PLAIN.replace("<d:A>x", '<d:A m:type="Edm.DateTime">0001-01-01T00:00:00'), "OutOfRangeInput"),
    "a name with a dot": (PLAIN.replace("d:A>", "d:A.B>"), "PropertyNameInvalid"),
    "a name with a dash": (PLAIN.replace("d:A>", "d:A-B>"), "PropertyNameInvalid"),
    "a long name": (PLAIN.replace("d:A>", f"d:{'A' * 256}>"), "PropertyNameTooLong"),
    "a long string": (PLAIN.replace(">x<", f">{'x' * 32769}<"), "PropertyValueTooLarge"),
    "253 properties": (PLAIN.replace("<d:A>", "".join(f"<d:A{n}/>" for n in range(252)) + "<d:A>"), "TooManyProperties"),
    "a forbidden character in a key": (PLAIN.replace(">r<", ">a/b<"), "OutOfRangeInput"),
}


@pytest.mark.parametrize("document, code", REFUSED.values(), ids=REFUSED.keys())
def test_refused(old, late, table, document, code):
    expect.refused(old.request("POST", f"/{table}", document), 400, code)
    assert expect.feed(late.request("GET", f"/{table}()"), late.account, table) == []


@pytest.mark.operation("ATOM")
def test_written_as_json_read_as_atom(late, table):
    body = {
        "PartitionKey": "p", "RowKey": "r", "S": "<&>", "I": 5, "D": 5.0, "B": True, "N": None,
        "L@odata.type": "Edm.Int64", "L": "5", "T@odata.type": "Edm.DateTime", "T": "2020-01-01T00:00:00Z",
        "G@odata.type": "Edm.Guid", "G": "c9da6455-213d-42c9-9a79-3e9149a57833", "X@odata.type": "Edm.Binary", "X": "YQ==",
    }
    response = late.request("POST", f"/{table}", json.dumps(body), Content_Type="application/json",
                            Accept="application/json;odata=nometadata")
    assert (response.status, response.media) == (201, "application/json")
    read = stored(late, table)
    kinds = {"S": "String", "I": "Int32", "D": "Double", "B": "Boolean", "L": "Int64", "T": "DateTime", "G": "Guid", "X": "Binary"}
    assert {name: read.types[name] for name in read.own()} == {name: "Edm." + kind for name, kind in kinds.items()}
    assert (read.values["S"], read.values["L"], read.values["X"], float(read.values["D"])) == ("<&>", "5", "YQ==", 5)


@pytest.mark.operation("ATOM")
def test_written_as_atom_read_as_json(late, table):
    add(late, table, atom.prop("L", "5", "Edm.Int64"), atom.prop("D", "5", "Edm.Double"), atom.prop("S", " x "))
    response = late.request("GET", key_path(table, "p", "r"), Accept="application/json;odata=minimalmetadata")
    read = json.loads(response.body)
    assert (read["L@odata.type"], read["L"], read["D"], read["S"]) == ("Edm.Int64", "5", 5.0, " x ")
    assert b'"D":5.0' in response.body


@pytest.mark.operation("GetEntity")
def test_characters_that_xml_has_not(late, table):
    """JSON can write U+0001, XML 1.0 cannot: the answer may be an error, but it is never a document no reader takes."""
    body = json.dumps({"PartitionKey": "p", "RowKey": "r", "A": "a\u0001b\ufffe"})
    written = late.request("POST", f"/{table}", body, Content_Type="application/json", Accept="application/json")
    assert written.status == 201
    late.request("GET", key_path(table, "p", "r")).xml()
