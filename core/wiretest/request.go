package wiretest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"edgetable/core/sharedkey"
)

// Start is what a server's clock shows before the first exchange.
var Start = time.Date(2026, time.March, 4, 5, 6, 7, 123456700, time.UTC)

// The account of every scenario and its well-known key.
const (
	Account    = "devstoreaccount1"
	AccountKey = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
	wrongKey   = "d3Jvbmcga2V5"

	host    = "127.0.0.1:10002"
	version = "2019-02-02"
)

// Request is one request, complete and signed.
type Request struct {
	Method  string
	Target  string // as in the request line
	Host    string
	Header  []Field // all but Host, in the order of the transcript
	Body    []byte
	Chunked bool // Body has no Content-Length
}

// Field is one header line.
type Field struct{ Name, Value string }

// Get is the value of the first header of that name, in any case.
func (r *Request) Get(name string) string { return get(r.Header, name) }

func get(header []Field, name string) string {
	for _, f := range header {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// NewRequest makes the request of a text in the notation of the transcripts, to
// be sent at a time.
func NewRequest(text string, now time.Time) (*Request, error) { return newRequest(text, now, nil) }

// newRequest is NewRequest with the headers of responses that came before.
func newRequest(text string, now time.Time, captured map[string]string) (*Request, error) {
	text, err := expand(text, captured)
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
		case strings.EqualFold(name, "Authorization") && value[0] == '(':
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
	return r, r.sign(signature)
}

// sign adds the Authorization.
func (r *Request) sign(how string) error {
	key, scheme := AccountKey, sharedkey.SharedKeyLite
	switch how {
	case "":
		return nil
	case "(SharedKeyLite)":
	case "(SharedKey)":
		scheme = sharedkey.SharedKey
	case "(wrong key)":
		key = wrongKey
	default:
		return fmt.Errorf("authorization %q", how)
	}
	k, err := sharedkey.ParseKey(key)
	if err != nil {
		return err
	}
	path, query, _ := strings.Cut(r.Target, "?")
	if _, rest, absolute := strings.Cut(path, "://"); absolute {
		_, rest, _ = strings.Cut(rest, "/")
		path = "/" + rest
	}
	r.Header = append(r.Header, Field{"Authorization", k.Authorization(scheme, Account, sharedkey.Request{
		Method: r.Method, Path: path, RawQuery: query,
		ContentMD5: r.Get("Content-MD5"), ContentType: r.Get("Content-Type"),
		Date: r.Get("Date"), XMSDate: r.Get("x-ms-date"),
	})})
	return nil
}

// expand replaces what stands in $(…).
func expand(text string, captured map[string]string) (string, error) {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "$(")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		var err error
		if strings.HasPrefix(rest, "repeat ") || strings.HasPrefix(rest, "count ") {
			text, err = repetition(&out, rest)
		} else {
			var name string
			name, text, _ = strings.Cut(rest, ")")
			name, encode := strings.CutSuffix(name, "|query")
			value, ok := captured[strings.ToLower(name)]
			if !ok {
				return "", fmt.Errorf("$(%s): no such header was received", name)
			}
			if encode {
				value = percentEncode(value)
			}
			out.WriteString(value)
		}
		if err != nil {
			return "", err
		}
	}
}

// repetition writes what "repeat 3|a|)" or "count 1 3|r@|)" stands for.
func repetition(out *strings.Builder, s string) (rest string, err error) {
	head, s, _ := strings.Cut(s, "|")
	pattern, rest, ok := strings.Cut(s, "|)")
	if !ok {
		return "", fmt.Errorf("$(%s| has no |)", head)
	}
	var first, last int
	if _, err = fmt.Sscanf(head, "repeat %d", &last); err == nil {
		out.WriteString(strings.Repeat(pattern, last))
		return rest, nil
	}
	if _, err = fmt.Sscanf(head, "count %d %d", &first, &last); err != nil {
		return "", fmt.Errorf("$(%s: %w", head, err)
	}
	for n := first; n <= last; n++ {
		out.WriteString(strings.ReplaceAll(pattern, "@", strconv.Itoa(n)))
	}
	return rest, nil
}

func percentEncode(s string) string {
	var out strings.Builder
	for _, c := range []byte(s) {
		if c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' {
			out.WriteByte(c)
		} else {
			fmt.Fprintf(&out, "%%%02X", c)
		}
	}
	return out.String()
}
