package clients_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// stored adds an entity with one property, and reads the entity by a point query. It returns the value and
// the type annotation of the property from the server's response.
func stored(t *testing.T, client *aztables.Client, row, edmType string, value any) (raw json.RawMessage, annotation string) {
	t.Helper()
	properties := fields{"V": value}
	if edmType != "" {
		properties["V@odata.type"] = edmType
	}
	add(t, client, "types", row, properties)
	body := wire(t, func(ctx context.Context) error {
		_, err := client.GetEntity(ctx, "types", row, nil)
		return err
	})
	var answer struct {
		Value json.RawMessage `json:"V"`
		Type  string          `json:"V@odata.type"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatalf("decode %.200q: %v", body, err)
	}
	return answer.Value, answer.Type
}

func TestTextualTypesRoundTrip(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	const guid = "c9da6455-213d-42c9-9a79-3e9149a57833"
	for _, test := range []struct{ row, edmType, in, out string }{
		{"int64 max", "Edm.Int64", "9223372036854775807", "9223372036854775807"},
		{"int64 min", "Edm.Int64", "-9223372036854775808", "-9223372036854775808"},
		{"int64 beyond 2^53", "Edm.Int64", "9007199254740993", "9007199254740993"},
		{"int64 small stays int64", "Edm.Int64", "5", "5"},
		{"datetime earliest", "Edm.DateTime", "1601-01-01T00:00:00Z", "1601-01-01T00:00:00Z"},
		{"datetime latest", "Edm.DateTime", "9999-12-31T23:59:59.9999999Z", "9999-12-31T23:59:59.9999999Z"},
		{"datetime tick", "Edm.DateTime", "2020-02-29T12:34:56.0000001Z", "2020-02-29T12:34:56.0000001Z"},
		{"datetime zeros are cut", "Edm.DateTime", "2020-02-29T12:34:56.1200000Z", "2020-02-29T12:34:56.12Z"},
		{"datetime offset becomes UTC", "Edm.DateTime", "2020-01-01T00:30:00+01:00", "2019-12-31T23:30:00Z"},
		{"datetime without zone is UTC", "Edm.DateTime", "2020-01-01T00:00:00", "2020-01-01T00:00:00Z"},
		{"guid", "Edm.Guid", guid, guid},
		{"guid is lower-case", "Edm.Guid", strings.ToUpper(guid), guid},
		{"binary", "Edm.Binary", "AAECA//+", "AAECA//+"},
		{"binary empty", "Edm.Binary", "", ""},
		{"double NaN", "Edm.Double", "NaN", "NaN"},
		{"double Infinity", "Edm.Double", "Infinity", "Infinity"},
		{"double -Infinity", "Edm.Double", "-Infinity", "-Infinity"},
	} {
		t.Run(test.row, func(t *testing.T) {
			raw, annotation := stored(t, client, test.row, test.edmType, test.in)
			if want := strconv.Quote(test.out); string(raw) != want || annotation != test.edmType {
				t.Errorf("got %s %s, want %s %s", raw, annotation, want, test.edmType)
			}
		})
	}
}

func TestStrings(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	for row, text := range map[string]string{
		"empty":     "",
		"blanks":    "  lead and trail  ",
		"controls":  "tab\t cr\r lf\n quote\" backslash\\ slash/ bell\a",
		"unicode":   "Zażółć gęślą jaźń — 漢字 — عربى",
		"emoji":     "👩‍👩‍👧‍👦 🏳️‍🌈 \U0010FFFD",
		"looks odd": `{"odata.type":"x"} <a>&amp;</a> %41 \u0041`,
		"longest":   strings.Repeat("漢", 32768),
	} {
		t.Run(row, func(t *testing.T) {
			t.Parallel()
			add(t, client, "p", row, fields{"V": text})
			if got := get(t, client, "p", row)["V"]; got != text {
				t.Errorf("got %.60q…, want %.60q…", got, text)
			}
		})
	}
}

func TestDoubles(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	for row, value := range map[string]float64{
		"whole": 5, "zero": 0, "half": 0.5, "tenth": 0.1, "pi": math.Pi,
		"largest": math.MaxFloat64, "least": -math.MaxFloat64, "smallest": math.SmallestNonzeroFloat64,
		"exponent": 1e20, "tiny": 1e-7, "big whole": 123456789012345680, "beyond int32": 4294967296,
	} {
		t.Run(row, func(t *testing.T) {
			raw, _ := stored(t, client, row, "Edm.Double", value)
			got, err := strconv.ParseFloat(string(raw), 64)
			if err != nil || got != value {
				t.Errorf("got %s (%v), want %v", raw, err, value)
			}
			if !bytes.ContainsAny(raw, ".eE") { // without the decimal point, a client would read the Double 5.0 as an Int32
				t.Errorf("%s does not look like a double", raw)
			}
		})
	}
	t.Run("negative zero", func(t *testing.T) {
		raw, _ := stored(t, client, "negative zero", "Edm.Double", math.Copysign(0, -1))
		if got, err := strconv.ParseFloat(string(raw), 64); err != nil || got != 0 || !bytes.Contains(raw, []byte(".")) {
			t.Errorf("got %s, want a double zero", raw)
		}
	})
}

func TestPlainJSONTypes(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	for _, test := range []struct {
		row  string
		in   any
		want string
	}{
		{"int32 max", math.MaxInt32, "2147483647"},
		{"int32 min", math.MinInt32, "-2147483648"},
		{"int32 zero", 0, "0"},
		{"true", true, "true"},
		{"false", false, "false"},
		{"double", 1.5, "1.5"},
		{"null is not stored", nil, ""},
	} {
		t.Run(test.row, func(t *testing.T) {
			raw, annotation := stored(t, client, test.row, "", test.in)
			if string(raw) != test.want || annotation != "" {
				t.Errorf("got %s %q, want %s unannotated", raw, annotation, test.want)
			}
		})
	}
}

func TestLargestBinary(t *testing.T) {
	t.Parallel()
	client, value := newTable(t), make([]byte, 65536)
	for i := range value {
		value[i] = byte(i * 7)
	}
	raw, annotation := stored(t, client, "largest", "Edm.Binary", base64.StdEncoding.EncodeToString(value))
	var got []byte
	if err := json.Unmarshal(raw, &got); err != nil || annotation != "Edm.Binary" || !bytes.Equal(got, value) {
		t.Errorf("64 KiB of binary came back as %d bytes of %q (%v)", len(got), annotation, err)
	}
}

// TestEDMEntity checks that an aztables.EDMEntity, the SDK's typed form of an entity, is read as it was
// written.
func TestEDMEntity(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	want := map[string]any{
		"Text": "x", "Flag": true, "Int": int32(-7), "Ratio": 1.25,
		"Big":  aztables.EDMInt64(math.MaxInt64),
		"Id":   aztables.EDMGUID("c9da6455-213d-42c9-9a79-3e9149a57833"),
		"When": aztables.EDMDateTime(time.Date(9999, 12, 31, 23, 59, 59, 999999900, time.UTC)),
	}
	encoded, err := json.Marshal(aztables.EDMEntity{
		Entity:     aztables.Entity{PartitionKey: "p", RowKey: "r"},
		Properties: want,
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.AddEntity(t.Context(), encoded, nil); err != nil {
		t.Fatalf("add: %v", err)
	}
	response, err := client.GetEntity(t.Context(), "p", "r", nil)
	if err != nil {
		t.Fatalf("get: %v", err)
	}
	var got aztables.EDMEntity
	if err := json.Unmarshal(response.Value, &got); err != nil {
		t.Fatalf("decode: %v", err)
	}
	for name, value := range want {
		if got.Properties[name] != value {
			t.Errorf("%s: got %#v, want %#v", name, got.Properties[name], value)
		}
	}
	if len(got.Properties) != len(want) || got.ETag != string(response.ETag) || time.Time(got.Timestamp).IsZero() {
		t.Errorf("got %d properties, ETag %s, Timestamp %v", len(got.Properties), got.ETag, time.Time(got.Timestamp))
	}
}

func TestPropertyNames(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	names := fields{}
	for _, name := range []string{"çñ", "Имя", "漢字", "_private", "a1", "Birthday", "birthday", strings.Repeat("n", 255)} {
		names[name] = "value of " + name
	}
	add(t, client, "p", "r", names)
	got := get(t, client, "p", "r").custom()
	for name, value := range names {
		if got[name] != value {
			t.Errorf("%.20s: got %v, want %v", name, got[name], value)
		}
	}
	if len(got) != len(names) {
		t.Errorf("got %d properties, want %d: names are case-sensitive", len(got), len(names))
	}
}
