package rows

import (
	"bytes"
	"encoding/json"
	"os"
	"strconv"

	"edgetable/core/edm"
)

// RejectsEnding is the extension of the file of rejected rows.
const RejectsEnding = ".rejects.jsonl"

// Reject is a row that was not imported.
type Reject struct {
	Table  string // table into which the row should have been imported
	File   string
	Line   int
	Reason string
	Body   []byte // the row as the JSON of an entity; nil if the row could not be read as an entity
	Text   string // if Body is nil: the text that the row has in the file
}

// append adds the row to dst as a line of JSON. An import can read this line. Members whose names have
// the prefix "odata." describe the row, and an import ignores these members.
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
	text, _ := json.Marshal(s) // cannot fail: any string has a JSON form
	return text
}

// object returns the field Body, which is a JSON object. If Body is nil, object returns the field
// Text. If Text is not a JSON object either, the result is nil.
func (r *Reject) object() []byte {
	if r.Body != nil {
		return r.Body
	}
	if text := bytes.TrimSpace([]byte(r.Text)); len(text) > 0 && text[0] == '{' && json.Valid(text) {
		return text
	}
	return nil
}

// RejectedCell is a value of a row that could not be read as an entity.
type RejectedCell struct{ Name, Type, Text string }

// RejectedText returns the values as a JSON object, each with the type that the value should have.
// An import refuses this object until somebody corrects the values.
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

// RejectFile is the file of rejected rows. Add creates the file when the first row is rejected.
type RejectFile struct {
	Path string
	file *os.File
	Size int64
	text []byte
}

// Begin opens the file that an earlier run wrote, and truncates the file to size. The progress file
// recorded this size. If size is 0, Begin removes the file.
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

// Add appends rows. If this fails, for example on a full disk, Size does not include incomplete
// rows, and the next call of Add overwrites them.
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
