package xml_test

import (
	"strings"
	"testing"

	"edgetable/core/xml"
)

func BenchmarkReader(b *testing.B) {
	element := `<d:Name m:type="Edm.String">Anna Example</d:Name><d:Age m:type="Edm.Int32">39</d:Age>`
	for name, body := range map[string]string{
		"elements":   strings.Repeat(element, 12),
		"text":       strings.Repeat("12 Long Road ", 80),
		"references": strings.Repeat("said &quot;hello&quot; ", 45),
		"cyrillic":   strings.Repeat("Анна ", 110),
	} {
		doc := []byte(xml.Header + `<a xmlns:d="d" xmlns:m="m">` + body + `</a>`)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				r := xml.NewReader(doc)
				for {
					kind, err := r.Next()
					if err != nil {
						b.Fatal(err)
					}
					if kind == xml.EOF {
						break
					}
				}
			}
		})
	}
}

func BenchmarkAppendText(b *testing.B) {
	for name, s := range map[string]string{
		"text":     strings.Repeat("12 Long Road ", 80),
		"markup":   strings.Repeat("<b>said</b> & so on ", 50),
		"cyrillic": strings.Repeat("Анна ", 110),
	} {
		b.Run(name, func(b *testing.B) {
			var dst []byte
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				dst = xml.AppendText(dst[:0], s)
			}
		})
	}
}
