package payload_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/payload"
	"edgetable/core/table"
	"edgetable/testdata/must"
)

// dump formats properties as name=type(text), in order.
func dump(p edm.Properties) string {
	var b strings.Builder
	for name, v := range p.All() {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%s=%s(%s)", name, strings.TrimPrefix(v.Type().String(), "Edm."), v)
	}
	return b.String()
}

func TestReadEntityTypes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ why, body, want string }{
		{"no members", `{}`, ""},
		{"a true is a Boolean", `{"a":true,"b":false}`, "a=Boolean(true) b=Boolean(false)"},
		{"a whole number is an Int32", `{"a":5,"b":-3,"c":-0}`, "a=Int32(5) b=Int32(-3) c=Int32(0)"},
		{"the ends of Int32", `{"a":2147483647,"b":-2147483648}`, "a=Int32(2147483647) b=Int32(-2147483648)"},
		{"a whole number beyond Int32 is a Double", `{"a":2147483648,"b":-2147483649,"c":5454161346626,"d":9007199254740993}`, "a=Double(2147483648.0) b=Double(-2147483649.0) c=Double(5454161346626.0) d=Double(9007199254740992.0)"},
		{"a fraction makes a Double", `{"a":5.0,"b":1.5}`, "a=Double(5.0) b=Double(1.5)"},
		{"an exponent makes a Double", `{"a":1e3,"b":1E-5,"c":1e+20}`, "a=Double(1000.0) b=Double(1E-05) c=Double(1E+20)"},
		{"a number below the smallest Double is 0", `{"a":1e-400}`, "a=Double(0.0)"},
		{"a string is a String", `{"a":"","b":"x"}`, "a=String() b=String(x)"},
		{"a string of digits is a String", `{"a":"5"}`, "a=String(5)"},
		{"null is an absent property", `{"a":null,"b":1}`, "b=Int32(1)"},
		{"null stays absent whatever its type", `{"a@odata.type":"Edm.Int64","a":null}`, ""},
		{"annotation before its property", `{"a@odata.type":"Edm.Int64","a":"9"}`, "a=Int64(9)"},
		{"annotation after its property", `{"a":"9","a@odata.type":"Edm.Int64"}`, "a=Int64(9)"},
		{"annotation far from its property", `{"a":"9","b":1,"c":2,"a@odata.type":"Edm.Int64"}`, "a=Int64(9) b=Int32(1) c=Int32(2)"},
		{"all annotations first, order is that of the values", `{"b@odata.type":"Edm.Int64","a@odata.type":"Edm.Double","a":1,"b":"2"}`, "a=Double(1.0) b=Int64(2)"},
		{"an annotation without a property says nothing", `{"a@odata.type":"Edm.Int64"}`, ""},
		{"nor does it if its type is unknown", `{"a@odata.type":"Edm.Nothing"}`, ""},
		{"a null annotation is none", `{"a@odata.type":null,"a":1}`, "a=Int32(1)"},
		{"the least Int64", `{"a":"-9223372036854775808","a@odata.type":"Edm.Int64"}`, "a=Int64(-9223372036854775808)"},
		{"Int32 as a string", `{"a":"7","a@odata.type":"Edm.Int32"}`, "a=Int32(7)"},
		{"a whole number annotated as Double", `{"a":1,"a@odata.type":"Edm.Double"}`, "a=Double(1.0)"},
		{"Double as a string, as the JavaScript client sends it", `{"a":"1.0","a@odata.type":"Edm.Double"}`, "a=Double(1.0)"},
		{"what is not finite", `{"a":"NaN","a@odata.type":"Edm.Double","b":"Infinity","b@odata.type":"Edm.Double","c":"-Infinity","c@odata.type":"Edm.Double"}`, "a=Double(NaN) b=Double(Infinity) c=Double(-Infinity)"},
		{"NaN without annotation is a String", `{"a":"NaN"}`, "a=String(NaN)"},
		{"Boolean annotated", `{"a":true,"a@odata.type":"Edm.Boolean","b":"false","b@odata.type":"Edm.Boolean"}`, "a=Boolean(true) b=Boolean(false)"},
		{"String annotated", `{"a":"x","a@odata.type":"Edm.String"}`, "a=String(x)"},
		{"Guid of either case", `{"a":"C9DA6455-213d-42c9-9a79-3e9149a57833","a@odata.type":"Edm.Guid"}`, "a=Guid(c9da6455-213d-42c9-9a79-3e9149a57833)"},
		{"Binary", `{"a":"AQID","a@odata.type":"Edm.Binary","b":"","b@odata.type":"Edm.Binary"}`, "a=Binary(AQID) b=Binary()"},
		{"DateTime without fraction", `{"a":"2013-08-22T00:20:16Z","a@odata.type":"Edm.DateTime"}`, "a=DateTime(2013-08-22T00:20:16Z)"},
		{"DateTime with 7 digits", `{"a":"2013-08-22T00:20:16.1234567Z","a@odata.type":"Edm.DateTime"}`, "a=DateTime(2013-08-22T00:20:16.1234567Z)"},
		{"DateTime with an offset is turned to UTC", `{"a":"2013-08-22T00:20:16+01:00","a@odata.type":"Edm.DateTime"}`, "a=DateTime(2013-08-21T23:20:16Z)"},
		{"DateTime without a zone is UTC", `{"a":"2013-08-22T00:20:16","a@odata.type":"Edm.DateTime"}`, "a=DateTime(2013-08-22T00:20:16Z)"},
		{"the earliest DateTime", `{"a":"1601-01-01T00:00:00Z","a@odata.type":"Edm.DateTime"}`, "a=DateTime(1601-01-01T00:00:00Z)"},
		{"the latest DateTime", `{"a":"9999-12-31T23:59:59.9999999Z","a@odata.type":"Edm.DateTime"}`, "a=DateTime(9999-12-31T23:59:59.9999999Z)"},
		{"an ETag in the body is not stored", `{"odata.etag":"W/\"x\"","odata.type":"a.b","odata.metadata":null,"odata.id":1,"a":1}`, "a=Int32(1)"},
		{"nor are annotations of later OData", `{"@odata.etag":"x","a@odata.context":"y","a":1}`, "a=Int32(1)"},
		{"odata.* may repeat", `{"odata.etag":"1","odata.etag":"2"}`, ""},
		{"Timestamp is the server's", `{"Timestamp":"0001-01-01T00:00:00Z","Timestamp@odata.type":"Edm.DateTime"}`, ""},
		{"even a nonsensical Timestamp", `{"Timestamp":5}`, ""},
		{"names differ by case", `{"A":1,"a":2,"timestamp":3}`, "A=Int32(1) a=Int32(2) timestamp=Int32(3)"},
		{"names of any script", `{"çñ":1,"Имя":2,"_x":3,"名前1":4}`, "çñ=Int32(1) Имя=Int32(2) _x=Int32(3) 名前1=Int32(4)"},
		{"a name with escapes", `{"\u0041ge":1}`, "Age=Int32(1)"},
		{"an annotation with escapes", `{"a\u0040odata.type":"Edm.\u0049nt64","a":"1"}`, "a=Int64(1)"},
		{"blanks anywhere", " { \"a\" :\t1 ,\r\n\"b\": 2 } \n", "a=Int32(1) b=Int32(2)"},
		{"byte order mark", "\uFEFF{\"a\":1}", "a=Int32(1)"},
		{"all escapes", `{"a":"\"\\\/\b\f\n\r\t\u0041\u00e4\u20AC\ud83d\ude00"}`, "a=String(\"\\/\b\f\n\r\tAä€😀)"},
		{"NUL in a value", `{"a":"x\u0000y"}`, "a=String(x\x00y)"},
		{"raw UTF-8", `{"a":"ä€😀"}`, "a=String(ä€😀)"},
		{"names and texts in single quotes", `{'a':'x"y','b':"it's",'c@odata.type':'Edm.Int64','c':'9'}`, `a=String(x"y) b=String(it's) c=Int64(9)`},
		{"escapes in single quotes", `{'a':'\'\"\\\n\u0041'}`, "a=String('\"\\\nA)"},
		{"an escaped single quote in double quotes", `{"a":"it\'s"}`, "a=String(it's)"},
		{"names without quotes", `{a:1, b2 :2,_c:3,Имя:4,c@odata.type:"Edm.Int64",odata.etag:"x",d@odata.type:"Edm.Int64",d:"5"}`, "a=Int32(1) b2=Int32(2) _c=Int32(3) Имя=Int32(4) d=Int64(5)"},
		{"raw control characters", "{\"a\":\"x\ty\r\nz\",'b':'x\x00\x1f'}", "a=String(x\ty\r\nz) b=String(x\x00\x1f)"},
		{"numbers without a digit on one side of the point", `{"a":.5,"b":-.5,"c":1.,"d":-1.,"e":1.e2,"f":.5E-1}`, "a=Double(0.5) b=Double(-0.5) c=Double(1.0) d=Double(-1.0) e=Double(100.0) f=Double(0.05)"},
		{"leading zeros", `{"a":007,"b":-007,"c":00.5,"d":00,"e":01e1}`, "a=Int32(7) b=Int32(-7) c=Double(0.5) d=Int32(0) e=Double(10.0)"},
		{"a Guid in braces, in parentheses, without hyphens", `{"a@odata.type":"Edm.Guid","a":"{c9da6455-213d-42c9-9a79-3e9149a57833}","b@odata.type":"Edm.Guid","b":"(c9da6455-213d-42c9-9a79-3e9149a57833)","c@odata.type":"Edm.Guid","c":"C9DA6455213d42c99a793e9149a57833"}`, "a=Guid(c9da6455-213d-42c9-9a79-3e9149a57833) b=Guid(c9da6455-213d-42c9-9a79-3e9149a57833) c=Guid(c9da6455-213d-42c9-9a79-3e9149a57833)"},
		{"blanks around a Boolean and an Int32", `{"a@odata.type":"Edm.Boolean","a":" True ","b@odata.type":"Edm.Int32","b":" 7\n"}`, "a=Boolean(true) b=Int32(7)"},
		{"blanks in base64", `{"a@odata.type":"Edm.Binary","a":"AQ ID\r\n"}`, "a=Binary(AQID)"},
		{"the eighth digit of a DateTime rounds", `{"a@odata.type":"Edm.DateTime","a":"2013-08-22T00:20:16.12345675Z","b@odata.type":"Edm.DateTime","b":"2013-08-22T00:20:16.12345674999Z","c@odata.type":"Edm.DateTime","c":"2013-12-31T23:59:59.99999995Z"}`, "a=DateTime(2013-08-22T00:20:16.1234568Z) b=DateTime(2013-08-22T00:20:16.1234567Z) c=DateTime(2014-01-01T00:00:00Z)"},
		{"a year and a month are dates", `{"a@odata.type":"Edm.DateTime","a":"2015","b@odata.type":"Edm.DateTime","b":"2015-08"}`, "a=DateTime(2015-01-01T00:00:00Z) b=DateTime(2015-08-01T00:00:00Z)"},
		{"DEL needs no escape", "{\"a\":\"\x7f\"}", "a=String(\x7f)"},
	} {
		e, err := payload.ReadEntity([]byte(c.body))
		if err != nil {
			t.Errorf("%s: %s: %v", c.why, c.body, err)
		} else if got := dump(e.Properties); got != c.want {
			t.Errorf("%s: %s:\n got %s\nwant %s", c.why, c.body, got, c.want)
		}
	}
}

func TestReadEntityKeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why, body, pk, rk string
		hasPK, hasRK      bool
		fail              string
	}{
		{why: "both", body: `{"PartitionKey":"p","RowKey":"r"}`, pk: "p", rk: "r", hasPK: true, hasRK: true},
		{why: "other order", body: `{"RowKey":"r","PartitionKey":"p"}`, pk: "p", rk: "r", hasPK: true, hasRK: true},
		{why: "empty keys are keys", body: `{"PartitionKey":"","RowKey":""}`, hasPK: true, hasRK: true},
		{why: "absent", body: `{"a":1}`},
		{why: "null is absent", body: `{"PartitionKey":null,"RowKey":"r"}`, rk: "r", hasRK: true},
		{why: "annotated, as the Python client does", body: `{"PartitionKey":"p","PartitionKey@odata.type":"Edm.String","RowKey@odata.type":"Edm.String","RowKey":"r"}`, pk: "p", rk: "r", hasPK: true, hasRK: true},
		{why: "escaped", body: `{"PartitionKey":"\u0070\ud83d\ude00","RowKey":"\"'"}`, pk: "p😀", rk: `"'`, hasPK: true, hasRK: true},
		{why: "escaped and raw", body: `{"PartitionKey":"\u0070\ud83d\ude00","RowKey":"ä'"}`, pk: "p😀", rk: "ä'", hasPK: true, hasRK: true},
		{why: "whether the characters are legal is the operation's question", body: `{"PartitionKey":"a/b","RowKey":"\u0000"}`, pk: "a/b", rk: "\x00", hasPK: true, hasRK: true},
		{why: "number", body: `{"PartitionKey":1,"RowKey":"r"}`, fail: "One of the request inputs is not valid. The PartitionKey is not a string."},
		{why: "boolean", body: `{"PartitionKey":"p","RowKey":true}`, fail: "One of the request inputs is not valid. The RowKey is not a string."},
		{why: "of another type", body: `{"PartitionKey":"1","PartitionKey@odata.type":"Edm.Int32"}`, fail: "One of the request inputs is not valid. The PartitionKey is not a string."},
		{why: "a Guid", body: `{"PartitionKey":"p","RowKey":"c9da6455-213d-42c9-9a79-3e9149a57833","RowKey@odata.type":"Edm.Guid"}`, fail: "One of the request inputs is not valid. The RowKey is not a string."},
		{why: "lone surrogate", body: `{"PartitionKey":"\ud800"}`, fail: "An error occurred while processing this request."},
	} {
		e, err := payload.ReadEntity([]byte(c.body))
		if c.fail != "" {
			demand(t, c.why, err, table.InvalidInput, c.fail)
			continue
		}
		if err != nil || e.PartitionKey != c.pk || e.RowKey != c.rk || e.HasPartitionKey != c.hasPK || e.HasRowKey != c.hasRK {
			t.Errorf("%s: %s: got %+v, %v", c.why, c.body, e, err)
		}
	}
}

