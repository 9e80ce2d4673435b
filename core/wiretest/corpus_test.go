package wiretest

import (
	"bufio"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// answer is an exchange of the corpus of recorded requests, parsed without the server's code.
type answer struct {
	method, target string
	sent           string // request line and headers of the request
	status         int
	header         http.Header
	body           string
}

func (a *answer) has(name string) bool { return a.header.Get(name) != "" }

// front reports whether the error comes from the front end of the service, which checks only credentials. The headers
// show this: the front end has not chosen a format yet, so its content type has no parameters.
func (a *answer) front() bool {
	typ := a.header.Get("Content-Type")
	return a.status >= 400 && !a.has("X-Content-Type-Options") && (typ == "application/json" || typ == "application/xml" && !a.administrative())
}

// administrative reports whether the operation uses only XML, and neither JSON nor ATOM.
func (a *answer) administrative() bool {
	_, query, _ := strings.Cut(strings.ToLower(a.target), "?")
	query = "&" + query
	if strings.Contains(a.header.Get("Content-Type"), ";") {
		return false // the service answers an invalid table name in the format of operations on entities
	}
	return strings.Contains(query, "&comp=") || strings.Contains(query, "&restype=")
}

var (
	entityPath = regexp.MustCompile(`(?i)(\(|%28)\s*(PartitionKey|RowKey)`)
	tablesPath = regexp.MustCompile(`(?i)/tables(\(|$)`)
	ofTables   = regexp.MustCompile(`(?i)^(/[a-z0-9-]+)?/+tables(\(|$)`) // Tables is the first segment after the account
	errorCode  = regexp.MustCompile(`^{"odata.error":{"code":"(\w+)"|<code>(\w+)</code>|<m:code>(\w+)</m:code>`)
)

// readErrors lists the errors that occur while the service parses a request. The service sets Cache-Control only later,
// so responses with these errors do not have this header.
var readErrors = map[string]bool{
	"AtomFormatNotSupported": true, "ConditionNotMet": true, "DuplicatePropertiesSpecified": true, "InvalidHeaderValue": true, "InvalidInput": true,
	"InvalidQueryParameterValue": true,
	"InvalidResourceName":        true, "JsonFormatNotSupported": true, "JsonVerboseFormatNotSupported": true, "KeyValueTooLarge": true, "MediaTypeNotSupported": true,
	"MethodNotAllowed": true, "MissingContentLengthHeader": true, "OutOfRangeInput": true, "PropertyNameInvalid": true, "RequestBodyTooLarge": true,
	"TableNotFound": true, "XMethodIncorrectCount": true, "XMethodIncorrectValue": true, "XMethodNotUsingPost": true,
}

// rules are conditions that every answer of the service must fulfil.
var rules = []struct {
	name    string
	breaker string // an example that breaks the rule: a request line, the character |, and a response
	broken  func(a *answer) bool
}{
	{"an error has its code in a header", "GET /a/t|400\n\n", func(a *answer) bool { return (a.status >= 400) != a.has("x-ms-error-code") }},
	{"an error has its code in its body", "GET /a/t|400\nx-ms-error-code: A\n\n{\"odata.error\":{\"code\":\"B\"", func(a *answer) bool {
		return a.status >= 400 && a.method != "HEAD" && code(a.body) != a.header.Get("x-ms-error-code")
	}},
	{"a 401 says where to get credentials", "GET /a/t|401\n\n", func(a *answer) bool { return (a.status == 401) != a.has("WWW-Authenticate") }},
	{"a 503 says when to come again", "GET /a/t|503\n\n", func(a *answer) bool { return (a.status == 503) != a.has("Retry-After") }},
	{"Server names the table service exactly with x-ms-version", "GET /a/t|200\nServer: Windows-Azure-Table/1.0 Microsoft-HTTPAPI/2.0\n\n", func(a *answer) bool {
		return (a.header.Get("Server") == "Windows-Azure-Table/1.0 Microsoft-HTTPAPI/2.0") != a.has("x-ms-version")
	}},
	{"a refused client gets no headers of the service", "GET /a/t|403\nContent-Type: application/json\nx-ms-version: 2019-02-02\n\n", func(a *answer) bool {
		code := a.header.Get("x-ms-error-code")
		asked := code == "NoAuthenticationInformation" || code == "ResourceNotFound"
		return a.front() && (a.has("x-ms-version") && !asked || a.has("Cache-Control") || a.has("ETag"))
	}},
	{"failed authentication is answered before the service", "GET /a/t|401\nX-Content-Type-Options: nosniff\n\n", func(a *answer) bool {
		return a.status == 401 && (a.has("X-Content-Type-Options") || a.has("Cache-Control"))
	}},
	{"an answer of the service is not cached", "GET /a/t|200\nCache-Control: no-cache\n\n", func(a *answer) bool {
		path, _, _ := strings.Cut(a.target, "?")
		misread := readErrors[a.header.Get("x-ms-error-code")] && !ofTables.MatchString(path)
		return !a.front() && !a.administrative() && a.method != "OPTIONS" &&
			((a.header.Get("Cache-Control") == "no-cache") == misread || a.header.Get("X-Content-Type-Options") != "nosniff")
	}},
	{"only the parts of a batch have the version of OData", "PUT /a/t|204\nDataServiceVersion: 1.0;\n\n", func(a *answer) bool { return a.has("DataServiceVersion") }},
	{"an administrative answer has no headers of OData", "GET /a/t?comp=acl|200\nCache-Control: no-cache\n\n", func(a *answer) bool {
		return a.administrative() && (a.has("Cache-Control") || a.has("X-Content-Type-Options") || a.has("DataServiceVersion") || a.has("ETag"))
	}},
	{"an administrative answer is XML", "GET /a/?Restype=service|400\nContent-Type: text/plain\n\nx", func(a *answer) bool {
		return a.administrative() && !a.front() && a.body != "" && a.header.Get("Content-Type") != "application/xml"
	}},
	{"an administrative document begins with a byte order mark, an error does not", "GET /a/t?comp=acl|200\n\n<?xml", func(a *answer) bool {
		return a.administrative() && a.body != "" && (a.status == 200) != strings.HasPrefix(a.body, "\ufeff")
	}},
	{"204 has no content", "PUT /a/t|204\n\n{}", func(a *answer) bool { return a.status == 204 && (a.body != "" || a.has("Content-Type")) }},
	{"content has a type", "GET /a/t|200\n\n{}", func(a *answer) bool { return a.body != "" && !a.has("Content-Type") }},
	{"a 201 has a Location", "POST /a/t|201\n\n{}", func(a *answer) bool { return a.status == 201 && !a.has("Location") }},
	{"only an insert without content has an id", "POST /a/t|204\nLocation: x\n\n", func(a *answer) bool {
		return (a.status == 204 && a.has("Location")) != a.has("DataServiceId") || a.has("DataServiceId") && a.header.Get("DataServiceId") != a.header.Get("Location")
	}},
	{"a preference is applied if there was one", "POST /a/t|201\nPreference-Applied: return-content\n\n", func(a *answer) bool {
		return a.has("Preference-Applied") && !strings.Contains(strings.ToLower(a.sent), "\nprefer:")
	}},
	{"an entity has an ETag, a list or table has none", "GET /a/t()?x=(PartitionKey|200\nETag: x\n\n", func(a *answer) bool {
		path, _, _ := strings.Cut(a.target, "?")
		one := entityPath.MatchString(path)
		switch {
		case a.status >= 300 || a.administrative() || a.method == "OPTIONS":
			return a.has("ETag")
		case tablesPath.MatchString(path), a.status == 202:
			return a.has("ETag")
		case a.method == "GET" && one, a.method == "PUT", a.method == "MERGE", a.method == "PATCH", a.status == 201:
			return !a.has("ETag")
		}
		return a.method != "POST" && a.has("ETag")
	}},
	{"an ETag is a weak one with a time", "PUT /a/t|204\nETag: \"1\"\n\n", func(a *answer) bool {
		return a.has("ETag") && !regexp.MustCompile(`^W/"datetime'\d{4}-\d\d-\d\dT\d\d%3A\d\d%3A\d\d(\.\d{0,6}[1-9])?Z'"$`).MatchString(a.header.Get("ETag"))
	}},
	{"a list goes on at a partition or a table", "GET /a/t|200\nx-ms-continuation-NextRowKey: x\n\n", func(a *answer) bool {
		return a.has("x-ms-continuation-NextRowKey") && !a.has("x-ms-continuation-NextPartitionKey")
	}},
}

func code(body string) string {
	m := errorCode.FindStringSubmatch(body)
	if m == nil {
		return ""
	}
	return m[1] + m[2] + m[3]
}

// own reports whether the answer is that of an operation which only edgetable has. The rules describe the service, so
// such an answer need not follow the rules.
func (a *answer) own() bool { return a.status == 200 && strings.HasSuffix(a.target, "?comp=options") }

// TestCorpus checks that all exchanges follow the rules, and parses the bodies with Go's library instead of the
// server's code.
func TestCorpus(t *testing.T) {
	t.Parallel()
	list, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, transcript := range list {
		for _, e := range transcript.Exchanges {
			where := fmt.Sprintf("%s %02d-%s", transcript.Name(), e.Number, e.Name)
			a, err := parseAnswer(e)
			if err != nil {
				t.Errorf("%s: %v", where, err)
				continue
			}
			for _, r := range rules {
				if !a.own() && r.broken(a) {
					t.Errorf("%s: %s", where, r.name)
				}
			}
			if err := readable(a.header.Get("Content-Type"), a.body); err != nil {
				t.Errorf("%s: %v", where, err)
			}
		}
	}
}

func parseAnswer(e Exchange) (*answer, error) {
	requestLine, _, _ := strings.Cut(e.Request, "\n")
	f := strings.Split(requestLine, " ")
	if len(f) < 3 {
		return nil, fmt.Errorf("request line %q", requestLine)
	}
	a := &answer{method: f[0], target: strings.Join(f[1:len(f)-1], " ")}
	a.sent, _, _ = strings.Cut(e.Request, "\n\n")
	head, body, _ := strings.Cut(e.Response, "\n\n")
	a.body = lines(body)
	status, _, _ := strings.Cut(head, "\n")
	var err error
	if a.status, err = strconv.Atoi(strings.TrimPrefix(status, "HTTP/1.1 ")[:3]); err != nil {
		return nil, err
	}
	resp, err := http.ReadResponse(bufio.NewReader(strings.NewReader(head+"\n\n")), nil)
	if err != nil {
		return nil, err
	}
	a.header = resp.Header
	return a, resp.Body.Close()
}

// TestRules checks that the example of each rule breaks the rule, and that invalid bodies are detected.
func TestRules(t *testing.T) {
	t.Parallel()
	for _, r := range rules {
		request, response, _ := strings.Cut(r.breaker, "|")
		a, err := parseAnswer(Exchange{Request: request + " HTTP/1.1\n", Response: "HTTP/1.1 " + response})
		if err != nil {
			t.Errorf("%s: %v", r.name, err)
		} else if !r.broken(a) {
			t.Errorf("the rule %q is not broken by %s", r.name, r.breaker)
		}
	}
	for _, tt := range []struct{ contentType, body string }{
		{"", "x"},
		{"text/plain", "x"},
		{"application/json", "{"},
		{"application/json;odata=nometadata", `{"odata.metadata":""}`},
		{"application/json;odata=fullmetadata", `{"value":[]}`},
		{"application/xml", "<a>"},
		{"multipart/mixed; boundary=b", "--b--"},
		{"multipart/mixed; boundary=b", "--b\r\nContent-Type: text/plain\r\n\r\n\r\n--b--\r\n"},
		{"multipart/mixed; boundary=b", "--b\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\r\n--b--\r\n"},
	} {
		if readable(tt.contentType, tt.body) == nil {
			t.Errorf("%q was read as %s", tt.body, tt.contentType)
		}
	}
}

// readable returns an error if a body does not match its content type.
func readable(contentType, body string) error {
	if body == "" {
		return nil
	}
	kind, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return err
	}
	switch kind {
	case "text/plain": // a response of this type is always a count of entities
		_, err := strconv.ParseUint(body, 10, 63)
		return err
	case "application/json":
		return readableJSON(params["odata"], body)
	case "application/xml", "application/atom+xml":
		d := xml.NewDecoder(strings.NewReader(strings.TrimPrefix(body, "\ufeff")))
		for {
			if _, err := d.Token(); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
		}
	case "multipart/mixed":
		return readableParts(multipart.NewReader(strings.NewReader(body), params["boundary"]), 1)
	}
	return fmt.Errorf("content of type %s", kind)
}

