package protocol

// Text is a row of [Texts]. It describes one text of a request's summary that logs and spans contain.
type Text struct {
	Name string // name of the text as a field in logs
	Span string // name of the text as an attribute in spans; "" if the text is the name of the span
	Of   func(*Summary) string
}

// Texts lists the texts that every log contains, in this order. If a request lacks a text, the log leaves out
// the field. The values come from [Summary.Shown].
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

// AppendLog appends one log field for each of [Texts] that the summary has.
func (s *Summary) AppendLog(dst []Field) []Field {
	shown := s.Shown()
	for i := range Texts {
		if value := Texts[i].Of(&shown); value != "" {
			dst = append(dst, Field{Name: Texts[i].Name, Value: value})
		}
	}
	return dst
}