// TestReadEntityCopies checks that reusing the buffer of the body does not change the entity.
func TestReadEntityCopies(t *testing.T) {
	t.Parallel()
	body := []byte(`{"PartitionKey":"p","RowKey":"r\u0041","a":"text","b@odata.type":"Edm.Binary","b":"AQID"}`)
	e, err := payload.ReadEntity(body)
	if err != nil {
		t.Fatal(err)
	}
	clear(body)
	if got := e.PartitionKey + e.RowKey + dump(e.Properties); got != "prAa=String(text) b=Binary(AQID)" {
		t.Errorf("after the body was cleared: %q", got)
	}
}

func TestReadEntityKeepsDoubleBits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{
		"-0.0": math.Copysign(0, -1), "1.7976931348623157E+308": math.MaxFloat64, "4.94065645841247E-324": math.SmallestNonzeroFloat64,
	} {
		e, err := payload.ReadEntity([]byte(`{"a":` + text + `}`))
		if v, _ := e.Properties.Lookup("a"); err != nil || v != edm.Double(want) {
			t.Errorf("%s: %v, %v", text, v, err)
		}
	}
}

func TestReadTableName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why, body, name string
		ok, fail        bool
	}{
		{why: "plain", body: `{"TableName":"mytable"}`, name: "mytable", ok: true},
		{why: "other members are ignored", body: `{"odata.metadata":"x","odata.type":"y","TableName":"t\u0061b","b":1}`, name: "tab", ok: true},
		{why: "whether the name is legal is the operation's question", body: `{"TableName":"-"}`, name: "-", ok: true},
		{why: "empty is given", body: `{"TableName":""}`, ok: true},
		{why: "absent", body: `{}`},
		{why: "null", body: `{"TableName":null}`},
		{why: "names have a case", body: `{"tablename":"x"}`},
		{why: "number", body: `{"TableName":5}`, fail: true},
		{why: "twice", body: `{"TableName":"a","TableName":"b"}`, fail: true},
		{why: "syntax", body: `{"TableName":"a"`, fail: true},
		{why: "no body", body: ``, fail: true},
	} {
		name, ok, err := payload.ReadTableName([]byte(c.body))
		if name != c.name || ok != c.ok || (err != nil) != c.fail {
			t.Errorf("%s: %s: %q, %v, %v", c.why, c.body, name, ok, err)
		}
	}
}

