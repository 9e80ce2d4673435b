import secrets
from datetime import datetime, timezone
from uuid import UUID

import pytest
from azure.data.tables import EdmType, EntityProperty

from expect import keyed, refused, rows


def fruit(row, number, text, ripe, when):
    return keyed(
        row, Int=number, Text=text, Ripe=ripe, _x="under",
        Long=EntityProperty(2**53 + number, EdmType.INT64), Real=number - 0.5, Whole=float(number),
        When=EntityProperty(when, EdmType.DATETIME), Id=UUID(int=number), Bytes=bytes([10, number]),
    )  # fmt: skip


@pytest.fixture(scope="module")
def fruits(service):
    """Three entities with a property of every type, and one, "d", with keys alone."""
    table = service.create_table("Py" + secrets.token_hex(10))
    table.create_entity(fruit("a", 1, "apple", True, "2020-01-01T00:00:00Z"))
    table.create_entity(fruit("b", 2, "banana", False, "2021-01-01T00:00:00.0000001Z"))
    table.create_entity(fruit("c", 3, "O'Brien's  pear", True, "2022-01-01T00:00:00Z"))
    table.create_entity(keyed("d"))
    yield table
    table.delete_table()


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Int eq 2", "b"),
        ("Int ne 2", "ac"),  # an absent property is never ne
        ("Int gt 2", "c"),
        ("Int ge 2", "bc"),
        ("Int lt 2", "a"),
        ("Int le 2", "ab"),
        ("2 lt Int", "c"),
        ("Long eq 9007199254740993L", "a"),
        ("Long gt 9007199254740993L", "bc"),
        ("Real eq 1.5", "b"),
        ("Real gt 1", "bc"),
        ("Real lt 1e0", "a"),
        ("Whole eq 2.0", "b"),
        ("Text eq 'apple'", "a"),
        ("Text eq 'Apple'", ""),
        ("Text eq 'O''Brien''s  pear'", "c"),
        ("Text ge 'a' and Text lt 'b'", "a"),
        ("Ripe eq true", "ac"),
        ("Ripe ne true", "b"),
        ("When eq datetime'2021-01-01T00:00:00.0000001Z'", "b"),
        ("When gt datetime'2021-01-01T00:00:00Z'", "bc"),
        ("When lt datetime'2021-01-01'", "a"),
        ("Timestamp gt datetime'2000-01-01T00:00:00Z'", "abcd"),
        ("Id eq guid'00000000-0000-0000-0000-000000000003'", "c"),
        ("Id eq '00000000-0000-0000-0000-000000000003'", ""),
        ("Bytes eq X'0a02'", "b"),
        ("Bytes eq binary'0A03'", "c"),
        ("_x eq 'under'", "abc"),
        ("Missing ne 'x'", ""),
        ("not (Missing eq 'x')", "abcd"),
        ("not (Int eq 2)", "acd"),
        ("Int eq 1 or Int eq 2 and Ripe eq true", "a"),
        ("(Int eq 1 or Int eq 2) and Ripe eq false", "b"),
        ("true and RowKey eq 'b'", "b"),
        ("PartitionKey eq 'p' and RowKey gt 'a' and RowKey le 'c'", "bc"),
        ("PartitionKey eq 'p' and RowKey eq 'nobody'", ""),
    ],
)
def test_filter(fruits, text, expected):
    assert rows(fruits.query_entities(text)) == list(expected)


@pytest.mark.parametrize(
    "text, value, expected",
    [
        ("Int ge @v", 2, "bc"),
        ("Long gt @v", 2**53 + 1, "bc"),
        ("Whole eq @v", 3.0, "c"),
        ("Text eq @v", "O'Brien's  pear", "c"),
        ("Ripe eq @v", False, "b"),
        ("When ge @v", datetime(2021, 1, 1, tzinfo=timezone.utc), "bc"),
        ("Id ne @v", UUID(int=3), "ab"),
        ("Bytes lt @v", bytes([10, 2]), "a"),
    ],
)
def test_filter_with_parameters(fruits, text, value, expected):
    assert rows(fruits.query_entities(text, parameters={"v": value})) == list(expected)


