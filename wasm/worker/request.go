package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net/netip"
	"strconv"
	"strings"
	"unsafe"

	"edgetable/core/protocol"
)

// incoming is a request as the shell has it: the length of its head, the head,
// the body. The head is a text in lines, of which the last has no end:
//
//	MERGE
//	https://acme.table.example.com/people(PartitionKey='a%2Fb',RowKey='1')
//	192.0.2.7            the client's address; empty where it is not known
//	                     why it is refused unseen; empty to serve it
//	5                    length of the body, -1 if it is not known
//	x-ms-version:2019-02-02
//
// The URL is as it was sent. A name occurs once; where it was sent several times,
// commas are between the values. A length of more bytes than follow is that of a body
// too long to be taken.
type incoming struct {
	protocol.Request
	refusal string
	body    body
	fields  fields
}

// body is that of a request, which is in memory: the protocol need not copy it.
type body struct {
	bytes.Reader
	b []byte
}

func (b *body) Bytes() []byte { return b.b }

// fields are header lines as they came, of which no name is canonical.
type fields []protocol.Field

// Get implements [protocol.Fields].
func (f fields) Get(name string) string {
	for i := range f {
		if len(f[i].Name) == len(name) && strings.EqualFold(f[i].Name, name) {
			return f[i].Value
		}
	}
	return ""
}

// Values implements [protocol.Fields].
func (f fields) Values(name string) (values []string) {
	for i := range f {
		if len(f[i].Name) == len(name) && strings.EqualFold(f[i].Name, name) {
			values = append(values, f[i].Value)
		}
	}
	return values
}

// preamble is the number of lines before the header.
const preamble = 5

var errRequest = errors.New("the request is not in the form of the shell")

// read reads a request, which goes on to refer to b.
func (r *incoming) read(b []byte) error {
	if len(b) < 4 {
		return errRequest
	}
	n := binary.LittleEndian.Uint32(b)
	if b = b[4:]; uint64(n) > uint64(len(b)) {
		return errRequest
	}
	head, body := view(b[:n]), b[n:]
	var lines [preamble]string
	for i := range lines {
		var more bool
		if lines[i], head, more = strings.Cut(head, "\n"); !more && i < preamble-1 {
			return errRequest
		}
	}
	length, err := strconv.ParseInt(lines[4], 10, 64)
	if err != nil {
		return errRequest
	}
	if err := r.locate(lines[1]); err != nil {
		return err
	}
	r.fields = r.fields[:0]
	for line := range strings.SplitSeq(head, "\n") {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			continue // the empty line of no header
		}
		for strings.EqualFold(name, "x-http-method") { // the only one whose values are counted
			first, rest, more := strings.Cut(value, ",")
			if !more {
				break
			}
			r.fields = append(r.fields, protocol.Field{Name: name, Value: first})
			value = rest
		}
		r.fields = append(r.fields, protocol.Field{Name: name, Value: value})
	}
	r.Method, r.refusal = lines[0], lines[3]
	r.Header = r.fields
	r.ContentLength, r.Body = length, nil
	r.body.b = body
	r.body.Reset(body)
	if length != 0 {
		r.Body = &r.body
	}
	r.Source = netip.Addr{}
	if a, err := netip.ParseAddr(lines[2]); err == nil {
		r.Source = a.Unmap()
	}
	return nil
}

// locate takes a URL apart without a look at what it means. Its authority counts
// and not the header Host, which is the same unless the request line had a URL.
func (r *incoming) locate(url string) error {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return errRequest
	}
	i := strings.IndexAny(rest, "/?")
	if i < 0 {
		i = len(rest)
	}
	r.Scheme, r.Host = scheme, rest[:i]
	// What is left of a request may keep parts of its target.
	if r.Target = strings.Clone(rest[i:]); r.Target == "" || r.Target[0] == '?' {
		r.Target = "/" + r.Target
	}
	return nil
}

// view is b as a string, as long as nobody writes to b.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
