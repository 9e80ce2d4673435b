package main

import (
	"io"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

func request(head, body string) []byte { return append(frames(nil).addText(head), body...) }

func TestRequest(t *testing.T) {
	t.Parallel()
	const url = "https://acme.table.example.com/people(PartitionKey='a%2Fb',RowKey='..')?x='%41'"
	var r incoming
	// Reading the second request must leave no data of the first one.
	for range 2 {
		if err := r.read(request("MERGE\n"+url+"\n::ffff:192.0.2.7\nbusy\n5\nx-ms-date:now: or so\nx-http-method:PUT, MERGE", "{ } \n")); err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		if r.Method != "MERGE" || r.Scheme != "https" || r.Host != "acme.table.example.com" || r.Target != "/people(PartitionKey='a%2Fb',RowKey='..')?x='%41'" ||
			r.Source != netip.MustParseAddr("192.0.2.7") || r.refusal != "busy" || r.ContentLength != 5 || string(body) != "{ } \n" {
			t.Errorf("%+v with body %q", r.Request, body)
		}
		if got := r.Header.Get("X-Ms-Date"); got != "now: or so" {
			t.Errorf("X-Ms-Date is %q", got)
		}
		if got := r.Header.Values("X-Http-Method"); !slices.Equal(got, []string{"PUT", " MERGE"}) {
			t.Errorf("X-Http-Method is %q", got)
		}
	}
	if err := r.read(request("GET\nhttp://host\nunknown\n\n0", "")); err != nil {
		t.Fatal(err)
	}
	if r.Target != "/" || r.Host != "host" || r.Source.IsValid() || r.refusal != "" || r.Body != nil || r.Header.Get("X-Ms-Date") != "" || r.Header.Values("X-Http-Method") != nil {
		t.Errorf("%+v", r.Request)
	}
	if err := r.read(request("GET\nhttp://host?a\n\n\n-1", "")); err != nil || r.Target != "/?a" || r.ContentLength != -1 || r.Body == nil {
		t.Errorf("%+v, %v", r.Request, err)
	}
}

func TestBrokenRequests(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ bytes, why string }{
		{"", "nothing"},
		{"\x01\x00\x00", "half a length"},
		{"\x02\x00\x00\x00G", "less than is told"},
		{"\xff\xff\xff\xff", "more than a slice can have here"},
		{string(request("GET\nhttp://host/\n", "")), "lines are missing"},
		{string(request("GET\nhttp://host/\n\n\nmany", "")), "a length that is no number"},
		{string(request("GET\n/\n\n\n0", "")), "no URL"},
	} {
		var r incoming
		if err := r.read([]byte(tt.bytes)); err == nil {
			t.Errorf("%s: read as %+v", tt.why, r.Request)
		}
	}
}

func FuzzRequest(f *testing.F) {
	f.Add(request("MERGE\nhttps://host/t?x\n192.0.2.7\n\n5\na:b\na:c", "{ } \n"))
	f.Add(request("GET\nhttp://host\n\nbusy\n-1", ""))
	f.Fuzz(func(t *testing.T, b []byte) {
		var r incoming
		if r.read(b) == nil && (!strings.HasPrefix(r.Target, "/") || r.Header == nil) {
			t.Errorf("%+v", r.Request)
		}
	})
}