// TestReadUpdate checks that an update's properties are sorted by name, and that keys in its body are ignored, even
// invalid ones.
func TestReadUpdate(t *testing.T) {
	t.Parallel()
	var want edm.Properties
	for _, name := range []string{"B", "a", "b"} {
		want = edm.AppendProperty(want, name, edm.String("x"))
	}
	for format, got := range map[string]func() (edm.Properties, error){
		"JSON": func() (edm.Properties, error) {
			return payload.ReadUpdate([]byte(`{"b":"x","PartitionKey@odata.type":"Edm.Guid","PartitionKey":5,"a":"x","RowKey":true,"B":"x","Timestamp":"never"}`))
		},
		"ATOM": func() (edm.Properties, error) {
			return payload.ReadAtomUpdate([]byte(`<entry xmlns="http://www.w3.org/2005/Atom" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" ` +
				`xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices"><content><m:properties><d:b>x</d:b><d:RowKey m:type="Edm.Guid">none</d:RowKey>` +
				`<d:a>x</d:a><d:B>x</d:B></m:properties></content></entry>`))
		},
	} {
		p, err := got()
		if err != nil {
			t.Fatal(format, err)
		}
		if !bytes.Equal(p, want) {
			t.Errorf("%s: got %q, want %q", format, p, want)
		}
	}
}

