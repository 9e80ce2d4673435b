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

// feed matches the start of a query response, as in the files of AzCopy 7 and in the output of the Azure CLI.
var feed = regexp.MustCompile(`^\s*\{(\s*"odata\.[^"]*"\s*:\s*"[^"]*"\s*,)*\s*("value"|"nextMarker"\s*:\s*(null|\{[^{}]*\})\s*,\s*"items"|"items")\s*:\s*\[`)

// IsDocument reports whether a JSON file is a single document: a list of entities, a query response, or entities that
// extend over several lines. Otherwise each line is an entity.
func IsDocument(in *bufio.Reader, file string) bool {
	head, _ := in.Peek(64 << 10) // if Peek fails, the next read returns the error
	if bytes.HasPrefix(head, []byte("\ufeff")) {
		_, _ = in.Discard(3)
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

// ObjectReader reads the entities of a JSON document.
type ObjectReader struct {
	r      *bufio.Reader
	line   int
	inList bool
	inFeed bool // true if the list is part of a query response
	text   []byte
}

// NewObjectReader returns a reader of a document, for which IsDocument must have returned true.
func NewObjectReader(in *bufio.Reader) *ObjectReader { return &ObjectReader{r: in, line: 1} }

func (o *ObjectReader) byte() (byte, error) {
	b, err := o.r.ReadByte()
	if b == '\n' {
		o.line++
	}
	return b, err
}

// Next returns the JSON of the next entity. It is valid until the next call.
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
			if err := o.skip(); err != nil {
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

// object reads a JSON object, an entity or a query response, after its opening brace. It returns true at the start of
// the list in a query response; entities do not contain lists.
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

// skip reads the rest of a query response after the list of entities.
func (o *ObjectReader) skip() error {
	_, err := o.object()
	if err == io.ErrUnexpectedEOF {
		err = errors.New("the file contains only the beginning of a query response")
	}
	return err
}
