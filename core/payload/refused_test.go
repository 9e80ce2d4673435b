package payload_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/payload"
	"edgetable/core/table"
	"edgetable/testdata/must"
)

// demand checks the code of the error err, and the beginning of the error's message.
func demand(t *testing.T, why string, err error, code table.Code, message string) {
	t.Helper()
	var e *table.Error
	if !errors.As(err, &e) || e.Code != code || !strings.HasPrefix(e.Message, message) {
		t.Errorf("%s:\n got %v\nwant %s: %s…", why, err, code, message)
	} else if len(e.Message) > 600 {
		t.Errorf("%s: the message repeats the body: %d bytes", why, len(e.Message))
	}
}

func TestReadEntityRefuses(t *testing.T) {
	t.Parallel()
	many := func(n int, value string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"p%d":%s`, i, value)
		}
		return `{"PartitionKey":"p"` + b.String() + `}`
	}
	const (
		unreadable = "An error occurred while processing this request."
		malformed  = unreadable + " Malformed JSON at byte "
	)
	for _, c := range []struct {
		why, body string
		code      table.Code
		message   string
	}{
		{"no body", ``, table.InvalidInput, unreadable + " The body is empty"},
		{"blanks", " \n", table.InvalidInput, unreadable + " The body is empty"},
		{"only a byte order mark", "\uFEFF", table.InvalidInput, unreadable + " The body is empty"},
		{"array", `[]`, table.InvalidInput, malformed + "0"},
		{"scalar", `5`, table.InvalidInput, malformed + "0"},
		{"second byte order mark", "\uFEFF\uFEFF{}", table.InvalidInput, malformed + "3"},
		{"cut off", `{"a":1`, table.InvalidInput, malformed + "6"},
		{"cut off in a string", `{"a":"xx`, table.InvalidInput, malformed + "8"},
		{"cut off in an escape", `{"a":"\u12`, table.InvalidInput, malformed + "6"},
		{"comma at the end", `{"a":1,}`, table.InvalidInput, malformed + "7"},
		{"comma at the front", `{,"a":1}`, table.InvalidInput, malformed + "1"},
		{"no comma", `{"a":1 "b":2}`, table.InvalidInput, malformed + "7"},
		{"no colon", `{"a" 1}`, table.InvalidInput, malformed + "5"},
		{"no value", `{"a":}`, table.InvalidInput, malformed + "5"},
		{"garbage behind the end", `{} x`, table.InvalidInput, malformed + "3"},
		{"two objects", `{}{}`, table.InvalidInput, malformed + "2"},
		{"comment", `{/*x*/}`, table.InvalidInput, malformed + "1"},
		{"word in another case", `{"a":True}`, table.InvalidInput, malformed + "5"},
		{"word cut off", `{"a":tru}`, table.InvalidInput, malformed + "5"},
		{"word with a tail", `{"a":nullx}`, table.InvalidInput, malformed + "9"},
		{"bare NaN", `{"a":NaN}`, table.InvalidInput, malformed + "5"},
		{"plus sign", `{"a":+5}`, table.InvalidInput, malformed + "5"},
		{"minus alone", `{"a":-}`, table.InvalidInput, malformed + "6"},
		{"a point alone", `{"a":.}`, table.InvalidInput, malformed},
		{"a point without a digit", `{"a":-.}`, table.InvalidInput, malformed},
		{"unlike quotes", `{"a':1}`, table.InvalidInput, malformed},
		{"unlike quotes around a text", `{"a":'x"}`, table.InvalidInput, malformed},
		{"a text that does not end", `{'a':'x\'}`, table.InvalidInput, malformed},
		{"invalid UTF-8 in single quotes", "{'a':'\xff'}", table.InvalidInput, malformed},
		{"an unknown escape in single quotes", `{'a':'\x'}`, table.InvalidInput, malformed + "6"},
		{"no name", `{:1}`, table.InvalidInput, malformed + "1"},
		{"a dash in a name without quotes", `{a-b:1}`, table.InvalidInput, malformed + "2"},
		{"a letter beyond U+FFFF without quotes", `{𐐀:1}`, table.InvalidInput, malformed + "1"},
		{"a leading zero and another exponent", `{"a":01e}`, table.InvalidInput, malformed},
		{"Int64 as a number", `{"a":9223372036854775807,"a@odata.type":"Edm.Int64"}`, table.InvalidInput, unreadable + " The property 'a' is annotated as Edm.Int64, but its value is of another JSON type: send it as a string."},
		{"Boolean as 1", `{"a":"1","a@odata.type":"Edm.Boolean"}`, table.InvalidInput, unreadable + " The value of 'a' is not a Boolean"},
		{"base64 without padding", `{"a":"AQ","a@odata.type":"Edm.Binary"}`, table.InvalidInput, unreadable + " The value of 'a' is not base64"},
		{"INF", `{"a":"-INF","a@odata.type":"Edm.Double"}`, table.InvalidInput, unreadable + " The value of 'a' is not a Double"},
		{"a Guid in unlike brackets", `{"a":"{c9da6455-213d-42c9-9a79-3e9149a57833)","a@odata.type":"Edm.Guid"}`, table.InvalidInput, unreadable},
		{"no exponent", `{"a":5e}`, table.InvalidInput, malformed + "7"},
		{"hexadecimal", `{"a":0x5}`, table.InvalidInput, malformed + "6"},
		{"unknown escape", `{"a":"\x"}`, table.InvalidInput, malformed + "6"},
		{"escape with a wrong digit", `{"a":"\u00g0"}`, table.InvalidInput, malformed + "6"},
		{"invalid UTF-8 in a value", "{\"a\":\"\xff\"}", table.InvalidInput, malformed + "5"},
		{"invalid UTF-8 in a name", "{\"a\xc3\":1}", table.InvalidInput, malformed + "1"},
		{"surrogate in UTF-8", "{\"a\":\"\xed\xa0\x80\"}", table.InvalidInput, malformed + "5"},
		{"object as a value", `{"a":{"b":1}}`, table.InvalidInput, unreadable + " The value at byte 5 is an object or an array"},
		{"array as a value", `{"a":[]}`, table.InvalidInput, unreadable + " The value at byte 5 is an object or an array"},
		{"deep nesting", `{"a":` + strings.Repeat("[", 100_000), table.InvalidInput, unreadable},
		{"nesting under a dropped name", `{"odata.x":{}}`, table.InvalidInput, unreadable},
		{"whole number above Int32, annotated", `{"a":2147483648,"a@odata.type":"Edm.Int32"}`, table.InvalidInput, unreadable + " The value of 'a' is not an Int32"},
		{"whole number of many digits", `{"a":` + strings.Repeat("9", 10_000) + `}`, table.InvalidInput, unreadable},
		{"Double overflow", `{"a":1e400}`, table.InvalidInput, unreadable + " The value of 'a' is not a Double"},
		{"Double overflow as in recorded traffic", `{"a@odata.type":"Edm.Double","a":13e7705}`, table.InvalidInput, unreadable},
		{"Double overflow in a string", `{"a@odata.type":"Edm.Double","a":"-1e400"}`, table.InvalidInput, unreadable},
		{"Int64 overflow", `{"a":"9223372036854775808","a@odata.type":"Edm.Int64"}`, table.InvalidInput, unreadable},
		{"Int64 with a fraction", `{"a":1.0,"a@odata.type":"Edm.Int64"}`, table.InvalidInput, unreadable},
		{"Int32 with an exponent", `{"a":1e2,"a@odata.type":"Edm.Int32"}`, table.InvalidInput, unreadable},
		{"number as String", `{"a":1,"a@odata.type":"Edm.String"}`, table.InvalidInput, unreadable},
		{"number as DateTime", `{"a":1,"a@odata.type":"Edm.DateTime"}`, table.InvalidInput, unreadable},
		{"boolean as Int32", `{"a":true,"a@odata.type":"Edm.Int32"}`, table.InvalidInput, unreadable},
		{"no Int32", `{"a":"x","a@odata.type":"Edm.Int32"}`, table.InvalidInput, unreadable},
		{"no Guid", `{"a":"x","a@odata.type":"Edm.Guid"}`, table.InvalidInput, unreadable + " The value of 'a' is not a Guid"},
		{"no base64", `{"a":"%","a@odata.type":"Edm.Binary"}`, table.InvalidInput, unreadable},
		{"no DateTime", `{"a":"today","a@odata.type":"Edm.DateTime"}`, table.InvalidInput, unreadable},
		{"30 February", `{"a":"2024-02-30T00:00:00Z","a@odata.type":"Edm.DateTime"}`, table.InvalidInput, unreadable},
		{"unknown type", `{"a":"x","a@odata.type":"Edm.Single"}`, table.InvalidInput, unreadable + " The property 'a' is annotated with the unknown type 'Edm.Single'"},
		{"type in another case", `{"a":"1","a@odata.type":"edm.int64"}`, table.InvalidInput, unreadable},
		{"annotation that is no string", `{"a":"x","a@odata.type":5}`, table.InvalidInput, unreadable},
		{"long values are cut in messages", `{"a":"` + strings.Repeat("x", 5000) + `","a@odata.type":"Edm.Int32"}`, table.InvalidInput, unreadable},
		{"name twice", `{"a":1,"b":2,"a":3}`, table.DuplicatePropertiesSpecified, "A property is specified more than one time."},
		{"name twice, differently spelled", `{"a":1,"\u0061":1}`, table.DuplicatePropertiesSpecified, ""},
		{"name twice, once null", `{"a":null,"a":1}`, table.DuplicatePropertiesSpecified, ""},
		{"annotation twice", `{"a@odata.type":"Edm.Int32","a":1,"a@odata.type":"Edm.Int32"}`, table.DuplicatePropertiesSpecified, ""},
		{"key twice", `{"RowKey":"a","RowKey":"a"}`, table.DuplicatePropertiesSpecified, ""},
		{"a name twice among many", strings.TrimSuffix(many(200, "1"), "}") + `,"p7":1}`, table.DuplicatePropertiesSpecified, ""},
		{"empty name", `{"":1}`, table.PropertyNameInvalid, "The property name is invalid."},
		{"name with a dash", `{"a-b":1}`, table.PropertyNameInvalid, ""},
		{"name with a blank", `{"a b":1}`, table.PropertyNameInvalid, ""},
		{"name with a point", `{"a.b":1}`, table.PropertyNameInvalid, ""},
		{"name with an at sign", `{"a@b":1}`, table.PropertyNameInvalid, ""},
		{"name with a digit first", `{"1a":1}`, table.PropertyNameInvalid, ""},
		{"a lone high surrogate", `{"a":"x\ud83dy"}`, table.InvalidInput, "An error occurred while processing this request. The value of 'a' has a lone surrogate: strings must be valid Unicode."},
		{"a lone low surrogate", `{"a":"\ude00"}`, table.InvalidInput, ""},
		{"two high surrogates", `{"a":"\ud83d\ud83d\ude00"}`, table.InvalidInput, ""},
		{"two low surrogates", `{"a":"\udc00\udc00"}`, table.InvalidInput, ""},
		{"a pair the wrong way round", `{"a":"\ude00\ud83d"}`, table.InvalidInput, ""},
		{"a surrogate before another escape", `{"a":"\ud83d\n"}`, table.InvalidInput, ""},
		{"name with a lone surrogate", `{"a\ud800":1}`, table.PropertyNameInvalid, ""},
		{"name of 256 characters", `{"` + strings.Repeat("a", 256) + `":1}`, table.PropertyNameTooLong, "The property name exceeds the maximum allowed length (255)."},
		{"253 properties", many(253, "1"), table.TooManyProperties, "The entity contains more properties than allowed."},
		{"nulls without end", many(1000, "null"), table.TooManyProperties, ""},
		{"String of 32769 characters", `{"a":"` + strings.Repeat("x", 32769) + `"}`, table.PropertyValueTooLarge, "The property value exceeds the maximum allowed size (64KB)."},
		{"String of 16385 characters beyond U+FFFF", `{"a":"` + strings.Repeat("😀", 16385) + `"}`, table.PropertyValueTooLarge, ""},
		{"Binary of 65538 bytes", `{"a":"` + strings.Repeat("AAAA", 21846) + `","a@odata.type":"Edm.Binary"}`, table.PropertyValueTooLarge, ""},
		{"a value that makes the entity too large", `{"a":"` + strings.Repeat("AAAA", 1<<20/3+1) + `","a@odata.type":"Edm.Binary"}`, table.EntityTooLarge, "The entity is larger than the maximum allowed size (1MB)."},
		{"with what follows it", `{"a":"` + strings.Repeat("x", 500<<10) + `","b":"` + strings.Repeat("x", 24<<10) + `"}`, table.EntityTooLarge, ""},
		{"one just not so large", `{"a":"` + strings.Repeat("x", 524279) + `"}`, table.PropertyValueTooLarge, "The property value exceeds"},
		{"until another comes with it", `{"a":"` + strings.Repeat("x", 524273) + `","b":1}`, table.EntityTooLarge, ""},
		{"an error of another kind is told first", `{"a":"` + strings.Repeat("x", 500<<10) + `","b":"` + strings.Repeat("x", 24<<10) + `","c":1e400}`, table.InvalidInput, ""},
		{"DateTime before 1601", `{"Born":"1600-12-31T23:59:59.9Z","Born@odata.type":"Edm.DateTime"}`, table.OutOfRangeInput, "The 'Born' parameter of value '12/31/1600 23:59:59' is out of range."},
		{"DateTime of .NET's zero", `{"Born":"0001-01-01T00:00:00Z","Born@odata.type":"Edm.DateTime"}`, table.OutOfRangeInput, "The 'Born' parameter of value '01/01/0001 00:00:00' is out of range."},
		{"DateTime behind 9999 by its zone", `{"a":"9999-12-31T23:59:59-01:00","a@odata.type":"Edm.DateTime"}`, table.OutOfRangeInput, ""},
	} {
		e, err := payload.ReadEntity([]byte(c.body))
		demand(t, c.why, err, c.code, c.message)
		if e.Properties != nil || e.HasPartitionKey {
			t.Errorf("%s: returned %+v with an error", c.why, e)
		}
	}
}

// TestReadFileEntity checks that a file must be valid JSON, but may spell values in every way that edm.Parse accepts.
func TestReadFileEntity(t *testing.T) {
	t.Parallel()
	const malformed = "An error occurred while processing this request. Malformed JSON at byte "
	for _, c := range []struct {
		why, body string
		code      table.Code
		message   string
	}{
		{"name without quotes", `{a:1}`, table.InvalidInput, malformed + "1"},
		{"single quotes", `{'a':1}`, table.InvalidInput, malformed + "1"},
		{"leading zero", `{"a":05}`, table.InvalidInput, malformed + "6"},
		{"no digit before the point", `{"a":.5}`, table.InvalidInput, malformed + "5"},
		{"no digit behind the point", `{"a":5.}`, table.InvalidInput, malformed + "7"},
		{"raw newline in a string", "{\"a\":\"x\ny\"}", table.InvalidInput, malformed + "7"},
		{"raw NUL in a string", "{\"a\":\"x\x00\"}", table.InvalidInput, malformed + "7"},
	} {
		_, err := payload.ReadFileEntity([]byte(c.body))
		demand(t, c.why, err, c.code, c.message)
	}
	e, err := payload.ReadFileEntity([]byte(`{"a":1,"a@odata.type":"Edm.Int64","b":"1","b@odata.type":"Edm.Boolean","c":"AQ","c@odata.type":"Edm.Binary","d":"INF","d@odata.type":"Edm.Double"}`))
	must.OK(t, err)
	if got, want := dump(e.Properties), "a=Int64(1) b=Boolean(true) c=Binary(AQ==) d=Double(Infinity)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestReadEntityLimits checks that an entity exactly within the limits is accepted.
func TestReadEntityLimits(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 252 {
		fmt.Fprintf(&b, `,"p%d@odata.type":"Edm.Int64","p%d":"%d"`, i, i, i)
	}
	e, err := payload.ReadEntity([]byte(`{"PartitionKey":"p","RowKey":"r","Timestamp":"x","n":null` + b.String() + `}`))
	if err != nil || e.Properties.Count() != 252 {
		t.Errorf("252 properties and some nulls: %d, %v", e.Properties.Count(), err)
	}
	for i := range 252 {
		if v, ok := e.Properties.Lookup(fmt.Sprintf("p%d", i)); !ok || v != edm.Int64(int64(i)) {
			t.Fatalf("p%d is %v", i, v)
		}
	}
	for why, value := range map[string]string{
		"32768 characters of ASCII":       strings.Repeat("x", 32768),
		"32768 characters of three bytes": strings.Repeat("€", 32768),
		"16384 surrogate pairs":           strings.Repeat("😀", 16384),
	} {
		e, err := payload.ReadEntity([]byte(`{"a":"` + value + `"}`))
		if v, _ := e.Properties.Lookup("a"); err != nil || v.Text() != value {
			t.Errorf("%s: %d bytes, %v", why, len(v.Text()), err)
		}
	}
	if _, err := payload.ReadEntity([]byte(`{"a":"` + strings.Repeat("AAAA", 21845) + `","a@odata.type":"Edm.Binary"}`)); err != nil {
		t.Errorf("Binary of 65535 bytes: %v", err)
	}
	if _, err := payload.ReadEntity([]byte(`{"` + strings.Repeat("я", 255) + `":1}`)); err != nil {
		t.Errorf("name of 255 characters of two bytes: %v", err)
	}
}
