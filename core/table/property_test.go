package table_test

import (
	"strings"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/table"
)

func TestCheckPropertyName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why, name string
		want      table.Code // "" if the name is legal
	}{
		{"letters", "Age", ""},
		{"one letter", "a", ""},
		{"underscore first", "_age", ""},
		{"underscore alone", "_", ""},
		{"digit later", "a1", ""},
		{"the first and the last letters and digits", "zZaA09", ""},
		{"underscore before another letter", "_é", ""},
		{"letters of Latin-1", "çñ", ""},
		{"Cyrillic", "Имя", ""},
		{"ideographs are letters", "名前", ""},
		{"letter number", "Ⅷ", ""},
		{"digit of another script later", "a٣", ""},
		{"combining mark later", "e\u0301", ""},
		{"connector later", "a‿b", ""},
		{"keywords of C# are names here", "class", ""},
		{"a reserved name in another case", "rowkey", ""},
		{"255 characters", strings.Repeat("a", 255), ""},
		{"255 characters of two bytes", strings.Repeat("я", 255), ""},
		{"empty", "", table.PropertyNameInvalid},
		{"digit first", "1a", table.PropertyNameInvalid},
		{"digit of another script first", "٣a", table.PropertyNameInvalid},
		{"combining mark first", "\u0301e", table.PropertyNameInvalid},
		{"a letter beyond the basic plane", "\U00010400", table.PropertyNameInvalid},
		{"a letter that XML lacks", "µ", table.PropertyNameInvalid},
		{"a connector that XML lacks", "a⁔b", table.PropertyNameInvalid},
		{"connector first", "‿a", table.PropertyNameInvalid},
		{"dash, which was legal before 2009-04-14", "a-b", table.PropertyNameInvalid},
		{"blank", "a b", table.PropertyNameInvalid},
		{"point", "a.b", table.PropertyNameInvalid},
		{"colon, though XML has it", "a:b", table.PropertyNameInvalid},
		{"at sign", "@a", table.PropertyNameInvalid},
		{"dollar", "$a", table.PropertyNameInvalid},
		{"neighbours of the letters in ASCII", "a`", table.PropertyNameInvalid},
		{"and those of the capitals", "A[", table.PropertyNameInvalid},
		{"control character", "a\x00", table.PropertyNameInvalid},
		{"symbol", "a€", table.PropertyNameInvalid},
		{"emoji", "😀", table.PropertyNameInvalid},
		{"other number", "a²", table.PropertyNameInvalid},
		{"not UTF-8", "a\xff", table.PropertyNameInvalid},
		{"256 characters", strings.Repeat("a", 256), table.PropertyNameTooLong},
		{"256 characters of two bytes", strings.Repeat("я", 256), table.PropertyNameTooLong},
		{"characters come before length", strings.Repeat("-", 300), table.PropertyNameInvalid},
	} {
		if got := code(t, table.CheckPropertyName(c.name)); got != c.want {
			t.Errorf("%s: %q: got %q, want %q", c.why, c.name, got, c.want)
		}
	}
}

func code(t *testing.T, err error) table.Code {
	t.Helper()
	if err == nil {
		return ""
	}
	e, ok := err.(*table.Error)
	if !ok {
		t.Fatalf("not an error of the protocol: %v", err)
	}
	return e.Code
}

func TestCheckValue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why   string
		value edm.Value
		want  table.Code
	}{
		{"null", edm.Value{}, ""},
		{"String of 64 KiB", edm.String(strings.Repeat("x", 32768)), ""},
		{"String of 64 KiB in three bytes a character", edm.String(strings.Repeat("€", 32768)), ""},
		{"one more", edm.String(strings.Repeat("x", 32769)), table.PropertyValueTooLarge},
		{"a surrogate pair is two", edm.String(strings.Repeat("x", 32767) + "😀"), table.PropertyValueTooLarge},
		{"Binary of 64 KiB", edm.Binary(make([]byte, 65536)), ""},
		{"one byte more", edm.Binary(make([]byte, 65537)), table.PropertyValueTooLarge},
		{"the earliest DateTime", edm.DateTime(edm.MinDateTime), ""},
		{"one tick earlier", edm.DateTime(edm.MinDateTime - 1), table.OutOfRangeInput},
		{"the latest DateTime", edm.DateTime(edm.MaxDateTime), ""},
		{"one tick later", edm.DateTime(edm.MaxDateTime + 1), table.OutOfRangeInput},
		{"the ends of an Int64 are no DateTime", edm.Int64(-1 << 63), ""},
	} {
		if got := code(t, table.CheckValue("Born", c.value)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.why, got, c.want)
		}
	}
	// The message must show the date in the service's format.
	err := table.CheckValue("Born", edm.DateTime(0)).(*table.Error)
	if want := "The 'Born' parameter of value '01/01/0001 00:00:00' is out of range."; err.Message != want {
		t.Errorf("got %q, want %q", err.Message, want)
	}
}
