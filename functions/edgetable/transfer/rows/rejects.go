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
	File   string
	Line   int
	Reason string
	Body   []byte // the entity as JSON; nil if the row is not an entity
	Text   string // text of the file if there is no Body
}

// append appends the row as a line that can be imported again. Members that begin with odata.
// describe the row; the import does not read them as properties.
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
	return append(dst, "}\n"...)
}

func quote(s string) []byte {
	text, _ := json.Marshal(s) // a string cannot fail
	return text
}

// object returns the row as JSON: the entity, or the text of the file.
func (r *Reject) object() []byte {
	if r.Body != nil {
		return r.Body
	}
	if text := bytes.TrimSpace([]byte(r.Text)); len(text) > 0 && text[0] == '{' && json.Valid(text) {
		return text
	}
	return nil
}

// RejectedCell is a value of a row that is not an entity.
type RejectedCell struct{ Name, Type, Text string }

// RejectedText returns the values as JSON with the types that they should have, so
// that the row is refused again until it is corrected.
func RejectedText(list []RejectedCell) string {
	text := []byte("{")
	for _, c := range list {
		if len(text) > 1 {
			text = append(text, ',')
		}
		if c.Type != edm.TypeString.String() && c.Name != PartitionKey && c.Name != RowKey {
			text = append(append(append(append(text, quote(c.Name+"@odata.type")...), ':'), quote(c.Type)...), ',')
		}
		text = append(append(append(text, quote(c.Name)...), ':'), quote(c.Text)...)
	}
	return string(append(text, '}'))
}

// RejectFile is the file of rejected rows. It is created at the first rejected row.
type RejectFile struct {
	Path string
	file *os.File
	Size int64
	text []byte
}

// Begin opens a file that has rejects of an earlier run, and truncates it to the size that the
// progress file knows.
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

// Add appends rows. After an error, such as a full disk, the size does not include the incomplete
// rows.
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
