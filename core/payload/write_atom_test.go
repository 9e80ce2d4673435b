package payload_test

import (
	"encoding/xml"
	"errors"
	"math"
	"strings"
	"testing"
	"unicode"

	"edgetable/core/edm"
	"edgetable/core/payload"
	"edgetable/core/table"
)

const (
	atomSpaces = ` xml:base="https://acct.table.core.windows.net/" xmlns="http://www.w3.org/2005/Atom" xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" xmlns:georss="http://www.georss.org/georss" xmlns:gml="http://www.opengis.net/gml"`
	atomHead   = `<?xml version="1.0" encoding="utf-8"?>`
	atomETag   = ` m:etag="W/&quot;datetime'2020-09-17T02%3A10%3A24.910481Z'&quot;"`
	atomScheme = `scheme="http://schemas.microsoft.com/ado/2007/08/dataservices/scheme" />`
	atomOpen   = `<title /><updated>2022-01-24T20:59:46Z</updated><author><name /></author><content type="application/xml"><m:properties>`
	atomEntry  = atomETag + `><id>https://acct.table.core.windows.net/mytable(PartitionKey='p',RowKey='r')</id><category term="acct.mytable" ` + atomScheme +
		`<link rel="edit" title="mytable" href="mytable(PartitionKey='p',RowKey='r')" />` + atomOpen
	atomClose = `</m:properties></content></entry>`
)

func atomView(t *testing.T, names ...string) payload.View {
	v := view(payload.Atom, names...)
	v.Now = ticks(t, "2022-01-24T20:59:46.9999999Z") // the fraction .9999999 must not appear in <updated>
	return v
}

func TestAppendAtomEntity(t *testing.T) {
	t.Parallel()
	p, _, _ := sample()
	p = edm.AppendProperty(p, "up", edm.Double(math.Inf(1)))
	p = edm.AppendProperty(p, "blank", edm.String("\r\n x"))
	p = edm.AppendProperty(p, "none", edm.String(""))
	const (
		keys = `<d:PartitionKey>p</d:PartitionKey><d:RowKey>r</d:RowKey>`
		time = `<d:Timestamp m:type="Edm.DateTime">` + when + `</d:Timestamp>`
		all  = `<d:age m:type="Edm.Int32">39</d:age><d:big m:type="Edm.Int64">933311100</d:big><d:when m:type="Edm.DateTime">1971-12-05T00:00:00Z</d:when>` +
			`<d:bin m:type="Edm.Binary">YmluYXJ5</d:bin><d:id m:type="Edm.Guid">c9da6455-213d-42c9-9a79-3e9149a57833</d:id><d:ratio m:type="Edm.Double">3</d:ratio>` +
			`<d:nan m:type="Edm.Double">NaN</d:nan><d:down m:type="Edm.Double">-INF</d:down><d:ok m:type="Edm.Boolean">true</d:ok><d:text>a"b</d:text>` +
			`<d:up m:type="Edm.Double">INF</d:up><d:blank xml:space="preserve">` + "&#xD;\n x" + `</d:blank><d:none></d:none>`
	)
	for _, c := range []struct {
		why  string
		view payload.View
		want string
	}{
		{"all types", atomView(t), keys + time + all},
		{"system properties only if listed", atomView(t, "ok", "age"), `<d:age m:type="Edm.Int32">39</d:age><d:ok m:type="Edm.Boolean">true</d:ok>`},
		{"a listed property the entity lacks is null", atomView(t, "gone", "none"), `<d:none></d:none><d:gone m:null="true" />`},
		{"system properties are never null", atomView(t, "Timestamp", "RowKey", "PartitionKey"), keys + time},
	} {
		want := atomHead + `<entry` + atomSpaces + atomEntry + c.want + atomClose
		if got := string(c.view.AppendEntity(nil, "p", "r", ticks(t, when), p)); got != want {
			t.Errorf("%s:\n got %s\nwant %s", c.why, got, want)
		}
		if err := c.view.Err(); err != nil {
			t.Errorf("%s: %v", c.why, err)
		}
	}
}

