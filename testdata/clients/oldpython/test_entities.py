import math
from datetime import datetime, timezone

import pytest

from conftest import keyed, own, refused

WHEN = datetime(2019, 2, 3, 4, 5, 6, tzinfo=timezone.utc)  # the libraries send no fractions


def test_insert_all_types(lib, service, table):
    service.insert_entity(table, keyed(
        "types", String="x", Int64=2**40, Double=1.5, Bool=True, When=WHEN, None_=None,
        Int32=lib.EntityProperty(lib.EdmType.INT32, 7),
        Binary=lib.EntityProperty(lib.EdmType.BINARY, b"\x00\xff"),
        Guid=lib.EntityProperty(lib.EdmType.GUID, "c9da6455-213d-42c9-9a79-3e9149a57833"),
    ))
    read = own(service.get_entity(table, "p", "types"))
    assert read.pop("Guid").value == "c9da6455-213d-42c9-9a79-3e9149a57833"
    assert read.pop("Binary").value == b"\x00\xff"
    int32 = read.pop("Int32")
    assert getattr(int32, "value", int32) == 7  # the older library makes it a plain int
    assert read == {"String": "x", "Int64": 2**40, "Double": 1.5, "Bool": True, "When": WHEN}


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_insert_special_doubles(service, table, value):
    service.insert_entity(table, keyed("double", D=value))
    assert repr(service.get_entity(table, "p", "double").D) == repr(value)


@pytest.mark.parametrize("row", ["a b", "+%20&=", "ö\u4e16\U0001f600"])
def test_insert_odd_keys(service, table, row):
    service.insert_entity(table, keyed(row))
    assert service.get_entity(table, "p", row).RowKey == row
    service.delete_entity(table, "p", row)


def test_insert_twice(service, table):
    service.insert_entity(table, keyed("r"))
    with refused(409, "EntityAlreadyExists"):
        service.insert_entity(table, keyed("r"))


def test_get_missing(service, table):
    with refused(404, "ResourceNotFound"):
        service.get_entity(table, "p", "missing")
    with refused(404, "TableNotFound"):
        service.get_entity(table + "x", "p", "missing")


def test_get_selected(service, table):
    service.insert_entity(table, keyed("r", A=1, B=2))
    assert own(service.get_entity(table, "p", "r", select="A")) == {"A": 1}


def test_get_formats(lib, service, table):
    etag = service.insert_entity(table, keyed("r", N=2**40))
    for accept in (lib.TablePayloadFormat.JSON_FULL_METADATA, lib.TablePayloadFormat.JSON_MINIMAL_METADATA):
        entity = service.get_entity(table, "p", "r", accept=accept)
        assert (entity.N, entity.etag) == (2**40, etag)
    plain = service.get_entity(table, "p", "r", accept=lib.TablePayloadFormat.JSON_NO_METADATA,
                               property_resolver=lambda pk, rk, name, value, kind: lib.EdmType.INT64 if name == "N" else None)
    assert plain.N == 2**40


CHANGES = {"update": {"B": 3}, "merge": {"A": 1, "B": 3}}


@pytest.mark.parametrize("method", CHANGES)
def test_change(service, table, method):
    old = service.insert_entity(table, keyed("r", A=1, B=2))
    new = getattr(service, f"{method}_entity")(table, keyed("r", B=3))
    read = service.get_entity(table, "p", "r")
    assert own(read) == CHANGES[method]
    assert read.etag == new != old


@pytest.mark.parametrize("method", CHANGES)
def test_change_missing(service, table, method):
    with refused(404, "ResourceNotFound"):
        getattr(service, f"{method}_entity")(table, keyed("missing"))


@pytest.mark.parametrize("method", CHANGES)
def test_change_if_unchanged(service, table, method):
    change = getattr(service, f"{method}_entity")
    stale = service.insert_entity(table, keyed("r", A=1))
    current = service.update_entity(table, keyed("r", A=2))
    with refused(412, "UpdateConditionNotSatisfied"):
        change(table, keyed("r", A=3), if_match=stale)
    change(table, keyed("r", A=4), if_match=current)
    assert own(service.get_entity(table, "p", "r")) == {"A": 4}


@pytest.mark.parametrize("method, kept", [("replace", {}), ("merge", {"A": 1})])
def test_insert_or(service, table, method, kept):
    upsert = getattr(service, f"insert_or_{method}_entity")
    upsert(table, keyed("r", A=1))
    etag = upsert(table, keyed("r", B=2))
    read = service.get_entity(table, "p", "r")
    assert own(read) == {**kept, "B": 2} and read.etag == etag


def test_remove(service, table):
    stale = service.insert_entity(table, keyed("r"))
    service.update_entity(table, keyed("r"))
    with refused(412, "UpdateConditionNotSatisfied"):
        service.delete_entity(table, "p", "r", if_match=stale)
    service.delete_entity(table, "p", "r")
    with refused(404, "ResourceNotFound"):
        service.delete_entity(table, "p", "r")
