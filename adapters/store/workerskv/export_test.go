package workerskv

import (
	"edgetable/core/edm"
	"edgetable/core/table"
)

// What is read from a namespace, or from a client's token, for fuzzing.

func NameOf(k []byte) string { return nameOf(spaceEntities, k) }

func KeyOf(name string) []byte { return keyOf(spaceEntities, name) }

func MarkOf(k []byte) string { return markOf(spaceEntities, k) }

func MarkedBy(name string) []byte { return markedBy(spaceEntities, name) }

func Cell(body []byte) (value, metadata []byte) { return encodeCell(body) }

func ReadCell(value, metadata []byte) ([]byte, error) { return decodeCell(value, metadata) }

// ReadJournal decodes a journal and encodes it again.
func ReadJournal(body []byte) ([]byte, error) {
	j, err := decodeJournal(body)
	if err != nil {
		return nil, err
	}
	b := j.encode(stampOf(body))
	if len(b) > stampSize+1+j.size {
		panic("a journal is longer than it says")
	}
	return b, nil
}

// ReadPosition takes a position apart and puts it together.
func ReadPosition(position []byte) (again []byte, entities, journal string) {
	k, c := splitPosition(position)
	if n := len(k); c != (cursors{}) {
		k = c.position(k[:n-1])
	}
	return k, c.entities, c.journal
}

// WritePosition is a position behind a key.
func WritePosition(k []byte, entities, journal string) []byte {
	return cursors{entities: entities, journal: journal}.position(k)
}

// Journal encodes one row.
func Journal(k string, stamp edm.Ticks, gone bool, cell []byte) []byte {
	j := new(journal)
	j.set(k, journalRow{gone: gone, cell: cell})
	return j.encode(stamp)
}

// EntityName is the name of an entity in a life that has one byte.
func EntityName(life byte, k []byte) string {
	return nameOf(entities(lifeOf(table.Incarnation{life})), k)
}
