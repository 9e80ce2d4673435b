package payload_test

import (
	"fmt"
	"strings"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/payload"
	"edgetable/core/table"
)

const (
	atomStart = `<?xml version="1.0" encoding="utf-8" standalone="yes"?>
<entry xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" xmlns="http://www.w3.org/2005/Atom">
  <title /><updated>2008-09-18T23:46:19.3857256Z</updated><author><name /></author><id />
  <content type="application/xml">
    <m:properties>`
	atomEnd = `
    </m:properties>
  </content>
</entry>`
)

func TestReadAtomEntityTypes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ why, properties, want string }{
		{"nothing", ``, ""},
		{"no type is String", `<d:a>x</d:a><d:b m:type="Edm.String">y</d:b>`, "a=String(x) b=String(y)"},
		{"digits without a type are a String", `<d:a>5</d:a>`, "a=String(5)"},
		{"an empty element is an empty String", `<d:a/><d:b></d:b>`, "a=String() b=String()"},
		{"null is an absent property", `<d:a m:null="true" /><d:b m:null="1">x</d:b><d:c m:type="Edm.Int32" m:null="true"/>`, ""},
		{"not null", `<d:a m:null="false">x</d:a><d:b m:null='0'/>`, "a=String(x) b=String()"},
		{"null without the namespace says nothing", `<d:a null="true">x</d:a>`, "a=String(x)"},
		{"nor does such a type", `<d:a type="Edm.Int32">x</d:a>`, "a=String(x)"},
		{"integers", `<d:a m:type="Edm.Int32">-5</d:a><d:b m:type="Edm.Int64">9223372036854775807</d:b>`, "a=Int32(-5) b=Int64(9223372036854775807)"},
		{"Boolean in all spellings", `<d:a m:type="Edm.Boolean">true</d:a><d:b m:type="Edm.Boolean">0</d:b><d:c m:type="Edm.Boolean">1</d:c><d:e m:type="Edm.Boolean">False</d:e>`, "a=Boolean(true) b=Boolean(false) c=Boolean(true) e=Boolean(false)"},
		{"Double", `<d:a m:type="Edm.Double">5</d:a><d:b m:type="Edm.Double">1E-05</d:b>`, "a=Double(5.0) b=Double(1E-05)"},
		{"what is not finite, by XML Schema and by .NET", `<d:a m:type="Edm.Double">NaN</d:a><d:b m:type="Edm.Double">INF</d:b><d:c m:type="Edm.Double">-INF</d:c><d:e m:type="Edm.Double">Infinity</d:e><d:f m:type="Edm.Double">-Infinity</d:f>`,
			"a=Double(NaN) b=Double(Infinity) c=Double(-Infinity) e=Double(Infinity) f=Double(-Infinity)"},
		{"DateTime without a zone is UTC", `<d:a m:type="Edm.DateTime">2008-07-10T00:00:00</d:a><d:b m:type="Edm.DateTime">2008-07-10T00:00:00.1234567+01:00</d:b>`, "a=DateTime(2008-07-10T00:00:00Z) b=DateTime(2008-07-09T23:00:00.1234567Z)"},
		{"Guid", `<d:a m:type="Edm.Guid">C9DA6455-213d-42c9-9a79-3e9149a57833</d:a>`, "a=Guid(c9da6455-213d-42c9-9a79-3e9149a57833)"},
		{"Binary", `<d:a m:type="Edm.Binary">AQID</d:a><d:b m:type="Edm.Binary"/>`, "a=Binary(AQID) b=Binary()"},
		{"white space around a value says nothing", "<d:a m:type=\"Edm.Int32\">\r\n\t 7 </d:a><d:b m:type='Edm.Binary'> AQID\n</d:b>", "a=Int32(7) b=Binary(AQID)"},
		{"but all of a String is kept", "<d:a xml:space='preserve'> x\n</d:a><d:b>\t</d:b><d:c m:type='Edm.String'> </d:c>", "a=String( x\n) b=String(\t) c=String( )"},
		{"line ends are line feeds, references are what they say", "<d:a>1\r\n2\r3&#xD;&#xA;</d:a>", "a=String(1\n2\n3\r\n)"},
		{"entities, CDATA and comments", `<d:a>&lt;b&gt;<![CDATA[&amp;<]]><!-- no -->&#x1F600;</d:a>`, "a=String(<b>&amp;<😀)"},
		{"Timestamp is the server's", `<d:Timestamp m:type="Edm.DateTime">0001-01-01T00:00:00</d:Timestamp>`, ""},
		{"even a nonsensical one", `<d:Timestamp m:type="Edm.Int32">x</d:Timestamp>`, ""},
		{"names of any script differ by case", `<d:A/><d:a/><d:Имя>1</d:Имя>`, "A=String() a=String() Имя=String(1)"},
		{"elements of other namespaces are no properties", `<a>x</a><m:b>y</m:b><c xmlns=""><d:e>z</d:e></c><d:f/>`, "f=String()"},
		{"the namespace counts, not the prefix", `<x:a xmlns:x="http://schemas.microsoft.com/ado/2007/08/dataservices" xmlns:y="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" y:type="Edm.Int32">1</x:a><d:b xmlns:d="z"/>`, "a=Int32(1)"},
		{"properties in the default namespace", `<a xmlns="http://schemas.microsoft.com/ado/2007/08/dataservices">x</a>`, "a=String(x)"},
	} {
		e, err := payload.ReadAtomEntity([]byte(atomStart + c.properties + atomEnd))
		if err != nil {
			t.Errorf("%s: %s: %v", c.why, c.properties, err)
		} else if got := dump(e.Properties); got != c.want {
			t.Errorf("%s: %s:\n got %s\nwant %s", c.why, c.properties, got, c.want)
		}
	}
}

func TestReadAtomEntityKeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why, body, pk, rk string
		hasPK, hasRK      bool
	}{
		{why: "both", body: atomStart + `<d:PartitionKey>p</d:PartitionKey><d:RowKey>r</d:RowKey>` + atomEnd, pk: "p", rk: "r", hasPK: true, hasRK: true},
		{why: "other order, typed, with references and white space", body: atomStart + `<d:RowKey m:type="Edm.String"> &amp;</d:RowKey><d:PartitionKey>&lt; </d:PartitionKey>` + atomEnd, pk: "< ", rk: " &", hasPK: true, hasRK: true},
		{why: "empty keys are keys", body: atomStart + `<d:PartitionKey /><d:RowKey></d:RowKey>` + atomEnd, hasPK: true, hasRK: true},
		{why: "null is absent", body: atomStart + `<d:PartitionKey m:null="true" /><d:RowKey>r</d:RowKey>` + atomEnd, rk: "r", hasRK: true},
		{why: "without declaration and content", body: `<entry xmlns="http://www.w3.org/2005/Atom"/>`},
		{why: "properties beside the content, as of media", body: `<a:entry xmlns:a="http://www.w3.org/2005/Atom"><a:content src="x"/><properties xmlns="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"><RowKey xmlns="http://schemas.microsoft.com/ado/2007/08/dataservices">r</RowKey></properties></a:entry>`, rk: "r", hasRK: true},
		{why: "properties anywhere else are none", body: `<entry xmlns="http://www.w3.org/2005/Atom"><id><properties xmlns="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"><RowKey xmlns="http://schemas.microsoft.com/ado/2007/08/dataservices">r</RowKey></properties></id></entry>`},
		{why: "byte order mark and a comment at the end", body: "\uFEFF" + atomStart + `<d:RowKey>r</d:RowKey>` + atomEnd + "\r\n<!-- -->", rk: "r", hasRK: true},
	} {
		e, err := payload.ReadAtomEntity([]byte(c.body))
		if err != nil || e.PartitionKey != c.pk || e.RowKey != c.rk || e.HasPartitionKey != c.hasPK || e.HasRowKey != c.hasRK || e.Properties != nil {
			t.Errorf("%s: got %+v, %v", c.why, e, err)
		}
	}
}

