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

// incoming is a request in the form in which the JavaScript shell passes it: the length of its head, the head,
// and the body. The head is text in lines separated by \n:
//
//	MERGE
//	https://acme.table.example.com/people(PartitionKey='a%2Fb',RowKey='1')
//	192.0.2.7            the client's address; empty if unknown
//	                     the reason to refuse the request; empty to serve it
//	5                    length of the body, -1 if unknown
//	x-ms-version:2019-02-02
//
// The URL is unchanged. Each header name occurs once; commas separate its values.
// If the body is too long, its length is greater than the number of bytes that follow.
type incoming struct {
	protocol.Request
	refusal string
	body    body
	fields  fields
}

// body is the body of a request in memory. Its method Bytes lets the protocol use the body without a copy.
type body struct {
	bytes.Reader
	b []byte
}

func (b *body) Bytes() []byte { return b.b }

// fields are header lines, whose names need not be in canonical form.
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

// preamble is the number of lines before the first header line.
const preamble = 5

var errRequest = errors.New("unknown form of the shell's request")

// read parses a request. The result refers to the memory of b.
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
			continue // this is not a header line
		}
		for strings.EqualFold(name, "x-http-method") { // the protocol counts the values of this header, so they become separate fields
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

// locate splits a URL without interpreting it. The host comes from the URL, which differs from the Host header only if
// the request line had an absolute URL.
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
	// Copy the target, because parts of it may be used after the request has ended.
	if r.Target = strings.Clone(rest[i:]); r.Target == "" || r.Target[0] == '?' {
		r.Target = "/" + r.Target
	}
	return nil
}

// view returns b as a string without a copy. The string is valid until b is overwritten.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
