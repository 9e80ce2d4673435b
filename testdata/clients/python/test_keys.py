import pytest
from azure.core import MatchConditions
from azure.core.exceptions import ResourceModifiedError, ResourceNotFoundError
from azure.data.tables import TableTransactionError, UpdateMode

from expect import keyed, refused, rows, too_long

# Legal keys that break servers which decode twice, forget to un-double quotes or treat + as a blank.
ODD = {
    "quote": "O'Brien",
    "quotes in a row": "''",
    "quote at the ends": "'x'",
    "double quote": 'say "hi"',
    "percent": "100%",
    "looks encoded": "row-%20-%27-%2525",
    "blank": "a b",
    "blanks at the ends": " a ",
    "plus": "a+b",
    "comma": "a,b",
    "equals": "RowKey='x'",
    "parentheses": "f(x)",
    "braces": "{x}",
    "ampersand": "a&b;c",
    "colon": "12:30@home",
    "accents": "row-ô-",
    "unicode": "Zażółć 漢字 عربى",
    "emoji": "👩‍👩‍👧‍👦",
    "astral": "\U00010000\U0010FFFD",
    "everything": "row-ô- -''-\"-%20-%27-rk1",
    "longest": "k" * 512,
    "empty": "",
}


@pytest.mark.parametrize("key", ODD.values(), ids=ODD.keys())
def test_odd_key(table, key):
    entity = keyed(key, partition=key, N=1)
    if too_long(key, key):
        with refused(400, "KeyValueTooLarge"):
            table.create_entity(entity)
        return
    etag = table.create_entity(entity)["etag"]
    assert dict(table.get_entity(key, key)) == entity
    both = {"key": key}
    found = list(table.query_entities("PartitionKey eq @key and RowKey eq @key", parameters=both))
    assert [dict(one) for one in found] == [entity]

    entity["N"] = 2
    updated = table.update_entity(
        entity, mode=UpdateMode.REPLACE, etag=etag, match_condition=MatchConditions.IfNotModified
    )["etag"]
    table.upsert_entity(keyed(key, partition=key, M=3))
    assert dict(table.get_entity(key, key)) == {**entity, "M": 3}
    with refused(412, "UpdateConditionNotSatisfied", ResourceModifiedError):
        table.delete_entity(entity, etag=updated, match_condition=MatchConditions.IfNotModified)
    table.delete_entity(key, key)
    with refused(404, "ResourceNotFound", ResourceNotFoundError):
        table.get_entity(key, key)


@pytest.mark.parametrize("key", ODD.values(), ids=ODD.keys())
def test_odd_key_in_transaction(table, key):
    if too_long(key, key):
        with refused(400, "KeyValueTooLarge", TableTransactionError) as caught:
            table.submit_transaction([("create", keyed("short", partition=key)), ("create", keyed(key, partition=key))])
        assert caught.value.index == (0 if too_long(key, "short") else 1)
        assert rows(table.list_entities()) == []
        return
    table.upsert_entity(keyed(key, partition=key, A=1))
    table.submit_transaction(
        [
            ("update", keyed(key, partition=key, B=2)),
            ("create", keyed(key + "2", partition=key)),
            ("upsert", keyed(key + "3", partition=key), {"mode": "replace"}),
        ]
    )
    assert dict(table.get_entity(key, key)) == keyed(key, partition=key, A=1, B=2)
    table.submit_transaction([("delete", keyed(key + end, partition=key)) for end in ("", "2", "3")])
    assert rows(table.list_entities()) == []


def test_page_over_odd_keys(table):
    keys = [key for key in ODD.values() if not too_long(key, key)]
    for key in keys:
        table.create_entity(keyed(key, partition=key))
    pages = table.list_entities(results_per_page=1).by_page()
    # No key here has characters on which the orders of UTF-8 and UTF-16 disagree.
    assert [rows(page) for page in pages] == [[key] for key in sorted(keys)]


@pytest.mark.parametrize("key", ["a/b", "a\\b", "a#b", "a?b", "a\tb", "a\nb", "a\x00b", "a\x7fb", "a\x85b"], ids=ascii)
def test_forbidden_characters(table, key):
    with refused(400, "OutOfRangeInput"):
        table.create_entity(keyed("r", partition=key))
    with refused(400, "OutOfRangeInput"):
        table.create_entity(keyed(key))
    assert list(table.list_entities()) == []
