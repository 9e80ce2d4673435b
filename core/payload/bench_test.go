package payload_test

import (
	"fmt"
	"strings"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/payload"
	"edgetable/core/table"
)

// kilobyte returns an entity of about 1 KiB with ten properties of all types except Binary.
func kilobyte() []byte {
	return []byte(`{"PartitionKey":"customer-000042","RowKey":"2026-11-21T10:00:00-0001",` +
		`"Name":"` + strings.Repeat("Anna Example ", 16) + `",` +
		`"Street":"` + strings.Repeat("12 Long Road ", 12) + `",` +
		`"Comment":"` + strings.Repeat("said \\\"hello\\\" ", 10) + `",` +
		`"Age":39,"Ratio":3.25,"Active":true,` +
		`"Balance@odata.type":"Edm.Int64","Balance":"922337203685477580",` +
		`"Since@odata.type":"Edm.DateTime","Since":"2024-02-29T12:30:45.1234567Z",` +
		`"Device@odata.type":"Edm.Guid","Device":"c9da6455-213d-42c9-9a79-3e9149a57833",` +
		`"City":"` + strings.Repeat("Springfield ", 13) + `"}`)
}

// cyrillic returns an entity of about 1 KiB. Most of its characters are not ASCII.
func cyrillic() []byte {
	return []byte(`{"PartitionKey":"p","RowKey":"r","text":"` + strings.Repeat("Анна ", 110) + `"}`)
}

// atomOf converts a JSON entity to the Atom entry that a client would send.
func atomOf(b *testing.B, body []byte) []byte {
	e, err := payload.ReadEntity(body)
	if err != nil {
		b.Fatal(err)
	}
	v := payload.View{Format: payload.Atom}
	_, properties, _ := strings.Cut(string(v.AppendEntity(nil, e.PartitionKey, e.RowKey, edm.MaxDateTime, e.Properties)), "<m:properties>")
	properties, _, _ = strings.Cut(properties, "</m:properties>")
	return []byte(atomStart + properties + atomEnd)
}

func BenchmarkReadEntity(b *testing.B) {
	for name, body := range map[string][]byte{"typical": kilobyte(), "cyrillic": cyrillic()} {
		b.Run("json/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := payload.ReadEntity(body); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("atom/"+name, func(b *testing.B) {
			atom := atomOf(b, body)
			b.SetBytes(int64(len(atom)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := payload.ReadAtomEntity(atom); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// wide returns an entity with n properties, which are not sorted by name.
func wide(n int) []byte {
	b := []byte(`{"PartitionKey":"p","RowKey":"r"`)
	for i := range n {
		b = fmt.Appendf(b, `,"Property%03d":%d`, (i*101)%n, i)
	}
	return append(b, '}')
}

// BenchmarkReadUpdate measures ReadUpdate, which sorts the properties by name.
func BenchmarkReadUpdate(b *testing.B) {
	for name, body := range map[string][]byte{"typical": kilobyte(), "wide": wide(200)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := payload.ReadUpdate(body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkAppendPage measures how long it takes to write a page of a thousand entities of 1 KiB.
func BenchmarkAppendPage(b *testing.B) {
	e, err := payload.ReadEntity(kilobyte())
	if err != nil {
		b.Fatal(err)
	}
	for name, format := range map[string]payload.Format{"json": payload.Minimal, "atom": payload.Atom} {
		b.Run(name, func(b *testing.B) {
			v := payload.View{Format: format, Base: "https://acct.table.core.windows.net/", Account: "acct", Table: "mytable"}
			var dst []byte
			b.ReportAllocs()
			for b.Loop() {
				dst = v.AppendFeedStart(dst[:0])
				for i := range table.MaxPageRows {
					dst = v.AppendFeedEntity(dst, i, e.PartitionKey, e.RowKey, edm.MaxDateTime, e.Properties)
				}
				dst = v.AppendFeedEnd(dst)
			}
			b.SetBytes(int64(len(dst)))
		})
	}
}

func BenchmarkAppendCyrillic(b *testing.B) {
	e, err := payload.ReadEntity(cyrillic())
	if err != nil {
		b.Fatal(err)
	}
	var v payload.View
	dst := v.AppendEntity(nil, "p", "r", 0, e.Properties)
	b.SetBytes(int64(len(dst)))
	b.ReportAllocs()
	for b.Loop() {
		dst = v.AppendEntity(dst[:0], "p", "r", 0, e.Properties)
	}
}

func BenchmarkAppendEntity(b *testing.B) {
	e, err := payload.ReadEntity(kilobyte())
	if err != nil {
		b.Fatal(err)
	}
	for name, format := range map[string]payload.Format{"none": payload.NoMetadata, "minimal": payload.Minimal, "full": payload.Full, "atom": payload.Atom} {
		b.Run(name, func(b *testing.B) {
			v := payload.View{Format: format, Base: "https://acct.table.core.windows.net/", Account: "acct", Table: "mytable"}
			dst := v.AppendEntity(nil, e.PartitionKey, e.RowKey, edm.MaxDateTime, e.Properties)
			b.SetBytes(int64(len(dst)))
			b.ReportAllocs()
			for b.Loop() {
				dst = v.AppendEntity(dst[:0], e.PartitionKey, e.RowKey, edm.MaxDateTime, e.Properties)
			}
		})
	}
}

func BenchmarkAppendProjected(b *testing.B) {
	e, err := payload.ReadEntity(kilobyte())
	if err != nil {
		b.Fatal(err)
	}
	v := payload.View{Format: payload.Minimal, Table: "mytable", Select: payload.NewProjection([]string{"Age", "City", "Missing"}, "Age,City,Missing")}
	dst := v.AppendFeedEntity(nil, 1, e.PartitionKey, e.RowKey, edm.MaxDateTime, e.Properties)
	b.ReportAllocs()
	for b.Loop() {
		dst = v.AppendFeedEntity(dst[:0], 1, e.PartitionKey, e.RowKey, edm.MaxDateTime, e.Properties)
	}
}
