package azuritefile

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// Table locates a table in Azurite's file.
type Table struct {
	Account, Name string
	Begin, End    int64 // byte offsets of the start and the end of the JSON list of entities
}

var errForm = errors.New("it is not Azurite's JSON file of tables")

// Tables returns the tables in Azurite's file. It streams the file, so its memory use does not depend on the size of
// the tables.
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

// collection reads one collection of the database. Only the collections named ACCOUNT$TABLE are tables.
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

// members reads a JSON object. It passes the name of each member to the callback, which must read the value.
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

// elements reads a JSON list. For each element, it calls the callback, which must read the element.
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

func skip(d *json.Decoder) error {
	token, err := d.Token()
	if _, ok := token.(json.Delim); err != nil || !ok {
		return err
	}
	return skipRest(d)
}

// skipRest discards the rest of a JSON list or object, up to the closing bracket. The opening bracket must have been
// read.
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
