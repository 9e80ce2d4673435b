package settings

import (
	"strconv"
	"strings"

	"edgetable/core/table"
	"edgetable/core/xml"
)

// document parses a body. It tracks the path of the current element for error messages.
type document struct {
	r    *xml.Reader
	path []byte // path of the current element, such as SignedIdentifiers/SignedIdentifier[2]
}

type child struct {
	name     string
	need     need
	read     func() error // function that is called after the start tag, and reads up to the end tag
	maxCount int          // maximum number of occurrences; 0 stands for 1
}

type need bool

const (
	optional need = false
	required need = true
)

// parse parses a body with the given root element. It calls a function that reads the content of the root element.
func parse(body []byte, root string, read func(d *document) error) error {
	d := &document{r: xml.NewReader(body), path: []byte(root)}
	if _, err := d.r.Next(); err != nil {
		return d.malformed(err)
	}
	if d.r.Local() != root {
		return d.refuse("the root element must have this name")
	}
	if err := read(d); err != nil {
		return err
	}
	if _, err := d.r.Next(); err != nil { // nothing may follow the root element
		return d.malformed(err)
	}
	return nil
}

// children reads the content of the current element, up to its end tag. It reads the known children in any order and
// skips all others.
func (d *document) children(expected ...child) error {
	var counts [16]int
	for {
		kind, err := d.r.Next()
		switch {
		case err != nil:
			return d.malformed(err)
		case kind == xml.Text:
			if !blank(string(d.r.Text())) {
				return d.refuse("unexpected text between the elements")
			}
		case kind == xml.End:
			for i, c := range expected {
				if c.need == required && counts[i] == 0 {
					return d.refuse("<" + c.name + "> is missing")
				}
			}
			return nil
		default:
			if err := d.child(expected, &counts); err != nil {
				return err
			}
		}
	}
}

func (d *document) child(known []child, counts *[16]int) error {
	for i := range known {
		c := &known[i]
		if c.name != d.r.Local() {
			continue
		}
		outside := len(d.path)
		d.path = append(append(d.path, '/'), c.name...)
		if c.maxCount > 0 {
			d.path = append(strconv.AppendInt(append(d.path, '['), int64(counts[i]+1), 10), ']')
		}
		if counts[i]++; counts[i] > max(1, c.maxCount) {
			return d.refuse("at most " + strconv.Itoa(max(1, c.maxCount)) + " of these")
		}
		if err := c.read(); err != nil {
			return err
		}
		d.path = d.path[:outside]
		return nil
	}
	if err := d.r.Skip(); err != nil {
		return d.malformed(err)
	}
	return nil
}

// text returns a function that reads an element without children.
func (d *document) text(dst *string) func() error {
	return func() (err error) {
		if *dst, err = d.r.Content(); err != nil {
			return d.malformed(err)
		}
		return nil
	}
}

// flag returns a function that reads true or false in any case. Old Python clients send True.
func (d *document) flag(dst *bool) func() error {
	return func() error {
		var s string
		if err := d.text(&s)(); err != nil {
			return err
		}
		return d.boolean(s, dst)
	}
}

func (d *document) boolean(s string, dst *bool) error {
	s = trim(s)
	if *dst = strings.EqualFold(s, "true"); !*dst && !strings.EqualFold(s, "false") {
		return d.refuse("neither true nor false")
	}
	return nil
}

// number returns a function that reads an integer from low to high.
func (d *document) number(dst *int32, low, high int32) func() error {
	return func() error {
		var s string
		if err := d.text(&s)(); err != nil {
			return err
		}
		n, err := strconv.ParseInt(trim(s), 10, 32)
		if err != nil || int32(n) < low || int32(n) > high {
			return d.refuse("not a whole number from " + strconv.Itoa(int(low)) + " to " + strconv.Itoa(int(high)))
		}
		*dst = int32(n)
		return nil
	}
}

// version reads the version of logging or metrics, which must be 1.0.
func (d *document) version() error {
	var s string
	if err := d.text(&s)(); err != nil {
		return err
	}
	if trim(s) != "1.0" {
		return d.refuse("the version must be 1.0")
	}
	return nil
}

// refuse returns the service's error for an invalid document. The message contains the path of the element and the
// problem. It quotes only element names of the document.
func (d *document) refuse(what string) error { return d.refuseAs(table.InvalidXMLDocument, what) }

// refuseAs is like refuse with another error code.
func (d *document) refuseAs(code table.Code, what string) error {
	return code.With(code.Err().Message + " " + string(d.path) + ": " + what + ".")
}

func (d *document) malformed(err error) error { return d.refuse(err.Error()) }

func appendElement(dst []byte, name, value string) []byte {
	return appendEnd(append(appendStart(dst, name), value...), name)
}

func appendText(dst []byte, name, value string) []byte {
	return appendEnd(xml.AppendText(appendStart(dst, name), value), name)
}

func appendStart(dst []byte, name string) []byte {
	return append(append(append(dst, '<'), name...), '>')
}

func appendEnd(dst []byte, name string) []byte {
	return append(append(append(dst, '<', '/'), name...), '>')
}
