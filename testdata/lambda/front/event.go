// Package front simulates AWS's HTTP front end of a Lambda function. It converts HTTP requests to events of a Function
// URL, and the function's responses to HTTP. The events have the form of real ones, which were captured in July 2026.
// The package refuses the same invalid responses as Lambda.
package front

import (
	"encoding/base64"
	"encoding/json"
	"net/netip"
	"strings"
	"unicode/utf8"
)

// domain is the host name of a Function URL.
const domain = "2cxn22odiwguak4feg4jtt7cwm0ziblr.lambda-url.us-west-2.on.aws"

// Field is one line of a header.
type Field struct{ Name, Value string }

// Request is a request as a client sent it.
type Request struct {
	Method, Target, Host string
	Header               []Field // all headers except Host and Transfer-Encoding
	Body                 []byte
	Source               netip.Addr
	Scheme               string
}

// Event returns the event of a request. Header names are in lower case, and the values of one name are joined with
// commas. The event contains the path twice: as it was sent, and decoded. The body is text if its content type
// says so, and otherwise base64.
func Event(r *Request) []byte {
	path, query, _ := strings.Cut(r.Target, "?")
	host := r.Host
	if _, rest, ok := strings.Cut(path, "://"); ok { // the target may be an absolute URL, which contains the host
		host, path, _ = strings.Cut(rest, "/")
		path = "/" + path
	}
	header := make(map[string]string)
	add := func(name, value string) {
		if before, ok := header[name]; ok {
			value = before + "," + value
		}
		header[name] = value
	}
	for _, f := range r.Header {
		add(strings.ToLower(f.Name), f.Value)
	}
	header["host"] = host
	header["x-amzn-tls-cipher-suite"] = "TLS_AES_128_GCM_SHA256"
	header["x-amzn-tls-version"] = "TLSv1.3"
	header["x-amzn-trace-id"] = "Root=1-6a5145aa-290a323a5de9a2e0636377d4"
	header["x-forwarded-for"] = r.Source.String()
	header["x-forwarded-port"] = "443"
	header["x-forwarded-proto"] = r.Scheme
	var cookies []string
	if c := header["cookie"]; c != "" {
		cookies = strings.Split(c, "; ")
	}
	type object = map[string]any
	event := object{
		"version":        "2.0",
		"routeKey":       "$default",
		"rawPath":        path,
		"rawQueryString": query,
		"cookies":        cookies,
		"headers":        header,
		"pathParameters": nil, "stageVariables": nil,
		"requestContext": object{
			"accountId":      "anonymous",
			"apiId":          domain[:32],
			"authentication": nil,
			"authorizer":     object{"iam": object{"accessKey": "", "accountId": "", "userArn": "", "userId": ""}},
			"domainName":     domain,
			"domainPrefix":   domain[:32],
			"http": object{
				"method":    r.Method,
				"path":      decoded(path),
				"protocol":  "HTTP/1.1",
				"sourceIp":  r.Source.String(),
				"userAgent": header["user-agent"],
			},
			"requestId": "d16a6b55-dea9-4b23-8499-eb85c3d2d904",
			"routeKey":  "$default",
			"stage":     "$default",
			"time":      "10/Jul/2026:19:19:06 +0000",
			"timeEpoch": 1783711146671,
		},
		"isBase64Encoded": false,
	}
	if query != "" {
		event["queryStringParameters"] = parameters(query)
	}
	switch {
	case len(r.Body) == 0:
	case utf8.Valid(r.Body) && isText(header["content-type"]):
		event["body"] = string(r.Body)
	default:
		event["body"] = base64.StdEncoding.EncodeToString(r.Body)
		event["isBase64Encoded"] = true
	}
	b, err := json.Marshal(event)
	if err != nil {
		panic(err) // cannot fail, because the event contains only strings
	}
	return b
}

// isText reports whether the event contains bodies of this content type as text.
func isText(contentType string) bool {
	contentType, _, _ = strings.Cut(contentType, ";")
	switch contentType = strings.ToLower(strings.TrimSpace(contentType)); contentType {
	case "application/json", "application/javascript", "application/xml":
		return true
	}
	return strings.HasPrefix(contentType, "text/")
}

// parameters returns the decoded query parameters. Their order is lost, so a function should use the raw query
// instead.
func parameters(query string) map[string]string {
	list := make(map[string]string)
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		name, value = decoded(name), decoded(strings.ReplaceAll(value, "+", " "))
		if before, ok := list[name]; ok {
			value = before + "," + value
		}
		list[name] = value
	}
	return list
}

// decoded decodes escapes, and leaves invalid ones unchanged.
func decoded(s string) string {
	var b []byte
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			hi, lo := digit(s[i+1]), digit(s[i+2])
			if hi >= 0 && lo >= 0 {
				b = append(b, byte(hi<<4|lo))
				i += 2
				continue
			}
		}
		b = append(b, s[i])
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

func digit(c byte) int { return strings.IndexByte("0123456789abcdef", c|0x20) }
