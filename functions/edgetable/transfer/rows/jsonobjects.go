package rows

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
)

// feed matches the beginning of a query response, as AzCopy 7 writes it to a file, or as the Azure
// CLI prints it.
var feed = regexp.MustCompile(`^\s*\{(\s*"odata\.[^"]*"\s*:\s*"[^"]*"\s*,)*\s*("value"|"nextMarker"\s*:\s*(null|\{[^{}]*\})\s*,\s*"items"|"items")\s*:\s*\[`)

// IsDocument reports whether the entities of a file are not one per line: as a list, as a query
// response, or as objects of several lines.
func IsDocument(in *bufio.Reader, file string) bool {
	head, _ := in.Peek(64 << 10) // an error is returned again by the next read
	if bytes.HasPrefix(head, []byte("\ufeff")) {
		_, _ = in.Discard(3) // it was peeked at
		head = head[3:]
	}
	head = bytes.TrimSpace(head)
	first, _, whole := bytes.Cut(head, []byte("\n"))
	switch {
	case len(head) == 0:
		return false
	case head[0] == '[', feed.Match(head):
		return true
	}
	name := strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(file), ".gz"), ".zst")
	return filepath.Ext(name) == ".json" && whole && !json.Valid(first)
}

// ObjectReader reads the entities of a document one after another.
type ObjectReader struct {
	r      *bufio.Reader
	line   int
	inList bool
	inFeed bool // the list is part of a query response
	text   []byte
}

// NewObjectReader returns a reader for a document that IsDocument recognized.
func NewObjectReader(in *bufio.Reader) *ObjectReader { return &ObjectReader{r: in, line: 1} }

func (o *ObjectReader) byte() (byte, error) {
	b, err := o.r.ReadByte()
	if b == '\n' {
		o.line++
	}
	return b, err
}

// Next returns the next object, which is valid until the following call.
func (o *ObjectReader) Next() (text []byte, line int, err error) {
	for {
		b, err := o.byte()
		if err == io.EOF && o.inList {
			err = errors.New("the file ends before its list of entities")
		}
		if err != nil {
			return nil, o.line, err
		}
		switch b {
		case ' ', '\t', '\r', '\n', ',':
			continue
		case '[':
			o.inList = true
			continue
		case ']':
			o.inList = false
			if !o.inFeed {
				continue
			}
			o.inFeed = false
			if err := o.skip(); err != nil { // the rest of the response
				return nil, o.line, err
			}
			continue
		case '{':
			line = o.line
			list, err := o.object()
			if list || err != nil && err != io.ErrUnexpectedEOF {
				if err != nil {
					return nil, line, err
				}
				o.inList, o.inFeed = true, true
				continue
			}
			if err != nil {
				return nil, line, errors.New("the file ends in the entity that begins there")
			}
			return o.text, line, nil
		}
		return nil, o.line, fmt.Errorf("expected { where an entity begins, not %q", string(rune(b)))
	}
}

// object reads an object after its opening brace. list is true at the start of the list of
// entities in a query response. No entity contains such a list.
func (o *ObjectReader) object() (list bool, err error) {
	o.text = append(o.text[:0], '{')
	for depth, quoted := 1, false; depth > 0; {
		b, err := o.byte()
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return false, err
		}
		if len(o.text) > MaxRecord {
			return false, fmt.Errorf("an entity of more than %d MiB", MaxRecord>>20)
		}
		switch {
		case quoted && b == '\\':
			o.text = append(o.text, b)
			if b, err = o.byte(); err != nil {
				return false, io.ErrUnexpectedEOF
			}
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '[' && depth == 1 && feed.Match(append(o.text, '[')):
			return true, nil
		case b == '{':
			depth++
		case b == '}':
			depth--
		}
		o.text = append(o.text, b)
	}
	return false, nil
}

// skip reads the rest of a response after its list.
func (o *ObjectReader) skip() error {
	_, err := o.object()
	if err == io.ErrUnexpectedEOF {
		err = errors.New("the file ends before the response that it holds")
	}
	return err
}
