package protocol

// Text is a row of [Texts]: a text that logs and spans show of a request.
type Text struct {
	Name string // of the field in logs
	Span string // of the attribute in spans; "" for one that names the span
	Of   func(*Summary) string
}

// Texts are the texts that every log shows of a request that has them, in this order. The
// values are those of [Summary.Shown].
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

// AppendLog appends the known texts of what a log may show.
func (s *Summary) AppendLog(dst []Field) []Field {
	shown := s.Shown()
	for i := range Texts {
		if value := Texts[i].Of(&shown); value != "" {
			dst = append(dst, Field{Name: Texts[i].Name, Value: value})
		}
	}
	return dst
}
