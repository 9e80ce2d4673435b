from datetime import datetime, timezone

import pytest
from azure.data.tables import TableAccessPolicy

from expect import refused

START, END = datetime(2021, 6, 8, 2, 10, 9, tzinfo=timezone.utc), datetime(2041, 6, 8, tzinfo=timezone.utc)
FULL = {"start": START, "expiry": END, "permission": "raud"}


def policies(table):
    """What is stored, with absent parts left out."""
    found = {}
    for name, policy in table.get_table_access_policy().items():
        parts = {part: getattr(policy, part) for part in FULL} if policy else {}
        found[name] = {part: value for part, value in parts.items() if value}
    return found


def store(table, wanted):
    table.set_table_access_policy({name: TableAccessPolicy(**parts) if parts else None for name, parts in wanted.items()})


STORED = {
    "one": {"full": FULL},
    "five": {
        "e": {},
        "d": {"permission": "r"},
        "c": {"start": START, "expiry": END},
        "full": FULL,
        "<&> 'é' \"": {"permission": "ud", "expiry": START},
    },
    "expired": {"old": {"start": START, "expiry": START, "permission": "r"}},
    "id of 64": {"i" * 64: FULL},
    "none": {},
}


@pytest.mark.parametrize("wanted", STORED.values(), ids=STORED.keys())
def test_set_and_get(service, table, name, wanted):
    assert policies(table) == {}
    store(table, {"before": FULL})
    store(table, wanted)
    assert list(policies(table)) == list(wanted)  # in their order
    assert policies(table) == wanted
    assert policies(service.get_table_client(name.upper())) == wanted


# As a policy may also be written: dates, minutes, fractions and other zones than UTC.
TIMES = {
    "2031-06-08": datetime(2031, 6, 8, tzinfo=timezone.utc),
    "2031-06-08T02:10Z": datetime(2031, 6, 8, 2, 10, tzinfo=timezone.utc),
    "2031-06-08T02:10:09.1234567Z": datetime(2031, 6, 8, 2, 10, 9, 123456, tzinfo=timezone.utc),  # SDK: microseconds
    "2031-06-08T02:10:09+01:00": datetime(2031, 6, 8, 1, 10, 9, tzinfo=timezone.utc),
}


@pytest.mark.parametrize("text, meaning", TIMES.items(), ids=TIMES.keys())
def test_times(table, text, meaning):
    store(table, {"id": {"start": text, "expiry": "2041-01-01", "permission": "r"}})
    assert policies(table)["id"]["start"] == meaning


def test_gone_with_the_table(service, table, name):
    store(table, {"full": FULL})
    service.delete_table(name)
    assert policies(service.create_table(name)) == {}


REFUSED = {
    "id of 65": {"i" * 65: FULL},
    "no id": {"": FULL},
    "permission of blobs": {"id": {"permission": "rw"}},
    "no time": {"id": {"start": "yesterday", "permission": "r"}},
}


@pytest.mark.parametrize("wanted", REFUSED.values(), ids=REFUSED.keys())
def test_refused(table, wanted):
    store(table, {"kept": FULL})
    with refused(400, "InvalidXmlDocument"):
        store(table, wanted)
    assert policies(table) == {"kept": FULL}


def test_six(table):
    answers = []
    store(table, {"kept": FULL})
    six = {name: TableAccessPolicy(**FULL) for name in "abcdef"}
    with pytest.raises(ValueError):  # what the SDK makes of the answer
        table.set_table_access_policy(six, raw_response_hook=lambda reply: answers.append(reply.http_response))
    assert [(a.status_code, a.headers["x-ms-error-code"]) for a in answers] == [(400, "InvalidXmlDocument")]
    assert policies(table) == {"kept": FULL}


def test_missing_table(missing_table):
    with refused(404, "TableNotFound"):
        missing_table.get_table_access_policy()
    with refused(404, "TableNotFound"):
        store(missing_table, {"full": FULL})
