package multipart_test

import (
	"bufio"
	"bytes"
	"io"
	stdmultipart "mime/multipart"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	mp "edgetable/core/multipart"
)

// TestAppendChangeset compares the response to a changeset with the bytes that the service sends. The changeset has
// an insert without content and a merge. The bytes must be equal, because clients split the text at line ends and
// empty lines.
func TestAppendChangeset(t *testing.T) {
	t.Parallel()
	got := mp.AppendChangeset([]byte("kept|"), "batchresponse_377b", "changesetresponse_349f", []mp.Response{
		{Status: 204, Header: mp.Header{
			{"X-Content-Type-Options", "nosniff"}, {"Cache-Control", "no-cache"}, {"Preference-Applied", "return-no-content"},
			{"DataServiceVersion", "3.0;"}, {"Location", "https://acct.table.core.windows.net/t(PartitionKey='p',RowKey='1')"},
			{"ETag", `W/"datetime'2022-04-13T19%3A29%3A04.5774705Z'"`}}},
		{Status: 204, Header: mp.Header{{"DataServiceVersion", "1.0;"}}},
	})
	want := "kept|" + crlf(`--batchresponse_377b
Content-Type: multipart/mixed; boundary=changesetresponse_349f

--changesetresponse_349f
Content-Type: application/http
Content-Transfer-Encoding: binary

HTTP/1.1 204 No Content
X-Content-Type-Options: nosniff
Cache-Control: no-cache
Preference-Applied: return-no-content
DataServiceVersion: 3.0;
Location: https://acct.table.core.windows.net/t(PartitionKey='p',RowKey='1')
ETag: W/"datetime'2022-04-13T19%3A29%3A04.5774705Z'"


--changesetresponse_349f
Content-Type: application/http
Content-Transfer-Encoding: binary

HTTP/1.1 204 No Content
DataServiceVersion: 1.0;


--changesetresponse_349f--
--batchresponse_377b--
`)
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

// TestAppendChangesetFailure checks that a failed changeset gives a single part with a body, and no empty line after
// the body.
func TestAppendChangesetFailure(t *testing.T) {
	t.Parallel()
	got := mp.AppendChangeset(nil, "batchresponse_377b", "changesetresponse_349f", []mp.Response{
		{Status: 409, Header: mp.Header{{"DataServiceVersion", "3.0;"}}, Body: []byte(`{"odata.error":{}}`)},
	})
	want := crlf(`--batchresponse_377b
Content-Type: multipart/mixed; boundary=changesetresponse_349f

--changesetresponse_349f
Content-Type: application/http
Content-Transfer-Encoding: binary

HTTP/1.1 409 Conflict
DataServiceVersion: 3.0;

{"odata.error":{}}
--changesetresponse_349f--
--batchresponse_377b--
`)
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

// TestAppendQuery checks that a batch of one query has no changeset level.
func TestAppendQuery(t *testing.T) {
	t.Parallel()
	got := mp.AppendQuery(nil, "batchresponse_363d", mp.Response{
		Status: 200, Header: mp.Header{{"DataServiceVersion", "3.0;"}, {"Cache-Control", "no-cache"}}, Body: []byte(`{"PartitionKey":"p"}`),
	})
	want := crlf(`--batchresponse_363d
Content-Type: application/http
Content-Transfer-Encoding: binary

HTTP/1.1 200 OK
DataServiceVersion: 3.0;
Cache-Control: no-cache

{"PartitionKey":"p"}
--batchresponse_363d--
`)
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

// TestAppendOneLine checks that a line end inside a value cannot create a header or a part.
func TestAppendOneLine(t *testing.T) {
	t.Parallel()
	got := mp.AppendQuery(nil, "b", mp.Response{Status: 204, Header: mp.Header{{"Location", "/t\r\nX: 1\n--b--"}}})
	if !bytes.Contains(got, []byte("\r\nLocation: /t  X: 1 --b--\r\n\r\n")) {
		t.Errorf("%q", got)
	}
	got = mp.AppendBatch(nil, "b", "c", &mp.Batch{Parts: changeset(mp.Operation{Method: "PUT", Target: "/t\r\nX: 1"})})
	if !bytes.Contains(got, []byte("PUT /t  X: 1 HTTP/1.1\r\n\r\n")) {
		t.Errorf("%q", got)
	}
}

// TestGoClientReadsResponse reads responses as the Go SDK does, with nested mime/multipart readers and
// http.ReadResponse. Every status must have a reason phrase that http.ReadResponse accepts.
func TestGoClientReadsResponse(t *testing.T) {
	t.Parallel()
	var parts []mp.Response
	for _, status := range []int{200, 201, 202, 204, 304, 400, 401, 403, 404, 405, 409, 411, 412, 413, 415, 418, 500, 501, 503} {
		r := mp.Response{Status: status, Header: mp.Header{{"DataServiceVersion", "3.0;"}}}
		if status != 204 && status != 304 {
			r.Body = []byte(`{"a":"b"}`)
		}
		parts = append(parts, r)
	}
	body := mp.AppendChangeset(nil, "batchresponse_1", "changesetresponse_2", parts)

	outer := stdmultipart.NewReader(bytes.NewReader(body), "batchresponse_1")
	set, err := outer.NextPart()
	if err != nil {
		t.Fatal(err)
	}
	boundary, err := mp.Boundary(set.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	inner := stdmultipart.NewReader(set, boundary)
	for _, want := range parts {
		part, err := inner.NextPart()
		if err != nil {
			t.Fatal(err)
		}
		if got := part.Header.Get("Content-Type"); got != "application/http" {
			t.Errorf("a part has the type %q", got)
		}
		resp, err := http.ReadResponse(bufio.NewReader(part), nil)
		if err != nil {
			t.Fatalf("%d: %v", want.Status, err)
		}
		got, err := io.ReadAll(resp.Body)
		if err != nil || !bytes.Equal(got, want.Body) || resp.StatusCode != want.Status || resp.Header.Get("DataServiceVersion") != "3.0;" {
			t.Errorf("%d: got %d, %q, %v", want.Status, resp.StatusCode, got, err)
		}
		if text := http.StatusText(want.Status); want.Status != 418 && resp.Status[4:] != text {
			t.Errorf("%d: reason %q, want %q", want.Status, resp.Status, text)
		}
	}
	if _, err := inner.NextPart(); err != io.EOF {
		t.Errorf("after the last part: got %v, want EOF", err)
	}
	if _, err := outer.NextPart(); err != io.EOF {
		t.Errorf("after the changeset: got %v, want EOF", err)
	}
}