func readableJSON(level, body string) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(body), &members); err != nil {
		return err
	}
	_, failed := members["odata.error"]
	_, annotated := members["odata.metadata"]
	if !failed && annotated != (level == "minimalmetadata" || level == "fullmetadata") {
		return fmt.Errorf("metadata %q, and odata.metadata: %t", level, annotated)
	}
	return nil
}

// readableParts parses a batch with Go's library. The minimum number of parts is least; with fewer parts, the result
// is an error.
func readableParts(r *multipart.Reader, least int) error {
	for n := 0; ; n++ {
		part, err := r.NextPart()
		if err == io.EOF && n >= least {
			return nil
		}
		if err != nil {
			return err
		}
		kind, params, err := mime.ParseMediaType(part.Header.Get("Content-Type"))
		if err != nil {
			return err
		}
		if kind == "multipart/mixed" {
			if err := readableParts(multipart.NewReader(part, params["boundary"]), 0); err != nil {
				return err
			}
			continue
		}
		if kind != "application/http" || part.Header.Get("Content-Transfer-Encoding") != "binary" {
			return fmt.Errorf("part with %v", part.Header)
		}
		resp, err := http.ReadResponse(bufio.NewReader(part), nil)
		if err != nil {
			return err
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return err
		}
		if err := readable(resp.Header.Get("Content-Type"), string(body)); err != nil {
			return err
		}
	}
}
