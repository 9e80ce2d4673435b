package payload_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/payload"
	"edgetable/core/table"
)

func ticks(t *testing.T, text string) edm.Ticks {
	t.Helper()
	d, err := edm.ParseDateTime(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func view(f payload.Format, names ...string) payload.View {
	v := payload.View{Format: f, Base: "https://acct.table.core.windows.net/", Account: "acct", Table: "mytable"}
	if names != nil {
		v.Select = payload.NewProjection(names, strings.Join(names, ","))
	}
	return v
}

// selectAll returns a view that selects all properties. text is the value of $select in the request, which the metadata
// of the response repeats.
func selectAll(f payload.Format, text string) payload.View {
	v := view(f)
	v.Select = payload.NewProjection(nil, text)
	return v
}

const (
	root = `"odata.metadata":"https://acct.table.core.windows.net/$metadata#mytable/@Element`
	etag = `"odata.etag":"W/\"datetime'2020-09-17T02%3A10%3A24.910481Z'\""`
	when = "2020-09-17T02:10:24.910481Z"
)

// sample returns properties of all types, and their JSON without and with type annotations.
func sample() (p edm.Properties, none, typed string) {
	p = edm.AppendProperty(p, "age", edm.Int32(39))
	p = edm.AppendProperty(p, "big", edm.Int64(933311100))
	p = edm.AppendProperty(p, "when", edm.DateTime(621_963_360_000_000_000))
	p = edm.AppendProperty(p, "bin", edm.Binary([]byte("binary")))
	p = edm.AppendProperty(p, "id", edm.Guid([16]byte{0xc9, 0xda, 0x64, 0x55, 0x21, 0x3d, 0x42, 0xc9, 0x9a, 0x79, 0x3e, 0x91, 0x49, 0xa5, 0x78, 0x33}))
	p = edm.AppendProperty(p, "ratio", edm.Double(3))
	p = edm.AppendProperty(p, "nan", edm.Double(math.NaN()))
	p = edm.AppendProperty(p, "down", edm.Double(math.Inf(-1)))
	p = edm.AppendProperty(p, "ok", edm.Boolean(true))
	p = edm.AppendProperty(p, "text", edm.String("a\"b"))
	none = `"age":39,"big":"933311100","when":"1971-12-05T00:00:00Z","bin":"YmluYXJ5","id":"c9da6455-213d-42c9-9a79-3e9149a57833","ratio":3.0,"nan":"NaN","down":"-Infinity","ok":true,"text":"a\"b"`
	typed = `"age":39,"big@odata.type":"Edm.Int64","big":"933311100","when@odata.type":"Edm.DateTime","when":"1971-12-05T00:00:00Z","bin@odata.type":"Edm.Binary","bin":"YmluYXJ5","id@odata.type":"Edm.Guid","id":"c9da6455-213d-42c9-9a79-3e9149a57833","ratio":3.0,"nan@odata.type":"Edm.Double","nan":"NaN","down@odata.type":"Edm.Double","down":"-Infinity","ok":true,"text":"a\"b"`
	return p, none, typed
}

func TestAppendEntity(t *testing.T) {
	t.Parallel()
	p, none, typed := sample()
	ts := ticks(t, when)
	const (
		keys = `"PartitionKey":"p","RowKey":"r",`
		time = `"Timestamp":"` + when + `"`
		full = `"odata.type":"acct.mytable","odata.id":"https://acct.table.core.windows.net/mytable(PartitionKey='p',RowKey='r')",` + etag + `,"odata.editLink":"mytable(PartitionKey='p',RowKey='r')",`
	)
	for _, c := range []struct {
		why  string
		view payload.View
		want string
	}{
		{"values alone", view(payload.NoMetadata), `{` + keys + time + `,` + none + `}`},
		{"types JSON lacks, but none for Timestamp", view(payload.Minimal), `{` + root + `",` + etag + `,` + keys + time + `,` + typed + `}`},
		{"everything", view(payload.Full), `{` + root + `",` + full + keys + `"Timestamp@odata.type":"Edm.DateTime",` + time + `,` + typed + `}`},
		{"system properties only if listed", view(payload.NoMetadata, "ok", "age"), `{"age":39,"ok":true}`},
		{"a listed property the entity lacks is null", view(payload.NoMetadata, "gone", "ok", "away"), `{"ok":true,"gone":null,"away":null}`},
		{"system properties are never null", view(payload.NoMetadata, "Timestamp", "RowKey", "PartitionKey"), `{` + keys + time + `}`},
		{"the ETag stays under a projection", view(payload.Minimal, "big"), `{` + root + `&$select=big",` + etag + `,"big@odata.type":"Edm.Int64","big":"933311100"}`},
		{"only nulls", view(payload.Minimal, "gone"), `{` + root + `&$select=gone",` + etag + `,"gone":null}`},
		{"annotations under a projection", view(payload.Full, "Timestamp"), `{` + root + `&$select=Timestamp",` + full + `"Timestamp@odata.type":"Edm.DateTime",` + time + `}`},
		{"a star is everything, and told", selectAll(payload.Minimal, "age, *"), `{` + root + `&$select=age,%20*",` + etag + `,` + keys + time + `,` + typed + `}`},
		{"so is nothing", selectAll(payload.Minimal, " "), `{` + root + `&$select=",` + etag + `,` + keys + time + `,` + typed + `}`},
		{"and characters that are not of URIs", selectAll(payload.Minimal, "a,größe\t"), `{` + root + `&$select=a,gr%C3%B6%C3%9Fe",` + etag + `,` + keys + time + `,` + typed + `}`},
		{"names listed twice", view(payload.Minimal, "age", "x", "age", "x"), `{` + root + `&$select=age,x,age,x",` + etag + `,"age":39,"x":null}`},
	} {
		if got := string(c.view.AppendEntity(nil, "p", "r", ts, p)); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.why, got, c.want)
		}
	}
	v := view(payload.NoMetadata)
	if got := string(v.AppendEntity(nil, "", "", ts, nil)); got != `{"PartitionKey":"","RowKey":"",`+time+`}` {
		t.Errorf("empty keys and no properties: %s", got)
	}
}

