package protocol

// Text describes a text field of [Summary] in logs and spans.
type Text struct {
	Name string // name of the field in logs
	Span string // name of the attribute in spans; "" for the text that names the span
	Of   func(*Summary) string
}

// Texts lists the text fields of every log entry, in order. A log entry omits empty fields. The values come from
// [Summary.Redacted].
var Texts = [LogFields]Text{
	{"operation", "", func(s *Summary) string { return s.Operation }},
	{"account", "edgetable.account", func(s *Summary) string { return s.Account }},
	{"table", "edgetable.table", func(s *Summary) string { return s.Table }},
	{"code", "error.type", func(s *Summary) string { return s.Code }},
	{"refused", "edgetable.refused", func(s *Summary) string { return string(s.Refused) }},
	{"request", "edgetable.request_id", func(s *Summary) string { return s.RequestID }},
	{"client_request", "edgetable.client_request_id", func(s *Summary) string { return s.ClientRequestID }},
}

// LogFields is the length of [Texts].
const LogFields = 7

// AppendLog appends a log field for each of [Texts] that is not empty.
func (s *Summary) AppendLog(dst []Field) []Field {
	shown := s.Redacted()
	for i := range Texts {
		if value := Texts[i].Of(&shown); value != "" {
			dst = append(dst, Field{Name: Texts[i].Name, Value: value})
		}
	}
	return dst
}