// TestReadEntityOrder checks that an insert keeps the order of the values in the body, whether annotations precede or
// follow the values.
func TestReadEntityOrder(t *testing.T) {
	t.Parallel()
	e, err := payload.ReadEntity([]byte(`{"b@odata.type":"Edm.String","c":"x","a@odata.type":"Edm.String","b":"x","RowKey@odata.type":"Edm.String","a":"x","d@odata.type":"Edm.String"}`))
	if err != nil {
		t.Fatal(err)
	}
	var want edm.Properties
	for _, name := range []string{"c", "b", "a"} {
		want = edm.AppendProperty(want, name, edm.String("x"))
	}
	if !bytes.Equal(e.Properties, want) {
		t.Errorf("got %q, want %q", e.Properties, want)
	}
}

// TestReadOrderOfMany checks that an insert keeps the order of values and an update sorts by name, for any number of
// properties and any position of annotations.
func TestReadOrderOfMany(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for n := 1; n <= table.MaxProperties; n++ {
		body := []byte{'{'}
		for _, i := range r.Perm(n) {
			body = fmt.Appendf(body, `"P%04d@odata.type":"Edm.Int64",`, i)
		}
		order := r.Perm(n)
		for _, i := range order {
			body = fmt.Appendf(body, `"P%04d":"%d",`, i, i)
		}
		body[len(body)-1] = '}'
		e, err := payload.ReadEntity(body)
		must.OK(t, err)
		update, err := payload.ReadUpdate(body)
		must.OK(t, err)
		var inserted, updated edm.Properties
		for i, at := range order {
			inserted = edm.AppendProperty(inserted, fmt.Sprintf("P%04d", at), edm.Int64(int64(at)))
			updated = edm.AppendProperty(updated, fmt.Sprintf("P%04d", i), edm.Int64(int64(i)))
		}
		if !bytes.Equal(e.Properties, inserted) || !bytes.Equal(update, updated) {
			t.Fatalf("%s: %s, %s", body, dump(e.Properties), dump(update))
		}
	}
}

// TestReadingAllocates checks that reading makes only two allocations: the properties and, for an insert, the keys.
func TestReadingAllocates(t *testing.T) {
	body := []byte(`{"PartitionKey":"p","RowKey":"r","Zeta":1,"Alpha":"text","At@odata.type":"Edm.DateTime","At":"2026-01-02T03:04:05Z","Ok":true}`)
	if n := testing.AllocsPerRun(100, func() { _, err := payload.ReadEntity(body); must.OK(t, err) }); n > 2 {
		t.Errorf("an insert: %v allocations", n)
	}
	if n := testing.AllocsPerRun(100, func() { _, err := payload.ReadUpdate(body); must.OK(t, err) }); n > 1 {
		t.Errorf("an update: %v allocations", n)
	}
}
