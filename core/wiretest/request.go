package wiretest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"edgetable/core/sharedkey"
	"edgetable/core/wiretest/scene"
)

const (
	host    = "127.0.0.1:10002"
	version = "2019-02-02"
)

// Request is a complete, signed request.
type Request struct {
	Method  string
	Target  string // target exactly as in the request line
	Host    string
	Header  []Field // all headers except Host, in the order of the transcript
	Body    []byte
	Chunked bool // whether to send Body without the header Content-Length
}

// Field is one header line.
type Field struct{ Name, Value string }

// Get returns the value of the first header with the given name, ignoring case, or "" if there is none.
func (r *Request) Get(name string) string { return get(r.Header, name) }

func get(header []Field, name string) string {
	for _, f := range header {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// NewRequest parses a request in the notation of transcripts. The parameter now is the time of the request.
func NewRequest(text string, now time.Time) (*Request, error) { return newRequest(text, now, nil) }

// newRequest is like NewRequest, and can insert parts of earlier responses.
func newRequest(text string, now time.Time, captured map[string]string) (*Request, error) {
	account := addressed(text)
	text, err := expand(text, account, captured)
	if err != nil {
		return nil, err
	}
	head, body, _ := strings.Cut(text, "\n\n")
	requestLine, head, _ := strings.Cut(head, "\n")
	f := strings.Split(strings.TrimSuffix(requestLine, " HTTP/1.1"), " ")
	if len(f) != 2 || !strings.HasSuffix(requestLine, " HTTP/1.1") {
		return nil, fmt.Errorf("request line %q", requestLine)
	}
	r := &Request{Method: f[0], Target: f[1], Host: host, Body: []byte(lines(body))}
	said := make(map[string]bool)
	signature := "(SharedKeyLite)"
	for line := range strings.SplitSeq(strings.TrimSuffix(head, "\n"), "\n") {
		if line == "" {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, fmt.Errorf("header line %q", line)
		}
		value = strings.Trim(value, " ")
		said[strings.ToLower(name)] = true
		switch {
		case value == "(absent)":
			if strings.EqualFold(name, "Authorization") {
				signature = ""
			}
		case strings.EqualFold(name, "Host"):
			r.Host = value
		case strings.EqualFold(name, "Authorization") && strings.HasPrefix(value, "("):
			signature = value
		case strings.EqualFold(name, "Transfer-Encoding"):
			r.Chunked = true
		default:
			if strings.EqualFold(name, "Authorization") {
				signature = ""
			}
			r.Header = append(r.Header, Field{name, value})
		}
	}
	add := func(name, value string) {
		if !said[strings.ToLower(name)] {
			r.Header = append(r.Header, Field{name, value})
		}
	}
	add("x-ms-version", version)
	add("x-ms-date", now.Format("Mon, 02 Jan 2006 15:04:05 GMT"))
	if !r.Chunked && (len(r.Body) > 0 || r.Method != "GET" && r.Method != "HEAD" && r.Method != "OPTIONS") {
		add("Content-Length", strconv.Itoa(len(r.Body)))
	}
	return r, r.sign(signature, account)
}

// addressed returns the account in the address of a request. The key of this account signs the request.
func addressed(text string) string {
	_, path, _ := strings.Cut(text, " ")
	path, _, _ = strings.Cut(path, " ")
	head, _, _ := strings.Cut(text, "\n\n")
	server := ""
	if _, after, ok := strings.Cut(head, "\nHost: "); ok {
		server, _, _ = strings.Cut(after, "\n")
	}
	if _, rest, absolute := strings.Cut(path, "://"); absolute {
		server, path, _ = strings.Cut(rest, "/")
	}
	name, _, _ := strings.Cut(strings.TrimLeft(path, "/"), "/")
	if label, _, ok := strings.Cut(server, ".table."); ok {
		name = label
	}
	name = strings.TrimSuffix(name, "-secondary")
	if _, known := scene.Accounts()[name]; !known {
		return Account
	}
	return name
}

// sign adds an Authorization header. The parameter kind is the kind of header, such as "(SharedKey)", or "" for no
// header.
func (r *Request) sign(kind, account string) error {
	key, scheme := AccountKey, sharedkey.SharedKeyLite
	switch kind {
	case "":
		return nil
	case "(SharedKeyLite)":
	case "(SharedKey)":
		scheme = sharedkey.SharedKey
	case "(second key)":
		key = scene.SecondKey
	case "(wrong key)":
		key = scene.WrongKey
	default:
		return fmt.Errorf("authorization %q", kind)
	}
	k, err := sharedkey.ParseKey(key)
	if err != nil {
		return err
	}
	r.Header = append(r.Header, Field{"Authorization", k.Authorization(scheme, account, r.signed())})
	return nil
}

// signed returns the parts of the request that a signature covers.
func (r *Request) signed() sharedkey.Request {
	path, query, _ := strings.Cut(r.Target, "?")
	if _, rest, absolute := strings.Cut(path, "://"); absolute {
		_, rest, _ = strings.Cut(rest, "/")
		path = "/" + rest
	}
	return sharedkey.Request{
		Method: r.Method, Path: path, RawQuery: query,
		ContentMD5: r.Get("Content-MD5"), ContentType: r.Get("Content-Type"),
		Date: r.Get("Date"), XMSDate: r.Get("x-ms-date"),
	}
}