func TestAtomFeeds(t *testing.T) {
	t.Parallel()
	const feed = atomHead + `<feed` + atomSpaces + `><id>https://acct.table.core.windows.net/mytable</id><title type="text">mytable</title>` +
		`<updated>2022-01-24T20:59:46Z</updated><link rel="self" title="mytable" href="mytable" />`
	entry := `<entry` + atomEntry + `<d:a m:type="Edm.Int32">1</d:a>` + atomClose
	p := edm.AppendProperty(nil, "a", edm.Int32(1))
	for n, want := range []string{feed + `<author><name /></author></feed>`, feed + entry + `</feed>`, feed + entry + entry + `</feed>`} {
		v := atomView(t, "a")
		body := v.AppendFeedStart(nil)
		for i := range n {
			body = v.AppendFeedEntity(body, i, "p", "r", ticks(t, when), p)
		}
		if got := string(v.AppendFeedEnd(body)); got != want {
			t.Errorf("%d entities:\n got %s\nwant %s", n, got, want)
		}
	}
}

func TestAtomTables(t *testing.T) {
	t.Parallel()
	const entry = `><id>https://acct.table.core.windows.net/Tables('a')</id><category term="acct.Tables" ` + atomScheme +
		`<link rel="edit" title="Tables" href="Tables('a')" />` + atomOpen + `<d:TableName>a</d:TableName>` + atomClose
	v := atomView(t)
	v.Table = "Tables"
	if got, want := string(v.AppendTable(nil, "a")), atomHead+`<entry`+atomSpaces+entry; got != want {
		t.Errorf("entry:\n got %s\nwant %s", got, want)
	}
	feed := v.AppendFeedStart(nil)
	feed = v.AppendFeedTable(feed, 0, "a")
	feed = v.AppendFeedTable(feed, 1, "a")
	want := atomHead + `<feed` + atomSpaces + `><id>https://acct.table.core.windows.net/Tables</id><title type="text">Tables</title>` +
		`<updated>2022-01-24T20:59:46Z</updated><link rel="self" title="Tables" href="Tables" /><entry` + entry + `<entry` + entry + `</feed>`
	if got := string(v.AppendFeedEnd(feed)); got != want {
		t.Errorf("feed:\n got %s\nwant %s", got, want)
	}
}

// TestAtomEscapes checks that special characters are escaped in every text of a document.
func TestAtomEscapes(t *testing.T) {
	t.Parallel()
	v := payload.View{Format: payload.Atom, Base: `http://h/"<&>'/`, Account: `a"<`, Table: `t"<&`}
	p := edm.AppendProperty(nil, "Имя", edm.String("<&>]]>\"'"))
	body := v.AppendFeedEnd(v.AppendFeedEntity(v.AppendFeedStart(nil), 0, `p'"<&`, "r ä", 0, p))
	var feed struct {
		Base  string `xml:"http://www.w3.org/XML/1998/namespace base,attr"`
		ID    string `xml:"id"`
		Entry struct {
			ID   string `xml:"id"`
			Link struct {
				Title string `xml:"title,attr"`
				Href  string `xml:"href,attr"`
			} `xml:"link"`
			Category struct {
				Term string `xml:"term,attr"`
			} `xml:"category"`
			Name string `xml:"content>properties>Имя"`
			PK   string `xml:"content>properties>PartitionKey"`
		} `xml:"entry"`
	}
	if err := xml.Unmarshal(body, &feed); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	const keys = `(PartitionKey='p''%22%3C%26',RowKey='r%20%C3%A4')`
	for got, want := range map[string]string{
		feed.Base: v.Base, feed.ID: v.Base + v.Table, feed.Entry.ID: v.Base + v.Table + keys, feed.Entry.Link.Title: v.Table,
		feed.Entry.Link.Href: v.Table + keys, feed.Entry.Category.Term: `a"<.t"<&`, feed.Entry.Name: "<&>]]>\"'", feed.Entry.PK: `p'"<&`,
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if v.Err() != nil {
		t.Error(v.Err())
	}
}

// TestAtomCannotHold checks that a character that XML cannot represent gives an error, and that the body is valid XML
// nevertheless.
func TestAtomCannotHold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why, pk string
		p       edm.Properties
		names   []string
		lost    bool
	}{
		{why: "NUL", p: edm.AppendProperty(nil, "a", edm.String("x\x00")), lost: true},
		{why: "U+FFFE behind others", p: edm.AppendProperty(nil, "a", edm.String("äöü12345678\uFFFE")), lost: true},
		{why: "not UTF-8", p: edm.AppendProperty(nil, "a", edm.String("\xff")), lost: true},
		{why: "a key", pk: "\uFFFF", lost: true},
		{why: "a name of JSON that is none of XML", p: edm.AppendProperty(nil, "µ", edm.Int32(1)), lost: true},
		{why: "such a name selected", names: []string{"µ"}, lost: true},
		{why: "a name that would be markup", names: []string{"a><b"}, lost: true},
		{why: "what is not selected does not matter", p: edm.AppendProperty(nil, "a", edm.String("\x00")), names: []string{"b"}},
		{why: "white space, U+FFFD and C1 are fine", p: edm.AppendProperty(nil, "a", edm.String("\t\r\n\uFFFD\u0085"))},
		{why: "any bytes are Binary", p: edm.AppendProperty(nil, "a", edm.Binary([]byte{0, 1, 255}))},
	} {
		v := atomView(t, c.names...)
		body := v.AppendFeedEntity(v.AppendFeedStart(nil), 0, c.pk, "r", 0, c.p)
		body = v.AppendFeedEnd(v.AppendFeedEntity(body, 1, "p", "r", 0, nil))
		err := v.Err()
		var e *table.Error
		if (err != nil) != c.lost || c.lost && (!errors.As(err, &e) || e.Code != table.InvalidInput || !strings.Contains(e.Message, "JSON")) {
			t.Errorf("%s: %v", c.why, err)
		}
		if err := xml.Unmarshal(body, new(struct{})); err != nil {
			t.Errorf("%s: %s: %v", c.why, body, err)
		}
		j := view(payload.Full, c.names...)
		if j.AppendEntity(nil, c.pk, "r", 0, c.p); j.Err() != nil {
			t.Errorf("%s: JSON fails too: %v", c.why, j.Err())
		}
	}
}

