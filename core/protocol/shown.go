package protocol

import "strings"

// Shown returns the part of a summary that a log or a trace may contain. It leaves out texts that a client
// without a key can choose, and texts that may be secret. Logs and traces must contain nothing else of a
// request or response, except the status.
func (s *Summary) Shown() Summary {
	shown := *s
	shown.Method = shownMethod(s.Method)
	if !s.SignedIn {
		shown.ClientRequestID = ""
	}
	shown.ClientRequestID = withoutSecret(shown.ClientRequestID)
	return shown
}

// shownMethod returns the method, or "?" if it is no method of the protocol. A client can send any text as
// method.
func shownMethod(s string) string {
	switch s {
	case "GET", "HEAD", "PUT", "POST", "DELETE", "MERGE", "PATCH", "OPTIONS":
		return s
	}
	return "?"
}

// withoutSecret cuts off a text before a signature or a key. The reason is that some clients send their URL
// or connection string as the client request id.
func withoutSecret(s string) string {
	for i := range len(s) {
		for _, secret := range [...]string{"sig=", "sig%3d", "key=", "key%3d"} {
			if n := i + len(secret); n <= len(s) && strings.EqualFold(s[i:n], secret) {
				return s[:n] + "…"
			}
		}
	}
	return s
}