func TestReadAtomEntityRefuses(t *testing.T) {
	t.Parallel()
	many := func(n int, element string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(element, "N", fmt.Sprintf("p%d", i)))
		}
		return b.String()
	}
	const (
		unreadable = "An error occurred while processing this request."
		malformed  = unreadable + " Malformed XML at byte "
	)
	for _, c := range []struct {
		why, properties string
		code            table.Code
		message         string
	}{
		{"unknown type, as in JSON", `<d:a m:type="Edm.Single">1</d:a>`, table.InvalidInput, unreadable + " The property 'a' is annotated with the unknown type 'Edm.Single': use an Edm type such as Edm.Int64."},
		{"no type at all", `<d:a m:type="">1</d:a>`, table.InvalidInput, unreadable},
		{"no Int32", `<d:a m:type="Edm.Int32">x</d:a>`, table.InvalidInput, unreadable + " The value of 'a' is not an Int32"},
		{"an empty Int32", `<d:a m:type="Edm.Int32"/>`, table.InvalidInput, unreadable},
		{"no DateTime", `<d:a m:type="Edm.DateTime">today</d:a>`, table.InvalidInput, unreadable},
		{"DateTime before 1601", `<d:a m:type="Edm.DateTime">0001-01-01T00:00:00</d:a>`, table.OutOfRangeInput, "The 'a' parameter of value '01/01/0001 00:00:00' is out of range."},
		{"null of a third kind", `<d:a m:null="yes">1</d:a>`, table.InvalidInput, unreadable + " The m:null of 'a'"},
		{"an element as a value", `<d:a><d:b/></d:a>`, table.InvalidInput, unreadable + " The value of 'a' contains an XML element"},
		{"key of another type", `<d:RowKey m:type="Edm.Int32">1</d:RowKey>`, table.InvalidInput, "One of the request inputs is not valid. The RowKey is not a string."},
		{"name twice", `<d:a>1</d:a><d:b/><d:a>1</d:a>`, table.DuplicatePropertiesSpecified, "A property is specified more than one time."},
		{"name twice in a row", `<d:a>1</d:a><d:a>1</d:a>`, table.DuplicatePropertiesSpecified, ""},
		{"name twice, once null", `<d:a m:null="true"/><d:a>1</d:a>`, table.DuplicatePropertiesSpecified, ""},
		{"key twice", `<d:RowKey>1</d:RowKey><d:RowKey>1</d:RowKey>`, table.DuplicatePropertiesSpecified, ""},
		{"a name of XML that is none of a property", `<d:a-b>1</d:a-b>`, table.PropertyNameInvalid, "The property name is invalid. Name: 'a-b'."},
		{"name of 256 characters", `<d:` + strings.Repeat("a", 256) + `/>`, table.PropertyNameTooLong, ""},
		{"253 properties", many(253, `<d:N/>`), table.TooManyProperties, ""},
		{"nulls without end", many(1000, `<d:N m:null="true"/>`), table.TooManyProperties, ""},
		{"String of 32769 characters", `<d:a>` + strings.Repeat("x", 32769) + `</d:a>`, table.PropertyValueTooLarge, ""},
		{"Binary of 65538 bytes", `<d:a m:type="Edm.Binary">` + strings.Repeat("AAAA", 21846) + `</d:a>`, table.PropertyValueTooLarge, ""},
		{"end tag of another element", `<d:a></d:b>`, table.InvalidInput, malformed},
		{"reference to NUL", `<d:a>&#0;</d:a>`, table.InvalidInput, malformed},
		{"prefix without a namespace", `<e:a/>`, table.InvalidInput, malformed},
		{"nested without end", strings.Repeat("<a>", 10_000), table.InvalidInput, malformed},
		{"cut off", `<!--`, table.InvalidInput, malformed},
	} {
		e, err := payload.ReadAtomEntity([]byte(atomStart + c.properties + atomEnd))
		demand(t, c.why, err, c.code, c.message)
		if e.Properties != nil || e.HasRowKey {
			t.Errorf("%s: returned %+v with an error", c.why, e)
		}
	}
	for why, body := range map[string]string{
		"no body":            "",
		"JSON":               `{"PartitionKey":"p"}`,
		"feed":               `<feed xmlns="http://www.w3.org/2005/Atom"/>`,
		"entry of nothing":   `<entry/>`,
		"entities":           `<!DOCTYPE entry [<!ENTITY a "b">]><entry xmlns="http://www.w3.org/2005/Atom"/>`,
		"behind the entry":   `<entry xmlns="http://www.w3.org/2005/Atom"/>x`,
		"cut off at the end": strings.TrimSuffix(atomStart+atomEnd, "</entry>"),
	} {
		_, err := payload.ReadAtomEntity([]byte(body))
		demand(t, why, err, table.InvalidInput, unreadable)
	}
}

