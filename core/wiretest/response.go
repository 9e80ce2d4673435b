package wiretest

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Response is a response as the server sent it. Header names keep their case.
type Response struct {
	Status int
	// Reason is the phrase in the status line, or "" if the transport sends none.
	Reason string
	Header []Field
	Body   []byte
}

var (
	guidPattern     = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	boundaryPattern = regexp.MustCompile(`(?:batch|changeset)response_([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})`)
	timePattern     = regexp.MustCompile(`(\\n|\n)Time:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z(["<])`)
)

// text returns the response in the notation of transcripts. It checks the parts that differ in every run, such as Date
// and Content-Length, and omits or replaces them.
func (r *Response) text(method string) (string, error) {
	id, err := r.singleHeader("x-ms-request-id")
	if err != nil {
		return "", err
	}
	if !guidPattern.MatchString(id) {
		return "", fmt.Errorf("x-ms-request-id %q is no GUID", id)
	}
	date, err := r.singleHeader("Date")
	if err != nil {
		return "", err
	}
	if _, err := time.Parse("Mon, 02 Jan 2006 15:04:05 GMT", date); err != nil {
		return "", err
	}
	var head []string
	for _, f := range r.Header {
		switch strings.ToLower(f.Name) {
		case "x-ms-request-id", "date":
		case "content-length":
			if n, err := strconv.Atoi(f.Value); err != nil || n != len(r.Body) && method != "HEAD" {
				return "", fmt.Errorf("Content-Length %s with %d bytes of body", f.Value, len(r.Body))
			}
		case "connection", "keep-alive": // transports may add headers about the connection
		default:
			head = append(head, f.Name+": "+f.Value)
		}
	}
	slices.SortFunc(head, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	status := strconv.Itoa(r.Status)
	if r.Reason != "" && r.Reason != http.StatusText(r.Status) {
		status += " " + r.Reason
	}
	text := fmt.Sprintf("HTTP/1.1 %s\n%s\n\n%s", status, strings.Join(head, "\n"), unlines(string(r.Body)))
	text = strings.ReplaceAll(text, id, "{request-id}")
	text = timePattern.ReplaceAllString(text, `${1}Time:{time}${2}`)
	guids := make(map[string]string)
	for _, m := range boundaryPattern.FindAllStringSubmatch(text, -1) {
		if _, ok := guids[m[1]]; !ok {
			guids[m[1]] = fmt.Sprintf("{guid-%d}", len(guids)+1)
		}
	}
	for guid, name := range guids {
		text = strings.ReplaceAll(text, guid, name)
	}
	return text, nil
}

// singleHeader returns the value of a header that must occur exactly once.
func (r *Response) singleHeader(name string) (value string, err error) {
	n := 0
	for _, f := range r.Header {
		if strings.EqualFold(f.Name, name) {
			n++
			value = f.Value
		}
	}
	if n != 1 {
		return "", fmt.Errorf("%d headers %s", n, name)
	}
	return value, nil
}
