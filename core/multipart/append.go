package multipart

import "strconv"

// Response is one HTTP response in a batch response.
type Response struct {
	Status int
	Header Header // header lines in the order on the wire
	Body   []byte
}

// AppendChangeset appends the response body for a changeset: one part per operation, or a single part with the error of
// the failed operation. batch is the boundary for the content type.
//
// The boundaries must differ from each other and from all lines in the bodies. Clients expect the prefixes
// "batchresponse_" and "changesetresponse_".
func AppendChangeset(dst []byte, batch, changeset string, parts []Response) []byte {
	dst = appendChangesetOpen(dst, batch, changeset)
	for i := range parts {
		dst = appendResponse(dst, changeset, &parts[i])
	}
	dst = appendDelimiter(dst, changeset, "--\r\n")
	return appendDelimiter(dst, batch, "--\r\n")
}

// AppendQuery appends the response body for a batch that consists of one query. The response of the query is not inside
// a changeset.
func AppendQuery(dst []byte, batch string, r Response) []byte {
	dst = appendResponse(dst, batch, &r)
	return appendDelimiter(dst, batch, "--\r\n")
}

// AppendBatch appends the body of a batch request, for clients. The boundaries must not occur at the start of a line in
// a body.
func AppendBatch(dst []byte, batch, changeset string, b *Batch) []byte {
	for i := range b.Parts {
		p := &b.Parts[i]
		boundary := batch
		if p.Changeset {
			boundary = changeset
			dst = appendChangesetOpen(dst, batch, changeset)
		}
		for j := range p.Operations {
			op := &p.Operations[j]
			if op.Method == "" {
				dst = appendDelimiter(dst, boundary, "\r\n\r\n")
				continue
			}
			dst = appendPartHead(dst, boundary)
			dst = append(dst, op.Method...)
			dst = append(dst, ' ')
			dst = appendText(dst, op.Target)
			dst = append(dst, " HTTP/1.1\r\n"...)
			dst = appendMessage(dst, op.Header, op.Body)
		}
		if p.Changeset {
			dst = appendDelimiter(dst, changeset, "--\r\n")
		}
	}
	return appendDelimiter(dst, batch, "--\r\n")
}

func appendResponse(dst []byte, boundary string, r *Response) []byte {
	dst = appendPartHead(dst, boundary)
	dst = append(dst, "HTTP/1.1 "...)
	dst = strconv.AppendInt(dst, int64(r.Status), 10)
	dst = append(dst, ' ')
	dst = append(dst, phrase(r.Status)...)
	dst = append(dst, "\r\n"...)
	return appendMessage(dst, r.Header, r.Body)
}

func appendChangesetOpen(dst []byte, batch, changeset string) []byte {
	dst = appendDelimiter(dst, batch, "\r\nContent-Type: multipart/mixed; boundary=")
	dst = append(dst, changeset...)
	return append(dst, "\r\n\r\n"...)
}

func appendPartHead(dst []byte, boundary string) []byte {
	return appendDelimiter(dst, boundary, "\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n")
}

func appendDelimiter(dst []byte, boundary, rest string) []byte {
	dst = append(dst, "--"...)
	dst = append(dst, boundary...)
	return append(dst, rest...)
}

// appendMessage appends header lines, an empty line, the body, and the line end before the next delimiter. With an
// empty body, this is a second empty line, as clients expect.
func appendMessage(dst []byte, h Header, body []byte) []byte {
	for i := range h {
		dst = append(dst, h[i].Name...)
		dst = append(dst, ": "...)
		dst = appendText(dst, h[i].Value)
		dst = append(dst, "\r\n"...)
	}
	dst = append(dst, "\r\n"...)
	dst = append(dst, body...)
	return append(dst, "\r\n"...)
}

// appendText appends s as one line. It replaces line ends by blanks, because s could otherwise forge headers and parts.
func appendText(dst []byte, s string) []byte {
	n := len(dst)
	dst = append(dst, s...)
	for i := n; i < len(dst); i++ {
		if dst[i] == '\r' || dst[i] == '\n' {
			dst[i] = ' '
		}
	}
	return dst
}

// phrase returns the reason phrase of a status that operations return, or "" for any other status. HTTP permits an
// empty phrase.
func phrase(status int) string {
	switch status {
	case 200:
		return "OK"
	case 201:
		return "Created"
	case 202:
		return "Accepted"
	case 204:
		return "No Content"
	case 304:
		return "Not Modified"
	case 400:
		return "Bad Request"
	case 401:
		return "Unauthorized"
	case 403:
		return "Forbidden"
	case 404:
		return "Not Found"
	case 405:
		return "Method Not Allowed"
	case 409:
		return "Conflict"
	case 411:
		return "Length Required"
	case 412:
		return "Precondition Failed"
	case 413:
		return "Request Entity Too Large"
	case 415:
		return "Unsupported Media Type"
	case 500:
		return "Internal Server Error"
	case 501:
		return "Not Implemented"
	case 503:
		return "Service Unavailable"
	}
	return ""
}