// TestReadAtomEntityLimits checks that an entity exactly within the limits is accepted, and shares no memory with the
// body.
func TestReadAtomEntityLimits(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(atomStart + `<d:PartitionKey>p</d:PartitionKey><d:RowKey>&#114;</d:RowKey><d:n m:null="true"/><d:Timestamp/>`)
	for i := range 252 {
		fmt.Fprintf(&b, `<d:p%d>&amp;%d</d:p%d>`, i, i, i)
	}
	b.WriteString(atomEnd)
	body := []byte(b.String())
	e, err := payload.ReadAtomEntity(body)
	if err != nil {
		t.Fatal(err)
	}
	clear(body)
	if n := e.Properties.Count(); n != 252 || e.PartitionKey != "p" || e.RowKey != "r" {
		t.Errorf("%d properties of %q, %q", n, e.PartitionKey, e.RowKey)
	}
	for i := range 252 {
		if v, ok := e.Properties.Lookup(fmt.Sprintf("p%d", i)); !ok || v != edm.String(fmt.Sprintf("&%d", i)) {
			t.Fatalf("p%d is %v", i, v)
		}
	}
	long := strings.Repeat("€", 32768)
	e, err = payload.ReadAtomEntity([]byte(atomStart + `<d:a>` + long + `</d:a>` + atomEnd))
	if v, _ := e.Properties.Lookup("a"); err != nil || v.Text() != long {
		t.Errorf("32768 characters: %d bytes, %v", len(v.Text()), err)
	}
}

func TestReadAtomTableName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why, properties, name string
		ok, fail              bool
	}{
		{why: "plain", properties: `<d:TableName>mytable</d:TableName>`, name: "mytable", ok: true},
		{why: "other elements are ignored", properties: `<d:a/><d:TableName>t&#97;b</d:TableName>`, name: "tab", ok: true},
		{why: "empty is given", properties: `<d:TableName/>`, ok: true},
		{why: "absent"},
		{why: "null", properties: `<d:TableName m:null="true"/>`},
		{why: "names have a case", properties: `<d:tablename>x</d:tablename>`},
		{why: "twice", properties: `<d:TableName>a</d:TableName><d:TableName>b</d:TableName>`, fail: true},
		{why: "syntax", properties: `<d:TableName>`, fail: true},
	} {
		body := []byte(atomStart + c.properties + atomEnd)
		name, ok, err := payload.ReadAtomTableName(body)
		clear(body)
		if name != c.name || ok != c.ok || (err != nil) != c.fail {
			t.Errorf("%s: %q, %v, %v", c.why, name, ok, err)
		}
	}
}
