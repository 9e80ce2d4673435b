package odata_test

import (
	"strings"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/odata"
)

// benchEntity returns an entity of about 1 KiB with ten properties, which cover all types.
func benchEntity() (k []byte, timestamp edm.Ticks, p edm.Properties) {
	add := func(name string, v edm.Value) { p = edm.AppendProperty(p, name, v) }
	add("Name", edm.String("Fabrikam"))
	add("Address", edm.String(strings.Repeat("0123456789", 30)))
	add("Age", edm.Int32(42))
	add("Balance", edm.Double(12.5))
	add("Visits", edm.Int64(1<<40))
	add("Active", edm.Boolean(true))
	add("Since", edm.DateTime(630_000_000_000_000_000))
	add("Owner", edm.Guid([16]byte{1, 2, 3}))
	add("Photo", edm.Binary(make([]byte, 500)))
	add("City", edm.String("Zürich"))
	return key.Append(nil, "partition-0001", "row-00000001"), 638_000_000_000_000_000, p
}

func BenchmarkMatch(b *testing.B) {
	k, timestamp, p := benchEntity()
	for _, c := range []struct{ name, filter string }{
		{"first", "Name eq 'Fabrikam'"},
		{"int", "Age gt 40"},
		{"last", "City eq 'Zürich'"},
		{"absent", "Country eq 'CH'"},
		{"rowkey", "RowKey ge 'row-00000001'"},
		{"timestamp", "Timestamp ge datetime'2020-01-01T00:00:00Z'"},
		{"four", "Age gt 40 and Balance lt 100.0 and Active and City ge 'Z'"},
		{"or10", "City eq 'a' or City eq 'b' or City eq 'c' or City eq 'd' or City eq 'e' or City eq 'f' or City eq 'g' or City eq 'h' or City eq 'i' or City eq 'j'"},
	} {
		f, err := odata.Parse(c.filter)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f.Match(k, timestamp, p)
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	const text = "PartitionKey eq 'p' and RowKey ge 'a' and RowKey lt 'b' and (Age gt 40 or not (Active eq true))"
	b.ReportAllocs()
	for b.Loop() {
		if _, err := odata.Parse(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMakePlan(b *testing.B) {
	f, err := odata.Parse("PartitionKey eq 'p' and RowKey ge 'a' and RowKey lt 'b' and (Age gt 40 or not (Active eq true))")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		odata.MakePlan(f)
	}
}
