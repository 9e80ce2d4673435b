package workerd_test

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"edgetable/core/sharedkey"
	"edgetable/testdata/edge/workerd"
)

// request is a request to the Worker, signed by the account acme.
type request struct {
	method     string
	account    string // account in the path; "" means acme
	target     string // the rest of the path, and the query
	kind, body string
	header     []string // each has the form "name: value"
}

func (r request) send(ctx context.Context, s *workerd.Server, c *http.Client) (*http.Response, string, error) {
	resp, err := r.open(ctx, s, c)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	return resp, string(answer), err
}

// open sends the request. The caller must read and close the body of the response.
func (r request) open(ctx context.Context, s *workerd.Server, c *http.Client) (*http.Response, error) {
	key, err := sharedkey.ParseKey("c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0IDEyMzQ=")
	if err != nil {
		return nil, err
	}
	if r.account == "" {
		r.account = "acme"
	}
	target := "/" + r.account + r.target
	req, err := http.NewRequestWithContext(ctx, r.method, s.Worker+target, strings.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	path, query, _ := strings.Cut(target, "?")
	signed := sharedkey.Request{Method: r.method, Path: path, RawQuery: query, ContentType: r.kind, XMSDate: sharedkey.FormatDate(time.Now())}
	for name, value := range map[string]string{
		"x-ms-date": signed.XMSDate, "x-ms-version": "2019-02-02", "Accept": "application/json;odata=nometadata",
		"Authorization": key.Authorization(sharedkey.SharedKeyLite, "acme", signed),
	} {
		req.Header.Set(name, value)
	}
	if r.kind != "" {
		req.Header.Set("Content-Type", r.kind)
	}
	if r.method == http.MethodDelete {
		req.Header.Set("If-Match", "*")
	}
	for _, h := range r.header {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	return c.Do(req)
}

// following returns the query parameters that request the next page. After the last page, it returns "".
func following(page *http.Response) string {
	partition, row := page.Header.Get("x-ms-continuation-NextPartitionKey"), page.Header.Get("x-ms-continuation-NextRowKey")
	if partition == "" {
		return ""
	}
	return "NextPartitionKey=" + url.QueryEscape(partition) + "&NextRowKey=" + url.QueryEscape(row)
}
