package protocol

// Text is a row of [Texts]: a text about a request that logs and spans show.
type Text struct {
	Name string // name of the field in logs
	Span string // name of the attribute in spans; "" if the text names the span
	Of   func(*Summary) string
}

// Texts lists the texts that every log shows, in this order. A log leaves out texts that
// a request does not have. The values come from [Summary.Shown].
var Texts = [LogFields]Text{
	{"operation", "", func(s *Summary) string { return s.Operation }},
	{"account", "edgetable.account", func(s *Summary) string { return s.Account }},
	{"table", "edgetable.table", func(s *Summary) string { return s.Table }},
	{"code", "error.type", func(s *Summary) string { return s.Code }},
	{"refused", "edgetable.refused", func(s *Summary) string { return string(s.Refused) }},
	{"request", "edgetable.request_id", func(s *Summary) string { return s.RequestID }},
	{"client_request", "edgetable.client_request_id", func(s *Summary) string { return s.ClientRequestID }},
}

// LogFields is the number of texts.
const LogFields = 7

// AppendLog appends the texts that the summary has as fields of a log.
func (s *Summary) AppendLog(dst []Field) []Field {
	shown := s.Shown()
	for i := range Texts {
		if value := Texts[i].Of(&shown); value != "" {
			dst = append(dst, Field{Name: Texts[i].Name, Value: value})
		}
	}
	return dst
}
