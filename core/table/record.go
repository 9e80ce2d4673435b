package table

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"strings"

	"edgetable/core/edm"
)

// Record is one entry of the catalog.
type Record struct {
	Key         RecordKey
	Value       []byte      // content of the record, which the store does not interpret
	Incarnation Incarnation // the incarnation of the table; zero for the settings of an account
	Revision    Revision
	Traits      *Traits // options of the table, or nil if it declares none
}

// Incarnation is the random id of a table from its creation to its deletion. It is part of the stored keys, so tables
// of the same name share nothing. The caller of the store chooses it.
type Incarnation [12]byte

// Revision identifies one state of a record. Its text is opaque except to the store. The revision of a missing record
// is empty.
type Revision string

// RecordKey is the key of a record. If Table is empty, the record holds the settings of the account.
type RecordKey struct {
	Account string
	Table   string // table name in lower case; see [FoldName]
}

const (
	tablePrefix    = "table/"
	settingsPrefix = "settings/"
)

// String returns the key as text, which stores use as their key: "table/ACCOUNT/TABLE" or "settings/ACCOUNT". The texts
// of one account's tables sort in the order of the names.
func (k RecordKey) String() string {
	if k.Table == "" {
		return settingsPrefix + k.Account
	}
	return TablesOf(k.Account) + k.Table
}

// TablesOf returns the text with which the keys of an account's tables begin. In each key, the table name follows.
func TablesOf(account string) string { return tablePrefix + account + "/" }

// ParseRecordKey is the inverse of [RecordKey.String]. The key shares memory with the
// text.
func ParseRecordKey(text string) (k RecordKey, ok bool) {
	if account, ok := strings.CutPrefix(text, settingsPrefix); ok {
		return RecordKey{Account: account}, true
	}
	rest, ok := strings.CutPrefix(text, tablePrefix)
	if !ok {
		return k, false
	}
	k.Account, k.Table, _ = strings.Cut(rest, "/")
	return k, k.Table != ""
}

// RevisionOf derives the revision of a record from the Timestamp of its last write. It is for stores whose Timestamps
// never repeat.
func RevisionOf(written edm.Ticks) Revision {
	return Revision(strconv.FormatInt(int64(written), 36))
}

// Written is the inverse of [RevisionOf]. It returns 0 for any other revision.
func (r Revision) Written() edm.Ticks {
	t, err := strconv.ParseInt(string(r), 36, 64)
	if err != nil || t < 0 {
		return 0
	}
	return edm.Ticks(t)
}

// recordHead is the length of the fixed part of an encoded record: the Timestamp of the write, the incarnation, and 4
// bytes for the mark and the length of the traits.
const recordHead = 8 + len(Incarnation{}) + 4

// traitsForm marks the encoded form of a record with traits. A program without support for traits rejects the unknown
// mark.
const traitsForm = 1

// AppendRecord appends the stored form of a record without its key, for stores that hold records as bytes. ParseRecord
// derives the revision from written, the Timestamp of the write.
func AppendRecord(dst []byte, r *Record, timestamp edm.Ticks) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(timestamp))
	dst = append(dst, r.Incarnation[:]...)
	mark := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	if r.Traits != nil {
		dst = r.Traits.append(dst)
		dst[mark] = traitsForm
		binary.BigEndian.PutUint16(dst[mark+2:], uint16(len(dst)-mark-4))
	}
	return append(dst, r.Value...)
}

// ParseRecord is the inverse of [AppendRecord]. key is the record key as text. The record does not share memory with b.
func ParseRecord(key string, b []byte) (r Record, err error) {
	k, ok := ParseRecordKey(key)
	if !ok || len(b) < recordHead {
		return r, errRecord
	}
	value := b[recordHead:]
	switch mark := [4]byte(b[recordHead-4:]); {
	case mark == [4]byte{}:
	case mark[0] != traitsForm || mark[1] != 0:
		return r, ErrNewerForm
	default:
		n := int(binary.BigEndian.Uint16(mark[2:]))
		if n > len(value) {
			return r, errRecord
		}
		if r.Traits, err = parseTraits(value[:n]); err != nil {
			return Record{}, err
		}
		value = value[n:]
	}
	r.Key, r.Revision = k, RevisionOf(edm.Ticks(binary.BigEndian.Uint64(b)))
	copy(r.Incarnation[:], b[8:])
	r.Value = bytes.Clone(value)
	return r, nil
}
