package protocol

import "strings"

// Shown returns the part of a summary that a log or a trace may show. It leaves out
// texts that a client without a key can choose, and texts that may be secret. Logs and
// traces use only this and the status, and nothing else of a request or response.
func (s *Summary) Shown() Summary {
	shown := *s
	shown.Method = shownMethod(s.Method)
	if !s.SignedIn {
		shown.ClientRequestID = ""
	}
	shown.ClientRequestID = withoutSecret(shown.ClientRequestID)
	return shown
}

// shownMethod returns a method, or "?" if the protocol does not have it. A client can
// send any text there.
func shownMethod(s string) string {
	switch s {
	case "GET", "HEAD", "PUT", "POST", "DELETE", "MERGE", "PATCH", "OPTIONS":
		return s
	}
	return "?"
}

// withoutSecret cuts a text at a signature or a key: some clients send their URL
// or connection string as the id of a request.
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
