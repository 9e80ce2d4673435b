package transfer

import (
	"bytes"
	"encoding/json"
	"os"
	"strconv"

	"edgetable/core/edm"
)

// rejectsEnding is that of the file of rejected rows.
const rejectsEnding = ".rejects.jsonl"

// reject is a row that was not imported.
type reject struct {
	file   string
	line   int
	reason string
	body   []byte // the entity as JSON; nil if the row is none
	text   string // of the file, without body
}

// append appends the row as a line that can be imported again. Members that begin
// with odata. describe an entity and are no properties of it.
func (r *reject) append(dst []byte) []byte {
	if body := r.object(); body != nil {
		if dst = append(dst, bytes.TrimSuffix(body, []byte("}"))...); len(body) > len("{}") {
			dst = append(dst, ',')
		}
	} else {
		dst = append(append(append(dst, `{"odata.text":`...), quote(r.text)...), ',')
	}
	dst = append(append(dst, `"odata.reason":`...), quote(r.reason)...)
	dst = append(append(dst, `,"odata.file":`...), quote(r.file)...)
	dst = strconv.AppendInt(append(dst, `,"odata.line":`...), int64(r.line), 10)
	return append(dst, "}\n"...)
}

func quote(s string) []byte {
	text, _ := json.Marshal(s) // a string cannot fail
	return text
}

// object returns the row as JSON: the entity, or what the file has in its place.
func (r *reject) object() []byte {
	if r.body != nil {
		return r.body
	}
	if text := bytes.TrimSpace([]byte(r.text)); len(text) > 0 && text[0] == '{' && json.Valid(text) {
		return text
	}
	return nil
}

// rejectedCell is a value of a row that is no entity.
type rejectedCell struct{ name, typ, text string }

// rejectedText returns the values as JSON with the types that they should have, so
// that the row is refused again until it is corrected.
func rejectedText(list []rejectedCell) string {
	text := []byte("{")
	for _, c := range list {
		if len(text) > 1 {
			text = append(text, ',')
		}
		if c.typ != edm.TypeString.String() && c.name != partitionKey && c.name != rowKey {
			text = append(append(append(append(text, quote(c.name+"@odata.type")...), ':'), quote(c.typ)...), ',')
		}
		text = append(append(append(text, quote(c.name)...), ':'), quote(c.text)...)
	}
	return string(append(text, '}'))
}

// rejectFile is the file of rejected rows. It is made when there is one.
type rejectFile struct {
	path string
	file *os.File
	size int64
	text []byte
}

// begin opens the file where it has earlier rejects, and drops those that the
// progress file does not know.
func (f *rejectFile) begin(size int64) error {
	if size == 0 {
		if err := os.Remove(f.path); err != nil && !os.IsNotExist(err) {
			return err
		}
		return nil
	}
	file, err := os.OpenFile(f.path, os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	f.file, f.size = file, size
	return file.Truncate(size)
}

// add appends rows. After an error, as on a full disk, the noted size leaves out the
// incomplete rows.
func (f *rejectFile) add(list []reject) (err error) {
	if len(list) == 0 {
		return nil
	}
	if f.file == nil {
		if f.file, err = os.OpenFile(f.path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600); err != nil {
			return err
		}
	}
	f.text = f.text[:0]
	for i := range list {
		f.text = list[i].append(f.text)
	}
	if _, err := f.file.WriteAt(f.text, f.size); err != nil {
		return err
	}
	f.size += int64(len(f.text))
	return nil
}

func (f *rejectFile) sync() error {
	if f.file == nil {
		return nil
	}
	return f.file.Sync()
}

func (f *rejectFile) close() error {
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}
