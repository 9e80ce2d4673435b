package multipart_test

import (
	"strings"

	mp "edgetable/core/multipart"
)

// client is an example of a batch from one client library. If several libraries write the same form, they share an
// example.
type client struct {
	name        string
	contentType string
	body        string
	want        []mp.Part
}

func crlf(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }

func changeset(ops ...mp.Operation) []mp.Part {
	return []mp.Part{{Changeset: true, Operations: ops}}
}

// clients holds an example for each form of batch. All examples contain similar transactions. Each example has the form
// of an SDK's output, with invented hosts, ids and versions.
var clients = []client{
	{
		name:        "Go: Content-Transfer-Encoding first, canonical header names, Content-Length, blank line after the changeset",
		contentType: "multipart/mixed; boundary=batch_0b2d39dc-9a1e-4b8f-8a3f-3f5f5f3a3c11",
		body: crlf(`--batch_0b2d39dc-9a1e-4b8f-8a3f-3f5f5f3a3c11
Content-Type: multipart/mixed; boundary=changeset_6f3c9a1e-0b2d-49dc-9a1e-4b8f8a3f3f5f

--changeset_6f3c9a1e-0b2d-49dc-9a1e-4b8f8a3f3f5f
Content-Transfer-Encoding: binary
Content-Type: application/http

POST https://acct.table.core.windows.net/t?%24format=application%2Fjson%3Bodata%3Dminimalmetadata HTTP/1.1
Accept: application/json;odata=minimalmetadata
Content-Length: 39
Content-Type: application/json
Dataserviceversion: 3.0
Prefer: return-no-content
X-Ms-Version: 2019-02-02

{"PartitionKey":"p","RowKey":"1","A":1}
--changeset_6f3c9a1e-0b2d-49dc-9a1e-4b8f8a3f3f5f
Content-Transfer-Encoding: binary
Content-Type: application/http

DELETE https://acct.table.core.windows.net/t%28PartitionKey=%27p%27,RowKey=%272%27%29 HTTP/1.1
Accept: application/json;odata=minimalmetadata
If-Match: *


--changeset_6f3c9a1e-0b2d-49dc-9a1e-4b8f8a3f3f5f--

--batch_0b2d39dc-9a1e-4b8f-8a3f-3f5f5f3a3c11--
`),
		want: changeset(mp.Operation{
			Method: "POST", Target: "https://acct.table.core.windows.net/t?%24format=application%2Fjson%3Bodata%3Dminimalmetadata",
			Header: mp.Header{{"Accept", "application/json;odata=minimalmetadata"}, {"Content-Length", "39"}, {"Content-Type", "application/json"},
				{"Dataserviceversion", "3.0"}, {"Prefer", "return-no-content"}, {"X-Ms-Version", "2019-02-02"}},
			Body: []byte(`{"PartitionKey":"p","RowKey":"1","A":1}`),
		}, mp.Operation{
			Method: "DELETE", Target: "https://acct.table.core.windows.net/t%28PartitionKey=%27p%27,RowKey=%272%27%29",
			Header: mp.Header{{"Accept", "application/json;odata=minimalmetadata"}, {"If-Match", "*"}},
		}),
	},
	{
		name:        "Python: MIME Content-ID, a date and a version in each part, percent signs in the body",
		contentType: "multipart/mixed; boundary=batch_357de4f7-6d0b-4e02-8cd2-6361411a9525",
		body: crlf(`--batch_357de4f7-6d0b-4e02-8cd2-6361411a9525
Content-Type: multipart/mixed; boundary=changeset_a7c3b3ac-29f7-4b72-9f6e-1d3f3d3d9c01

--changeset_a7c3b3ac-29f7-4b72-9f6e-1d3f3d3d9c01
Content-Type: application/http
Content-Transfer-Encoding: binary
Content-ID: 0

PATCH https://acct.table.core.windows.net/t(PartitionKey='p',RowKey='%25') HTTP/1.1
x-ms-version: 2019-02-02
DataServiceVersion: 3.0
If-Match: W/"datetime'2022-04-13T19%3A29%3A04.5774705Z'"
Content-Type: application/json
Content-Length: 43
x-ms-date: Mon, 27 Jun 2016 15:25:14 GMT
Date: Mon, 27 Jun 2016 15:25:14 GMT

{"PartitionKey":"p","RowKey":"%","A":"%2F"}
--changeset_a7c3b3ac-29f7-4b72-9f6e-1d3f3d3d9c01--

--batch_357de4f7-6d0b-4e02-8cd2-6361411a9525--
`),
		want: changeset(mp.Operation{
			Method: "PATCH", Target: "https://acct.table.core.windows.net/t(PartitionKey='p',RowKey='%25')",
			Header: mp.Header{{"x-ms-version", "2019-02-02"}, {"DataServiceVersion", "3.0"}, {"If-Match", `W/"datetime'2022-04-13T19%3A29%3A04.5774705Z'"`},
				{"Content-Type", "application/json"}, {"Content-Length", "43"}, {"x-ms-date", "Mon, 27 Jun 2016 15:25:14 GMT"}, {"Date", "Mon, 27 Jun 2016 15:25:14 GMT"}},
			Body: []byte(`{"PartitionKey":"p","RowKey":"%","A":"%2F"}`),
		}),
	},
	{
		name:        "JavaScript: lower-case names, blank line before the changeset, extra line end before the body, none after the batch",
		contentType: "multipart/mixed; boundary=batch_c5e7a7a0-7f0e-4e0e-9d5f-33c4d2f0d9aa",
		body: crlf(`--batch_c5e7a7a0-7f0e-4e0e-9d5f-33c4d2f0d9aa
content-type: multipart/mixed; boundary=changeset_c5e7a7a0-7f0e-4e0e-9d5f-33c4d2f0d9aa


--changeset_c5e7a7a0-7f0e-4e0e-9d5f-33c4d2f0d9aa
content-type: application/http
content-transfer-encoding: binary

POST https://acct.table.core.windows.net/t HTTP/1.1
accept: application/json;odata=minimalmetadata
content-type: application/json;odata=nometadata
prefer: return-no-content


{"PartitionKey":"p","RowKey":"1"}
--changeset_c5e7a7a0-7f0e-4e0e-9d5f-33c4d2f0d9aa
content-type: application/http
content-transfer-encoding: binary

DELETE https://acct.table.core.windows.net/t(PartitionKey='p',RowKey='2') HTTP/1.1
if-match: *



--changeset_c5e7a7a0-7f0e-4e0e-9d5f-33c4d2f0d9aa--
--batch_c5e7a7a0-7f0e-4e0e-9d5f-33c4d2f0d9aa--`),
		want: changeset(mp.Operation{
			Method: "POST", Target: "https://acct.table.core.windows.net/t",
			Header: mp.Header{{"accept", "application/json;odata=minimalmetadata"}, {"content-type", "application/json;odata=nometadata"}, {"prefer", "return-no-content"}},
			Body:   []byte(`{"PartitionKey":"p","RowKey":"1"}`),
		}, mp.Operation{
			Method: "DELETE", Target: "https://acct.table.core.windows.net/t(PartitionKey='p',RowKey='2')",
			Header: mp.Header{{"if-match", "*"}},
		}),
	},
	{
		name:        ".NET: quoted boundary, Host in parts, no Content-Length",
		contentType: `multipart/mixed; boundary="batch_5f1b1a7c-3c0a-4d24-8f2b-2f9b7e0d1a10"`,
		body: crlf(`--batch_5f1b1a7c-3c0a-4d24-8f2b-2f9b7e0d1a10
Content-Type: multipart/mixed; boundary="changeset_77a7b2d1-2a6d-4f06-9a46-7d7b0f3b8c22"

--changeset_77a7b2d1-2a6d-4f06-9a46-7d7b0f3b8c22
Content-Type: application/http
Content-Transfer-Encoding: binary

PUT https://acct.table.core.windows.net/t(PartitionKey='p',RowKey='1')?$format=application%2Fjson%3Bodata%3Dminimalmetadata HTTP/1.1
Host: acct.table.core.windows.net
Accept: application/json
Content-Type: application/json

{"PartitionKey":"p","RowKey":"1","B":"--not a delimiter {"}
--changeset_77a7b2d1-2a6d-4f06-9a46-7d7b0f3b8c22--

--batch_5f1b1a7c-3c0a-4d24-8f2b-2f9b7e0d1a10--
`),
		want: changeset(mp.Operation{
			Method: "PUT", Target: "https://acct.table.core.windows.net/t(PartitionKey='p',RowKey='1')?$format=application%2Fjson%3Bodata%3Dminimalmetadata",
			Header: mp.Header{{"Host", "acct.table.core.windows.net"}, {"Accept", "application/json"}, {"Content-Type", "application/json"}},
			Body:   []byte(`{"PartitionKey":"p","RowKey":"1","B":"--not a delimiter {"}`),
		}),
	},
	{
		name:        "legacy Node: bare LF, the same id twice, MERGE, Content-ID in the inner head from the second on",
		contentType: "multipart/mixed; charset=\"utf-8\"; boundary=batch_9f6d5a52b9a84c0d",
		body: `--batch_9f6d5a52b9a84c0d
content-type: multipart/mixed;charset="utf-8";boundary=changeset_9f6d5a52b9a84c0d

--changeset_9f6d5a52b9a84c0d
content-type: application/http
content-transfer-encoding: binary

POST https://acct.table.core.windows.net:443/t HTTP/1.1
content-type: application/json;type=entry
content-length: 33

{"PartitionKey":"p","RowKey":"1"}
--changeset_9f6d5a52b9a84c0d
content-type: application/http
content-transfer-encoding: binary

MERGE https://acct.table.core.windows.net:443/t(PartitionKey=%27p%27,RowKey=%272%27) HTTP/1.1
content-id: 1
if-match: *

{"PartitionKey":"p","RowKey":"2"}
--changeset_9f6d5a52b9a84c0d--
--batch_9f6d5a52b9a84c0d--`,
		want: changeset(mp.Operation{
			Method: "POST", Target: "https://acct.table.core.windows.net:443/t",
			Header: mp.Header{{"content-type", "application/json;type=entry"}, {"content-length", "33"}},
			Body:   []byte(`{"PartitionKey":"p","RowKey":"1"}`),
		}, mp.Operation{
			Method: "MERGE", Target: "https://acct.table.core.windows.net:443/t(PartitionKey=%27p%27,RowKey=%272%27)",
			Header: mp.Header{{"content-id", "1"}, {"if-match", "*"}},
			Body:   []byte(`{"PartitionKey":"p","RowKey":"2"}`),
		}),
	},
	{
		name:        "legacy Node: a batch of one query, without changeset and without final --",
		contentType: "multipart/mixed; charset=\"utf-8\"; boundary=batch_1f",
		body: `--batch_1f
content-type: application/http
content-transfer-encoding: binary

GET https://acct.table.core.windows.net/t(PartitionKey=%27p%27,RowKey=%272%27) HTTP/1.1
accept: application/json;odata=minimalmetadata

--batch_1f
`,
		want: []mp.Part{{Operations: []mp.Operation{{
			Method: "GET", Target: "https://acct.table.core.windows.net/t(PartitionKey=%27p%27,RowKey=%272%27)",
			Header: mp.Header{{"accept", "application/json;odata=minimalmetadata"}},
		}}}},
	},
	{
		name:        "the documentation's sample: Atom, preamble, raw blank in the target, path without host, unclosed batch, epilogue",
		contentType: "multipart/mixed; boundary=batch_a1e9",
		body: "preamble\n" + crlf(`--batch_a1e9
Content-Type: multipart/mixed; boundary=changeset_8a28

--changeset_8a28
Content-Type: application/http
Content-Transfer-Encoding: binary

PUT /t(PartitionKey='Channel_17', RowKey='3') HTTP/1.1
Content-Type: application/atom+xml;type=entry
Content-ID: 3

<?xml version="1.0" encoding="utf-8"?>
<entry/>

--changeset_8a28--
--batch_a1e9

`),
		want: changeset(mp.Operation{
			Method: "PUT", Target: "/t(PartitionKey='Channel_17', RowKey='3')",
			Header: mp.Header{{"Content-Type", "application/atom+xml;type=entry"}, {"Content-ID", "3"}},
			Body:   []byte("<?xml version=\"1.0\" encoding=\"utf-8\"?>\r\n<entry/>\r\n"),
		}),
	},
}
