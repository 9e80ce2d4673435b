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

// NewRows returns a reader of the entities of one table. list is the JSON list of entities that
// [Tables] found.
func NewRows(list io.Reader, m *rows.Mapper) rows.Reader {
	return rows.NewTexts(&documents{list: rows.NewObjectReader(bufio.NewReaderSize(list, 256<<10))}, m)
}

// documents reads the entities of a table as JSON. Azurite stores each entity inside a larger JSON
// document, from which documents extracts the entity.
type documents struct {
	list *rows.ObjectReader
	n    int // number of the last document; used as its line number, because the whole file is one line
}

// Next returns the next entity and its number in the list.
func (d *documents) Next() (text []byte, number int, err error) {
	text, _, err = d.list.Next()
	d.n++
	if err != nil {
		return nil, d.n, err
	}
	if entity := entityOf(text); entity != nil {
		text = entity
	}
	return text, d.n, nil // if the document has no entity, Next returns the whole document, which the parser of entities refuses
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

// guid returns the text of a Guid. Azurite stores a Guid as the base64 encoding of its text.
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