@pytest.mark.parametrize(
    "text, status, code",
    [
        ("aaa bbb ccc", 400, "InvalidInput"),
        ("(Int eq 1", 400, "InvalidInput"),
        ("Text eq 'open", 400, "InvalidInput"),
        ("Id eq guid'no guid'", 400, "InvalidInput"),
        ("Int eq 1 AND Int eq 2", 400, "InvalidInput"),
        ("'abc'", 400, "InvalidInput"),
        ("startswith(Text,'a')", 501, "NotImplemented"),
    ],
)
def test_unusable_filter(fruits, text, status, code):
    with refused(status, code):
        list(fruits.query_entities(text))


def test_page_too_large(fruits):
    with refused(400, "InvalidInput"):
        list(fruits.list_entities(results_per_page=1001))


def test_select(fruits):
    def selected(select):
        return [dict(entity) for entity in fruits.query_entities("RowKey eq 'a'", select=select)]

    assert selected(["RowKey", "Int"]) == [{"RowKey": "a", "Int": 1}]
    assert selected("Int, Text") == [{"Int": 1, "Text": "apple"}]
    assert selected(["Missing", "int"]) == [{"Missing": None, "int": None}]
    (everything,) = fruits.query_entities("RowKey eq 'a'", select="*")
    assert set(everything) == set(fruit("a", 1, "", True, ""))
    assert [dict(entity) for entity in fruits.list_entities(select=["RowKey"])] == [{"RowKey": row} for row in "abcd"]


def test_metadata_of_listed_entities(fruits):
    for entity in fruits.list_entities():
        assert entity.metadata["etag"] == fruits.get_entity("p", entity["RowKey"]).metadata["etag"]
        assert entity.metadata["timestamp"].year >= 2020


@pytest.fixture(scope="module")
def thousands(service):
    """1100 entities in one partition, rows 0000, 0001, …"""
    table = service.create_table("Py" + secrets.token_hex(10))
    for start in range(0, 1100, 100):
        table.submit_transaction([("create", keyed(f"{n:04}", N=n)) for n in range(start, start + 100)])
    yield table
    table.delete_table()


def test_more_than_a_page(thousands):
    assert rows(thousands.list_entities()) == [f"{n:04}" for n in range(1100)]
    assert [len(list(page)) for page in thousands.list_entities().by_page()] == [1000, 100]


@pytest.mark.parametrize("size, sizes", [(400, [400, 400, 300]), (550, [550, 550])])
def test_pages(thousands, size, sizes):
    pages = [rows(page) for page in thousands.list_entities(results_per_page=size).by_page()]
    assert [len(page) for page in pages] == sizes
    assert sum(pages, []) == [f"{n:04}" for n in range(1100)]


def test_filtered_pages(thousands):
    pages = thousands.query_entities("N ge 1000 and N lt 1070", results_per_page=30).by_page()
    assert [rows(page) for page in pages] == [
        [f"{n:04}" for n in range(start, min(start + 30, 1070))] for start in (1000, 1030, 1060)
    ]


def test_resume_from_token(thousands):
    pages = thousands.query_entities("N ge 500", results_per_page=10).by_page()
    assert rows(next(pages)) == [f"{n:04}" for n in range(500, 510)]
    token = pages.continuation_token
    assert token["PartitionKey"] and token["RowKey"]
    thousands.delete_entity("p", "0510")  # the token outlives the entity it names
    try:
        resumed = thousands.query_entities("N ge 500", results_per_page=1000).by_page(continuation_token=token)
        assert [rows(page) for page in resumed] == [[f"{n:04}" for n in range(511, 1100)]]
    finally:
        thousands.create_entity(keyed("0510", N=510))


def test_order(table):
    for partition, row in [("b", "1"), ("a", "2"), ("B", "3"), ("a", "10"), ("aa", "4"), ("", "5"), ("a", "")]:
        table.create_entity(keyed(row, partition=partition))
    assert rows(table.list_entities()) == ["5", "3", "", "10", "2", "4", "1"]
