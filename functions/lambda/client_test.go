package main

import (
	"bytes"
	"context"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"edgetable/core/sharedkey"
	"edgetable/testdata/lambda/front"
	"edgetable/testdata/must"
)

// function is a Lambda function that receives events. In production, a service in front of the function converts HTTP
// requests to these events.
type function struct {
	invoke func(ctx context.Context, event []byte) ([]byte, error)
	stream bool
}

// client sends signed requests to a function, for the account acme.
type client struct {
	function
	key    *sharedkey.Key
	base   string // first part of all paths
	accept string
	header []front.Field // headers of every request
}

func newClient(t testing.TB, f function, key string) *client {
	t.Helper()
	k, err := sharedkey.ParseKey(key)
	must.OK(t, err)
	return &client{function: f, key: k, base: "/acme", accept: "application/json;odata=nometadata"}
}

// request returns a signed request for a path within the account. A body that begins with -- is a batch; any other
// body is JSON.
func (c *client) request(method, target, body string, more ...front.Field) *front.Request {
	date, contentType := sharedkey.FormatDate(time.Now()), "application/json"
	if strings.HasPrefix(body, "--") {
		contentType = "multipart/mixed; boundary=" + strings.TrimPrefix(body[:strings.IndexByte(body, '\r')], "--")
	}
	path, query, _ := strings.Cut(c.base+target, "?")
	signature := c.key.Authorization(sharedkey.SharedKeyLite, "acme", sharedkey.Request{
		Method: method, Path: path, RawQuery: query, ContentType: contentType, XMSDate: date,
	})
	r := &front.Request{
		Method: method, Target: c.base + target, Host: "2cxn22odiwguak4feg4jtt7cwm0ziblr.lambda-url.us-west-2.on.aws",
		Scheme: "https", Source: netip.MustParseAddr("192.0.2.1"), Body: []byte(body),
		Header: append([]front.Field{
			{Name: "x-ms-date", Value: date}, {Name: "x-ms-version", Value: "2020-12-06"},
			{Name: "Accept", Value: c.accept},
			{Name: "Content-Type", Value: contentType}, {Name: "Authorization", Value: signature},
		}, append(c.header, more...)...),
	}
	if body != "" {
		r.Header = append(r.Header, front.Field{Name: "Content-Length", Value: strconv.Itoa(len(body))})
	}
	return r
}

// do sends a request. If the response does not have the expected status, the test fails.
func (c *client) do(t testing.TB, method, target, body string, want int, more ...front.Field) *front.Response {
	t.Helper()
	answer, err := c.invoke(t.Context(), front.Event(c.request(method, target, body, more...)))
	must.OK(t, err)
	read := front.Answer
	if c.stream {
		read = front.Stream
	}
	resp, err := read(answer, time.Now())
	must.OK(t, err)
	if resp.Status != want {
		t.Fatalf("%s %s: status %d, want %d: %s", method, target, resp.Status, want, resp.Body[:min(len(resp.Body), 2000)])
	}
	return resp
}

// session sends the requests of a typical client. It creates a table, writes an entity whose key contains all
// characters that must be escaped, sends a batch, and queries the table.
func (c *client) session(t testing.TB) {
	t.Helper()
	const ada = "/people(PartitionKey='a%25b%20%2B%E4%B8%96',RowKey='it''s%2Done')"
	noContent := front.Field{Name: "Prefer", Value: "return-no-content"}
	c.do(t, "POST", "/Tables", `{"TableName":"people"}`, 204, noContent)
	c.do(t, "PUT", ada, `{"Name":"Ada","Born":"1815-12-10T00:00:00Z","Born@odata.type":"Edm.DateTime"}`, 204)
	got := string(c.do(t, "GET", ada, "", 200).Body)
	if !strings.Contains(got, `"PartitionKey":"a%b +\u4e16","RowKey":"it's-one"`) || !strings.Contains(got, `"Name":"Ada"`) {
		t.Errorf("the entity is %s", got)
	}
	if got := c.do(t, "POST", "/$batch", batch(100, "v"), 202).Body; bytes.Count(got, []byte("HTTP/1.1 204")) != 100 {
		t.Errorf("the batch: %.500s", got)
	}
	got = string(c.do(t, "GET", "/people()?$filter=PartitionKey%20eq%20'batch'%20and%20RowKey%20lt%20'r010'&$select=RowKey,V", "", 200).Body)
	if strings.Count(got, `"V":"v"`) != 10 {
		t.Errorf("the query: %s", got)
	}
	c.do(t, "DELETE", ada, "", 204, front.Field{Name: "If-Match", Value: "*"})
	c.do(t, "GET", ada, "", 404)
}

// batch returns a batch that inserts n entities with one property.
func batch(n int, value string) string {
	var b strings.Builder
	b.WriteString("--batch_1\r\nContent-Type: multipart/mixed; boundary=changeset_1\r\n\r\n")
	for i := range n {
		fmt.Fprintf(&b, "--changeset_1\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"+
			"PUT https://host/acme/people(PartitionKey='batch',RowKey='r%03d') HTTP/1.1\r\n"+
			"Content-Type: application/json\r\n\r\n{\"V\":%q}\r\n", i, value)
	}
	b.WriteString("--changeset_1--\r\n--batch_1--\r\n")
	return b.String()
}