// TestLargeProjection checks projections whose number of names is near one of two limits. With more than 8 names, a
// Projection looks up names in a map. With more than 256 names, an array on the stack is too short.
func TestLargeProjection(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 8, 9, 255, 256, 257, 1000} {
		var p edm.Properties
		var names []string
		for i := range n {
			names = append(names, fmt.Sprintf("p%d", i))
			if i%2 == 0 {
				p = edm.AppendProperty(p, names[i], edm.Int32(int32(i)))
			}
			p = edm.AppendProperty(p, fmt.Sprintf("q%d", i), edm.Boolean(true))
		}
		v := view(payload.NoMetadata, names...)
		var got map[string]*int
		if err := json.Unmarshal(v.AppendEntity(nil, "p", "r", 0, p), &got); err != nil {
			t.Fatal(err)
		}
		for i, name := range names {
			value, ok := got[name]
			if !ok || (value != nil) != (i%2 == 0) || value != nil && *value != i {
				t.Errorf("%d names: %s is %v, %v", n, name, value, ok)
			}
		}
		if len(got) != n {
			t.Errorf("%d names: %d members", n, len(got))
		}
	}
}

func TestFeeds(t *testing.T) {
	t.Parallel()
	ts := ticks(t, when)
	p := edm.AppendProperty(nil, "a", edm.Int32(1))
	const meta = `{"odata.metadata":"https://acct.table.core.windows.net/$metadata#mytable`
	for _, c := range []struct {
		why  string
		view payload.View
		n    int
		want string
	}{
		{"empty", view(payload.NoMetadata), 0, `{"value":[]}`},
		{"empty with metadata", view(payload.Minimal), 0, meta + `","value":[]}`},
		{"entities have no metadata of their own", view(payload.Minimal, "a"), 2, meta + `&$select=a","value":[{` + etag + `,"a":1},{` + etag + `,"a":1}]}`},
		{"values alone", view(payload.NoMetadata, "a", "b"), 3, `{"value":[{"a":1,"b":null},{"a":1,"b":null},{"a":1,"b":null}]}`},
	} {
		body := c.view.AppendFeedStart(nil)
		for i := range c.n {
			body = c.view.AppendFeedEntity(body, i, "p", "r", ts, p)
		}
		if got := string(c.view.AppendFeedEnd(body)); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.why, got, c.want)
		}
	}
}

