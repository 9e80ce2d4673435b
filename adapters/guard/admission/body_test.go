package admission_test

import (
	"io"
	"net/textproto"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"edgetable/adapters/guard/admission"
	"edgetable/core/protocol"
	"edgetable/core/wiretest"
)

// TestBodiesThatDoNotCome starts more writes than there are slots, and none of their bodies arrives. Another write
// must be served meanwhile. The slow writes must be served when their bodies arrive.
func TestBodiesThatDoNotCome(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const concurrent, slow = 2, 10
		h := wiretest.NewHandler(new(wiretest.Clock))
		l := admission.New(h, admission.Options{Concurrent: concurrent, MaxWait: time.Hour})
		var bodies []*io.PipeWriter
		answers := make(chan int, slow)
		name := func(i int) string { return "slow" + string(rune('a'+i)) }
		for i := range slow {
			r, w := io.Pipe()
			bodies = append(bodies, w)
			go func() { answers <- l.Serve(t.Context(), insert(t, r, name(i))).Status }()
		}
		synctest.Wait()
		if s := l.Stats(); s.Running != 0 || s.Waiting != 0 {
			t.Errorf("bodies that do not come hold slots: %+v", s)
		}
		if resp := l.Serve(t.Context(), insert(t, strings.NewReader(tableText("other")), "other")); resp.Status != 201 || resp.Waited != 0 {
			t.Errorf("another write got %d after %v", resp.Status, resp.Waited)
		}
		for i, w := range bodies {
			if _, err := io.WriteString(w, tableText(name(i))); err != nil {
				t.Error(err)
			}
			w.Close()
			if got := <-answers; got != 201 {
				t.Errorf("a slow write got %d", got)
			}
		}
		if s := l.Stats(); s.Running != 0 || s.Waiting != 0 || s.Refused != 0 {
			t.Errorf("at the end: %+v", s)
		}
	})
}

// TestBodyComesTooLate checks a request whose body arrives while no slot is free. If it gets no slot in time, it must
// be refused with the service's own error, without any effect.
func TestBodyComesTooLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := wiretest.NewHandler(new(wiretest.Clock))
		l := admission.New(h, admission.Options{Concurrent: 1})
		r, w := io.Pipe()
		p := insert(t, r, "people")
		answer := make(chan protocol.Response, 1)
		go func() { answer <- l.Serve(t.Context(), p) }()
		synctest.Wait()
		stuck := takeTurn(l, t.Context(), protocol.Work{Payer: "other", IsAccount: true, Write: true})
		if _, err := io.WriteString(w, tableText("people")); err != nil {
			t.Fatal(err)
		}
		w.Close()
		resp := <-answer
		if resp.Status != 503 || resp.Refused != protocol.RefusedQueue || resp.Waited != time.Second || !strings.Contains(string(resp.Body), "ServerBusy") {
			t.Errorf("%d %q after %v: %s", resp.Status, resp.Refused, resp.Waited, resp.Body)
		}
		stuck.End(1)
		if s := l.Stats(); s.Running != 0 {
			t.Errorf("at the end: %+v", s)
		}
	})
}

// insert returns a request that creates a table. Its body may arrive slowly.
func insert(t *testing.T, body io.Reader, name string) *protocol.Request {
	t.Helper()
	req := signed(t, "POST /devstoreaccount1/Tables HTTP/1.1\nContent-Type: application/json\n\n"+tableText(name)+"\n")
	req.Body = body
	return req
}

// signed parses a request and signs it.
func signed(t *testing.T, text string) *protocol.Request {
	t.Helper()
	req, err := wiretest.NewRequest(text, wiretest.Start)
	if err != nil {
		t.Fatal(err)
	}
	header := protocol.Header{}
	for _, f := range req.Header {
		header[textproto.CanonicalMIMEHeaderKey(f.Name)] = []string{f.Value}
	}
	return &protocol.Request{
		Method: req.Method, Target: req.Target, Host: req.Host, Scheme: "http",
		Header: header, ContentLength: int64(len(req.Body)),
	}
}

func tableText(name string) string { return `{"TableName":"` + name + `"}` }
