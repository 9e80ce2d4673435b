package rows

import (
	"bytes"
	"encoding/json"
	"os"
	"strconv"

	"edgetable/core/edm"
)

// RejectsEnding is the extension of the file of rejects.
const RejectsEnding = ".rejects.jsonl"

// Reject is a row that was not imported.
type Reject struct {
	Table  string // table for which the row was intended
	File   string
	Line   int
	Reason string
	Body   []byte // the row as the JSON of an entity, or nil if the row cannot be represented as an entity
	Text   string // the original text of the row if Body is nil
}

// append appends the reject as a JSON line that an import can read. The members with the prefix "odata." describe the
// reject, and imports ignore them.
func (r *Reject) append(dst []byte) []byte {
	if body := r.object(); body != nil {
		if dst = append(dst, bytes.TrimSuffix(body, []byte("}"))...); len(body) > len("{}") {
			dst = append(dst, ',')
		}
	} else {
		dst = append(append(append(dst, `{"odata.text":`...), quote(r.Text)...), ',')
	}
	dst = append(append(dst, `"odata.reason":`...), quote(r.Reason)...)
	dst = append(append(dst, `,"odata.file":`...), quote(r.File)...)
	dst = strconv.AppendInt(append(dst, `,"odata.line":`...), int64(r.Line), 10)
	dst = append(append(dst, `,"odata.table":`...), quote(r.Table)...)
	return append(dst, "}\n"...)
}

func quote(s string) []byte {
	text, _ := json.Marshal(s) // encoding a string cannot fail
	return text
}

// object returns the row as a JSON object. If Body is not nil, the result is Body. Otherwise, the result is Text if
// Text contains a JSON object, or else nil.
func (r *Reject) object() []byte {
	if r.Body != nil {
		return r.Body
	}
	if text := bytes.TrimSpace([]byte(r.Text)); len(text) > 0 && text[0] == '{' && json.Valid(text) {
		return text
	}
	return nil
}

// RejectedCell is a value of a row that cannot be represented as an entity.
type RejectedCell struct{ Name, Type, Text string }

// RejectedText returns the values as a JSON object with their intended types. An import rejects this object until the
// values are corrected.
func RejectedText(list []RejectedCell) string {
	text := []byte("{")
	for _, c := range list {
		if len(text) > 1 {
			text = append(text, ',')
		}
		if c.Type != edm.TypeString.String() && c.Name != PartitionKey && c.Name != RowKey {
			text = append(append(append(append(text, quote(c.Name+TypeAnnotation)...), ':'), quote(c.Type)...), ',')
		}
		text = append(append(append(text, quote(c.Name)...), ':'), quote(c.Text)...)
	}
	return string(append(text, '}'))
}

// RejectFile is the file of rejects. It is created when the first row is rejected.
type RejectFile struct {
	Path string
	file *os.File
	Size int64
	text []byte
}

// Begin truncates the file of an earlier run to size, as recorded in the progress file. If size is 0, Begin removes the
// file.
func (f *RejectFile) Begin(size int64) error {
	if size == 0 {
		if err := os.Remove(f.Path); err != nil && !os.IsNotExist(err) {
			return err
		}
		return nil
	}
	file, err := os.OpenFile(f.Path, os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	f.file, f.Size = file, size
	return file.Truncate(size)
}

// Add appends rejects. After an error, for example because the disk is full, Size does not include a partial write, and
// the next call overwrites it.
func (f *RejectFile) Add(list []Reject) (err error) {
	if len(list) == 0 {
		return nil
	}
	if f.file == nil {
		if f.file, err = os.OpenFile(f.Path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600); err != nil {
			return err
		}
	}
	f.text = f.text[:0]
	for i := range list {
		f.text = list[i].append(f.text)
	}
	if _, err := f.file.WriteAt(f.text, f.Size); err != nil {
		return err
	}
	f.Size += int64(len(f.text))
	return nil
}

func (f *RejectFile) Sync() error {
	if f.file == nil {
		return nil
	}
	return f.file.Sync()
}

func (f *RejectFile) Close() error {
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}
