import pytest
from azure.core import MatchConditions
from azure.data.tables import RequestTooLargeError, TableTransactionError, UpdateMode

from expect import keyed, refused, rows

UNMODIFIED = MatchConditions.IfNotModified


def creates(count):
    return [("create", keyed(f"{n:04}", N=n)) for n in range(count)]


def test_hundred(table):
    answers = table.submit_transaction(creates(100))
    assert len(answers) == 100
    stored = list(table.list_entities())
    assert rows(stored) == [f"{n:04}" for n in range(100)]
    assert [answer["etag"] for answer in answers] == [entity.metadata["etag"] for entity in stored]


def test_mixed(table):
    for row in ("delete", "merge", "replace", "upsert merge", "upsert replace"):
        table.create_entity(keyed(row, Old=1))
    table.submit_transaction(
        [
            ("create", keyed("create", New=1)),
            ("delete", keyed("delete")),
            ("update", keyed("merge", New=1), {"mode": UpdateMode.MERGE}),
            ("update", keyed("replace", New=1), {"mode": UpdateMode.REPLACE}),
            ("upsert", keyed("upsert merge", New=1), {"mode": UpdateMode.MERGE}),
            ("upsert", keyed("upsert new", New=1), {"mode": UpdateMode.MERGE}),
            ("upsert", keyed("upsert replace", New=1), {"mode": UpdateMode.REPLACE}),
        ]
    )
    merged = {"merge", "upsert merge"}
    assert [dict(entity) for entity in table.list_entities()] == [
        keyed(row, **({"Old": 1, "New": 1} if row in merged else {"New": 1}))
        for row in ("create", "merge", "replace", "upsert merge", "upsert new", "upsert replace")
    ]


FAILURES = {
    "existing entity": (("create", keyed("there")), 409, "EntityAlreadyExists"),
    "missing entity": (("update", keyed("nowhere")), 404, "ResourceNotFound"),
    "delete of missing entity": (("delete", keyed("nowhere")), 404, "ResourceNotFound"),
    "stale merge": (("update", keyed("there"), {"mode": "merge"}), 412, "UpdateConditionNotSatisfied"),
    "stale replace": (("update", keyed("there"), {"mode": "replace"}), 412, "UpdateConditionNotSatisfied"),
    "stale delete": (("delete", keyed("there")), 412, "UpdateConditionNotSatisfied"),
    "row twice": (("upsert", keyed("new")), 400, "InvalidDuplicateRow"),
    "value too large": (("create", keyed("large", A="x" * 32769)), 400, "PropertyValueTooLarge"),
    "key out of range": (("create", keyed("a/b")), 400, "OutOfRangeInput"),
}


@pytest.mark.parametrize("failing, status, code", FAILURES.values(), ids=FAILURES.keys())
def test_failure_rolls_back(table, failing, status, code):
    stale = table.create_entity(keyed("there", A=1))["etag"]
    table.update_entity(keyed("there", A=1))
    before = table.create_entity(keyed("victim"))["etag"]
    if status == 412:
        condition = {"etag": stale, "match_condition": UNMODIFIED}
        failing = (*failing[:2], {**(failing[2] if len(failing) > 2 else {}), **condition})
    steps = [
        ("create", keyed("new")),
        ("update", keyed("victim", A=2)),
        ("upsert", keyed("newer"), {"mode": UpdateMode.REPLACE}),
        failing,
        ("create", keyed("newest")),
    ]
    with refused(status, code, TableTransactionError) as caught:
        table.submit_transaction(steps)
    assert caught.value.index == 3
    assert rows(table.list_entities()) == ["there", "victim"]
    assert table.get_entity("p", "victim").metadata["etag"] == before


def test_more_than_a_hundred(table):
    with refused(400, "InvalidInput", TableTransactionError) as caught:
        table.submit_transaction(creates(101))
    assert caught.value.index == 99
    assert rows(table.list_entities()) == []


def test_different_partitions_are_refused_by_the_sdk(table):
    with pytest.raises(ValueError, match="Partition Keys in the batch must all be the same"):
        table.submit_transaction([("create", keyed("r")), ("create", keyed("r", partition="q"))])


def test_missing_table(missing_table):
    with refused(404, "TableNotFound", TableTransactionError):
        missing_table.submit_transaction(creates(2))


def test_empty(table):
    assert table.submit_transaction([]) == []  # what the SDK makes of the service's 400, and of nothing else


def test_conditions(table):
    etags = {row: table.create_entity(keyed(row, A=1))["etag"] for row in ("delete", "merge", "replace")}

    def steps(*names):
        condition = {name: {"etag": etags[name], "match_condition": UNMODIFIED} for name in names}
        kinds = {"merge": {"mode": "merge"}, "replace": {"mode": "replace"}, "delete": {}}
        return [
            ("delete" if name == "delete" else "update", keyed(name, A=2), {**kinds[name], **condition[name]})
            for name in names
        ]

    answers = table.submit_transaction(steps("merge", "replace", "delete"))
    assert [dict(entity) for entity in table.list_entities()] == [keyed("merge", A=2), keyed("replace", A=2)]
    assert answers[0]["etag"] == table.get_entity("p", "merge").metadata["etag"]
    with refused(412, "UpdateConditionNotSatisfied", TableTransactionError):
        table.submit_transaction(steps("merge", "replace"))


def sized(characters):
    """A hundred entities of that many characters each, in two properties."""
    half = "x" * (characters // 2)
    return [("upsert", keyed(f"{n:04}", A=half, B=half), {"mode": "replace"}) for n in range(100)]


def test_large(table):
    table.submit_transaction(sized(40_000))  # just below 4 MiB with the framing
    assert [len(entity["B"]) for entity in table.list_entities()] == [20_000] * 100
    with refused(413, "RequestBodyTooLarge", RequestTooLargeError):
        table.submit_transaction(sized(43_000))