func TestAppendXMLErrors(t *testing.T) {
	t.Parallel()
	now := ticks(t, "2022-01-24T20:59:46.2887Z")
	const tail = "\nRequestId:f991\nTime:2022-01-24T20:59:46.2887000Z"
	for _, c := range []struct {
		why       string
		err       *table.Error
		code, msg string
	}{
		{"time has seven digits", table.TableNotFound.Err(), "TableNotFound", "The table specified does not exist."},
		{"index of the operation", table.InvalidInput.Err().WithIndex(0), "InvalidInput", "0:One of the request inputs is not valid."},
		{"what the sender wrote is escaped", table.InvalidInput.With("<&>\x00\xff\r"), "InvalidInput", "&lt;&amp;&gt;\uFFFD\uFFFD&#xD;"},
	} {
		want := atomHead + `<error xmlns="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"><code>` + c.code +
			`</code><message xml:lang="en-US">` + c.msg + tail + `</message></error>`
		if got := string(payload.Atom.AppendError(nil, c.err, "f991", now)); got != want {
			t.Errorf("%s:\n got %s\nwant %s", c.why, got, want)
		}
		want = `<?xml version="1.0" encoding="utf-8"?><m:error xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"><m:code>` + c.code +
			`</m:code><m:message xml:lang="en-US">` + c.msg + tail + `</m:message></m:error>`
		if got := string(payload.AppendXMLError(nil, c.err, "f991", now)); got != want {
			t.Errorf("%s:\n got %s\nwant %s", c.why, got, want)
		}
	}
}

// TestPropertyNamesInAtom checks that every property name is a valid name of an XML element, apart from the known
// exceptions.
func TestPropertyNamesInAtom(t *testing.T) {
	t.Parallel()
	for c := rune(0); c <= unicode.MaxRune; c++ {
		for _, name := range []string{string(c), "a" + string(c)} {
			if table.CheckPropertyName(name) != nil {
				continue
			}
			v := payload.View{Format: payload.Atom}
			if v.AppendEntity(nil, "", "", 0, edm.AppendProperty(nil, name, edm.Int32(1))); v.Err() != nil {
				t.Errorf("%q (%U) is valid for a property, but not for an element", name, c)
			}
		}
	}
}
