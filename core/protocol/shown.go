package protocol

import "strings"

// Redacted returns the part of a summary that logs and traces may contain, apart from the status. It omits text that a
// client without a key can choose, and text that may be secret.
func (s *Summary) Redacted() Summary {
	shown := *s
	shown.Method = shownMethod(s.Method)
	if !s.SignedIn {
		shown.ClientRequestID = ""
	}
	shown.ClientRequestID = withoutSecret(shown.ClientRequestID)
	return shown
}

// shownMethod returns the method, or "?" for text that is not a method of the protocol.
func shownMethod(s string) string {
	switch s {
	case "GET", "HEAD", "PUT", "POST", "DELETE", "MERGE", "PATCH", "OPTIONS":
		return s
	}
	return "?"
}

// withoutSecret truncates s at a signature or key, because some clients send their URL or connection string as the
// client request id.
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
