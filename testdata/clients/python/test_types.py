import math
import sys
from datetime import datetime, timezone
from uuid import UUID

import pytest
from azure.data.tables import EdmType, EntityProperty

from expect import keyed, refused

ROUND_TRIPS = {
    "int32 max": 2**31 - 1,
    "int32 min": -(2**31),
    "int64 max": EntityProperty(2**63 - 1, EdmType.INT64),
    "int64 min": EntityProperty(-(2**63), EdmType.INT64),
    "int64 beyond 2^53": EntityProperty(2**53 + 1, EdmType.INT64),
    "int64 small": EntityProperty(5, EdmType.INT64),
    "true": True,
    "false": False,
    "double": 1.5,
    "double whole": 5.0,
    "double zero": 0.0,
    "double max": sys.float_info.max,
    "double min": -sys.float_info.max,
    "double smallest": 5e-324,
    "double tenth": 0.1,
    "double exponent": 1e20,
    "double beyond int64": 1e300,
    "infinity": math.inf,
    "negative infinity": -math.inf,
    "guid": UUID("c9da6455-213d-42c9-9a79-3e9149a57833"),
    "datetime": datetime(2020, 2, 29, 12, 34, 56, 123456, tzinfo=timezone.utc),
    "datetime whole second": datetime(2020, 2, 29, tzinfo=timezone.utc),
    "datetime earliest": datetime(1601, 1, 1, tzinfo=timezone.utc),
    "datetime latest": datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=timezone.utc),
    "binary": bytes(range(256)),
    "binary empty": b"",
    "binary largest": bytes(65536),
    "string empty": "",
    "string blanks": "  x  ",
    "string controls": "tab\t cr\r lf\n quote\" backslash\\ slash/ bell\a",
    "string unicode": "Zażółć gęślą jaźń — 漢字 — عربى",
    "string emoji": "👩‍👩‍👧‍👦 🏳️‍🌈 \U0010FFFD",
    "string looks odd": '{"odata.type":"x"} <a>&amp;</a> %41 \\u0041',
    "string largest": "漢" * 32768,
}


@pytest.mark.parametrize("value", ROUND_TRIPS.values(), ids=ROUND_TRIPS.keys())
def test_round_trip(table, value):
    table.create_entity(keyed("r", V=value))
    got = table.get_entity("p", "r")["V"]
    assert got == value
    assert isinstance(got, type(value))  # 5.0 must not come back as 5


def test_nan(table):
    table.create_entity(keyed("r", V=math.nan))
    assert math.isnan(table.get_entity("p", "r")["V"])


def test_negative_zero(table):
    table.create_entity(keyed("r", V=-0.0))
    got = table.get_entity("p", "r")["V"]
    assert got == 0 and isinstance(got, float)


@pytest.mark.parametrize(
    "sent, answered",
    [
        ("9999-12-31T23:59:59.9999999Z", "9999-12-31T23:59:59.9999999Z"),
        ("2020-02-29T12:34:56.0000001Z", "2020-02-29T12:34:56.0000001Z"),
        ("2020-02-29T12:34:56.1200000Z", "2020-02-29T12:34:56.12Z"),
        ("2020-01-01T00:30:00+01:00", "2019-12-31T23:30:00Z"),
    ],
    ids=["latest", "tick", "zeros are cut", "offset becomes UTC"],
)
def test_datetime_text(table, sent, answered):
    table.create_entity(keyed("r", V=EntityProperty(sent, EdmType.DATETIME)))
    read = table.get_entity("p", "r")
    assert read["V"].tables_service_value == answered
    table.update_entity(read)  # the SDK sends the service's own text back
    assert table.get_entity("p", "r")["V"].tables_service_value == answered


def test_none_is_not_stored(table):
    table.create_entity(keyed("r", V=None))
    assert dict(table.get_entity("p", "r")) == keyed("r")


def test_every_type_annotated(table):
    """EntityProperty annotates what needs no annotation too."""
    values = {
        EdmType.STRING: "x", EdmType.BOOLEAN: True, EdmType.INT32: 7, EdmType.DOUBLE: 2.0,
        EdmType.BINARY: b"x", EdmType.GUID: UUID(int=1),
    }  # fmt: skip
    entity = keyed("r", **{kind.name: EntityProperty(value, kind) for kind, value in values.items()})
    table.create_entity(entity)
    read = table.get_entity("p", "r")
    for kind, value in values.items():
        assert read[kind.name] == value and isinstance(read[kind.name], type(value)), kind


def test_property_names(table):
    names = ["çñ", "Имя", "漢字", "_private", "Birthday", "birthday", "n" * 255]
    table.create_entity(keyed("r", **{name: f"value of {name}" for name in names}))
    read = table.get_entity("p", "r")
    assert {name: read.get(name) for name in names} == {name: f"value of {name}" for name in names}


REFUSED = {
    "string of 32769 characters": ({"A": "x" * 32769}, 400, "PropertyValueTooLarge"),
    "binary of 65537 bytes": ({"A": bytes(65537)}, 400, "PropertyValueTooLarge"),
    "253 properties": ({f"P{i}": i for i in range(253)}, 400, "TooManyProperties"),
    "above 1 MiB": ({f"P{i}": "x" * 32768 for i in range(16)}, 400, "EntityTooLarge"),
    "name of 256 characters": ({"n" * 256: 1}, 400, "PropertyNameTooLong"),
    "name with a dash": ({"a-b": 1}, 400, "PropertyNameInvalid"),
    "datetime before 1601": ({"A": EntityProperty("1600-12-31T23:59:59Z", EdmType.DATETIME)}, 400, "OutOfRangeInput"),
    "broken guid": ({"A": EntityProperty("no guid", EdmType.GUID)}, 400, "InvalidInput"),
    "body above 4 MiB": ({"A": "x" * (4 << 20)}, 413, "RequestBodyTooLarge"),
}


@pytest.mark.parametrize("properties, status, code", REFUSED.values(), ids=REFUSED.keys())
def test_refused(table, properties, status, code):
    with refused(status, code):
        table.create_entity(keyed("r", **properties))
    assert list(table.list_entities()) == []


def test_accepted_at_the_limits(table):
    table.create_entity(keyed("252 properties", **{f"P{i}": i for i in range(252)}))
    table.create_entity(keyed("just below 1 MiB", **{f"P{i}": "x" * 32768 for i in range(15)}))
    assert len(table.get_entity("p", "252 properties")) == 254
    assert len(table.get_entity("p", "just below 1 MiB")) == 17


def test_keys_are_needed(table):
    # The SDK recognises the service's message and raises ValueError in its place.
    with pytest.raises(ValueError, match="PartitionKey must be present"):
        table.create_entity({"RowKey": "r"})
    with pytest.raises(ValueError, match="RowKey must be present"):
        table.create_entity({"PartitionKey": "p"})