func TestTables(t *testing.T) {
	t.Parallel()
	const (
		base = "http://127.0.0.1:10002/acct/"
		meta = `"odata.metadata":"` + base + `$metadata#Tables`
		full = `"odata.type":"acct.Tables","odata.id":"` + base + `Tables('a')","odata.editLink":"Tables('a')","TableName":"a"`
	)
	for _, c := range []struct {
		format      payload.Format
		entry, feed string
	}{
		{payload.NoMetadata, `{"TableName":"a"}`, `{"value":[{"TableName":"a"},{"TableName":"a"}]}`},
		{payload.Minimal, `{` + meta + `/@Element","TableName":"a"}`, `{` + meta + `","value":[{"TableName":"a"},{"TableName":"a"}]}`},
		{payload.Full, `{` + meta + `/@Element",` + full + `}`, `{` + meta + `","value":[{` + full + `},{` + full + `}]}`},
	} {
		v := payload.View{Format: c.format, Base: base, Account: "acct", Table: "Tables"}
		if got := string(v.AppendTable(nil, "a")); got != c.entry {
			t.Errorf("entry:\n got %s\nwant %s", got, c.entry)
		}
		feed := v.AppendFeedStart(nil)
		feed = v.AppendFeedTable(feed, 0, "a")
		feed = v.AppendFeedTable(feed, 1, "a")
		if got := string(v.AppendFeedEnd(feed)); got != c.feed {
			t.Errorf("feed:\n got %s\nwant %s", got, c.feed)
		}
	}
}

func TestAppendError(t *testing.T) {
	t.Parallel()
	now := ticks(t, "2022-01-24T20:59:46.2887Z")
	for _, c := range []struct {
		why  string
		err  *table.Error
		want string
	}{
		{"time has seven digits", table.ResourceNotFound.Err(), `{"odata.error":{"code":"ResourceNotFound","message":{"lang":"en-US","value":"The specified resource does not exist.\nRequestId:f991\nTime:2022-01-24T20:59:46.2887000Z"}}}`},
		{"index of the operation", table.EntityAlreadyExists.Err().WithIndex(2), `{"odata.error":{"code":"EntityAlreadyExists","message":{"lang":"en-US","value":"2:The specified entity already exists.\nRequestId:f991\nTime:2022-01-24T20:59:46.2887000Z"}}}`},
		{"index 0 is an index", table.EntityAlreadyExists.Err().WithIndex(0), `{"odata.error":{"code":"EntityAlreadyExists","message":{"lang":"en-US","value":"0:The specified entity already exists.\nRequestId:f991\nTime:2022-01-24T20:59:46.2887000Z"}}}`},
		{"what the sender wrote is escaped", table.InvalidInput.With("\"ä\n\xff"), `{"odata.error":{"code":"InvalidInput","message":{"lang":"en-US","value":"\"\u00e4\n\ufffd\nRequestId:f991\nTime:2022-01-24T20:59:46.2887000Z"}}}`},
	} {
		got := string(payload.Minimal.AppendError(nil, c.err, "f991", now))
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.why, got, c.want)
		}
	}
}

