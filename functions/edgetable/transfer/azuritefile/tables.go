package azuritefile

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// Table is the position of a table in the file.
type Table struct {
	Account, Name string
	Begin, End    int64 // byte offsets of the JSON list of its entities
}

// errForm is the error for a file that does not have the form of Azurite's file.
var errForm = errors.New("it is not Azurite's JSON file of tables")

// Tables finds the tables in the file. It reads the whole file and keeps none of its content, so the memory
// does not grow with the tables.
func Tables(text io.Reader) (list []Table, err error) {
	d := json.NewDecoder(text)
	found := false
	err = members(d, func(name string) error {
		if name != "collections" {
			return skip(d)
		}
		found = true
		return elements(d, func() error {
			one, err := collection(d)
			if err == nil && one.Account != "" {
				list = append(list, one)
			}
			return err
		})
	})
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("the file is incomplete: stop Azurite, which then rewrites the file, and try again")
	case err == nil && !found:
		err = errForm
	}
	return list, err
}

// collection reads a collection of the database. A collection with a $ inside its name is a table:
// ACCOUNT$TABLE.
func collection(d *json.Decoder) (t Table, err error) {
	err = members(d, func(name string) error {
		switch name {
		case "name":
			var text string
			if err := d.Decode(&text); err != nil {
				return err
			}
			if account, table, ok := strings.Cut(text, "$"); ok && account != "" {
				t.Account, t.Name = account, table
			}
			return nil
		case "data":
			if err := open(d, '['); err != nil {
				return err
			}
			t.Begin = d.InputOffset() - 1
			if err := skipRest(d); err != nil {
				return err
			}
			t.End = d.InputOffset()
			return nil
		}
		return skip(d)
	})
	if err == nil && t.Account != "" && t.End == 0 {
		err = errForm
	}
	return t, err
}

// members calls do with the name of each member of an object; do must read the value of the member.
func members(d *json.Decoder, do func(name string) error) error {
	if err := open(d, '{'); err != nil {
		return err
	}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return err
		}
		name, ok := token.(string)
		if !ok {
			return errForm
		}
		if err := do(name); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// elements calls do for each element of a list; do must read the element.
func elements(d *json.Decoder, do func() error) error {
	if err := open(d, '['); err != nil {
		return err
	}
	for d.More() {
		if err := do(); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

func open(d *json.Decoder, bracket json.Delim) error {
	token, err := d.Token()
	if err == nil && token != bracket {
		err = errForm
	}
	return err
}

// skip reads and discards a value.
func skip(d *json.Decoder) error {
	token, err := d.Token()
	if _, ok := token.(json.Delim); err != nil || !ok {
		return err
	}
	return skipRest(d)
}

// rest reads and discards the remaining content of a list or an object after its opening bracket.
func skipRest(d *json.Decoder) error {
	for depth := 1; depth > 0; {
		token, err := d.Token()
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('['), json.Delim('{'):
			depth++
		case json.Delim(']'), json.Delim('}'):
			depth--
		}
	}
	return nil
}
