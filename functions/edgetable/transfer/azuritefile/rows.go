package azuritefile

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"strings"

	"edgetable/core/edm"
	"edgetable/functions/edgetable/transfer/rows"
)

// NewRows returns a reader of the entities of one table. The argument list must be the JSON list at the offsets in
// [Table].
func NewRows(list io.Reader, m *rows.Mapper) rows.Reader {
	return rows.NewTexts(&documents{list: rows.NewObjectReader(bufio.NewReaderSize(list, 256<<10))}, m)
}

// documents extracts the entities of a table from LokiJS documents, as JSON.
type documents struct {
	list *rows.ObjectReader
	n    int // number of documents read; it serves as the line number, because the file has only one line
}

// Next returns the next entity and the number of its document.
func (d *documents) Next() (text []byte, number int, err error) {
	text, _, err = d.list.Next()
	d.n++
	if err != nil {
		return nil, d.n, err
	}
	if entity := entityOf(text); entity != nil {
		text = entity
	}
	return text, d.n, nil // a document without an entity is returned unchanged, and the entity parser rejects it
}

// entityOf returns the entity in a LokiJS document as JSON, or nil if the document has no entity.
func entityOf(text []byte) []byte {
	var document struct {
		PartitionKey, RowKey json.RawMessage
		Properties           map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(text, &document) != nil || document.Properties == nil {
		return nil
	}
	entity := document.Properties
	entity[rows.PartitionKey], entity[rows.RowKey] = document.PartitionKey, document.RowKey
	for name, typ := range entity {
		property, ok := strings.CutSuffix(name, rows.TypeAnnotation)
		if ok && bytes.Equal(typ, []byte(`"`+edm.TypeGuid.String()+`"`)) {
			entity[property] = guid(entity[property])
		}
	}
	whole, err := json.Marshal(entity)
	if err != nil {
		return nil
	}
	return whole
}

// guid decodes the value of a Guid property, which Azurite stores as the base64 encoding of its text.
func guid(value json.RawMessage) json.RawMessage {
	const length = len("00000000-0000-0000-0000-000000000000")
	var text string
	if json.Unmarshal(value, &text) != nil || len(text) == length {
		return value
	}
	plain, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(plain) != length {
		return value
	}
	return append(append([]byte{'"'}, plain...), '"')
}