func TestEscaping(t *testing.T) {
	t.Parallel()
	v := view(payload.NoMetadata, "a")
	for _, c := range []struct{ why, in, want string }{
		{"nothing", "", ``},
		{"ASCII stays", "aZ09 /'<>&\x7f~", "aZ09 /'<>&\x7f~"},
		{"quote and backslash", `"\`, `\"\\`},
		{"short escapes", "\b\f\n\r\t", `\b\f\n\r\t`},
		{"other controls", "\x00\x1f\x0b", `\u0000\u001f\u000b`},
		{"lower-case digits", "äÿ", `\u00e4\u00ff`},
		{"up to U+FFFF one escape", "\u0080\uffff\ud7ff\ue000", `\u0080\uffff\ud7ff\ue000`},
		{"two beyond", "\U00010000😀\U0010ffff", `\ud800\udc00\ud83d\ude00\udbff\udfff`},
		{"not UTF-8", "a\xffb\xc3", `a\ufffdb\ufffd`},
	} {
		// Put each string at every offset in a word of eight bytes. The code under test checks eight bytes at a time.
		for pad := range 9 {
			before, after := strings.Repeat("x", pad), strings.Repeat("y", 8-pad)
			p := edm.AppendProperty(nil, "a", edm.String(before+c.in+after))
			got := string(v.AppendEntity(nil, "", "", 0, p))
			if want := `{"a":"` + before + c.want + after + `"}`; got != want {
				t.Errorf("%s after %d bytes: got %s, want %s", c.why, pad, got, want)
			}
		}
	}
	p := edm.AppendProperty(nil, "Имя", edm.Int64(1))
	all := view(payload.Minimal, "Имя")
	if got := string(all.AppendFeedEntity(nil, 0, "", "", ticks(t, when), p)); got != `{`+etag+`,"\u0418\u043c\u044f@odata.type":"Edm.Int64","\u0418\u043c\u044f":"1"}` {
		t.Errorf("name: %s", got)
	}
}

func TestURIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ why, pk, rk, want string }{
		{"plain", "p", "r", `B/T(PartitionKey='p',RowKey='r')`},
		{"empty", "", "", `B/T(PartitionKey='',RowKey='')`},
		{"unreserved stay", "aZ09-._~", "r", `B/T(PartitionKey='aZ09-._~',RowKey='r')`},
		{"quotes are doubled", "O'Br", "''", `B/T(PartitionKey='O''Br',RowKey='''''')`},
		{"UTF-8", "ô", "😀", `B/T(PartitionKey='%C3%B4',RowKey='%F0%9F%98%80')`},
		{"percent is data", "%20", "%27", `B/T(PartitionKey='%2520',RowKey='%2527')`},
		{"braces, quotes and brackets would confuse clients", `{"}`, "(,)=", `B/T(PartitionKey='%7B%22%7D',RowKey='%28%2C%29%3D')`},
		{"blank and plus", "a b", "a+b", `B/T(PartitionKey='a%20b',RowKey='a%2Bb')`},
	} {
		if got := string(payload.AppendEntityURI(nil, "B/", "T", c.pk, c.rk)); got != c.want {
			t.Errorf("%s: got %s, want %s", c.why, got, c.want)
		}
	}
	if got := string(payload.AppendTableURI(nil, "B/", "mytable")); got != "B/Tables('mytable')" {
		t.Errorf("table: %s", got)
	}
}

func TestContentType(t *testing.T) {
	t.Parallel()
	for f, want := range map[payload.Format]string{
		payload.NoMetadata: "application/json;odata=nometadata;streaming=true;charset=utf-8",
		payload.Minimal:    "application/json;odata=minimalmetadata;streaming=true;charset=utf-8",
		payload.Full:       "application/json;odata=fullmetadata;streaming=true;charset=utf-8",
		payload.Atom:       "application/atom+xml;type=entry;charset=utf-8",
	} {
		if got := f.ContentType(false); got != want {
			t.Errorf("%d: %s", f, got)
		}
		if f == payload.Atom {
			if got := f.ContentType(true); got != "application/atom+xml;type=feed;charset=utf-8" {
				t.Errorf("feed: %s", got)
			}
			want = "application/xml;charset=utf-8"
		}
		if got := f.ErrorContentType(); got != want {
			t.Errorf("%d: errors as %s", f, got)
		}
	}
}

// TestWritingDoesNotAllocate checks that writing entities does not allocate, because responses may be large and
// frequent.
func TestWritingDoesNotAllocate(t *testing.T) {
	p, _, _ := sample()
	p = edm.AppendProperty(p, "long", edm.String(strings.Repeat("ä\n\"😀", 1000)))
	dst := make([]byte, 0, 1<<17)
	ts := ticks(t, when)
	for _, f := range []payload.Format{payload.Full, payload.Atom} {
		v := view(f, "big", "text", "long", "gone", "a1", "a2", "a3", "a4", "a5", "a6", "a7")
		all := view(f)
		if n := testing.AllocsPerRun(100, func() {
			dst = v.AppendFeedStart(dst[:0])
			dst = v.AppendFeedEntity(dst, 0, "p'ä", "r", ts, p)
			dst = all.AppendFeedEntity(dst, 1, "p'ä", "r", ts, p)
			dst = v.AppendFeedEnd(dst)
			dst = payload.AppendETag(dst, ts)
		}); n != 0 {
			t.Errorf("%d: %v allocations", f, n)
		}
	}
}
