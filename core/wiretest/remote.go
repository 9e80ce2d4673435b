package wiretest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"edgetable/core/sharedkey"
	"edgetable/core/wiretest/scene"
)

// Remote is an account of a server that runs on another machine and uses the real clock.
type Remote struct {
	Account string
	Key     string
	Scheme  string // http or https
	Host    string
	Dialect Dialect
	Differs []string // exchanges (scenario/NN) with responses that are known to differ; the test only logs the differences
	Send    Target
	Empty   func(t *testing.T) // function that deletes the tables that the previous scenario left in the account
}

// RunRemote plays the scenarios one after another, except those that need a certain clock or other accounts. It ignores
// times, and headers that occur in no transcript.
func RunRemote(t *testing.T, remote *Remote) {
	t.Helper()
	list, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	known := headers(list)
	played := 0
	for _, transcript := range list {
		if !transcript.playsAnywhere() {
			continue
		}
		played++
		t.Run(transcript.Name(), func(t *testing.T) {
			remote.Empty(t)
			remote.play(t, transcript, known)
		})
	}
	t.Logf("%d of %d scenarios were played; the others need a clock, accounts or a store made for them", played, len(list))
}

// elsewhere matches requests that only a server with the accounts and the clock of the transcripts can answer. Such
// requests are not played to a Remote.
var elsewhere = regexp.MustCompile(`(?im)(second|disabled|https|walled)account|twokeys|Bearer |\$\(sas |^(Host|Date|x-ms-date|Authorization): *[^(]|^\w+ \w+://`)

func (t *Transcript) playsAnywhere() bool {
	return len(t.Directives) == 0 && !slices.ContainsFunc(t.Exchanges, func(e Exchange) bool { return elsewhere.MatchString(e.Request) })
}

// headers maps the names of all response headers in the corpus from lower case to their original spelling. Some
// platforms send the names in lower case.
func headers(list []*Transcript) map[string]string {
	known := map[string]string{"x-ms-request-id": "x-ms-request-id", "date": "Date", "content-length": "Content-Length"}
	for _, t := range list {
		for i := range t.Exchanges {
			head, _, _ := strings.Cut(t.Exchanges[i].Response, "\n\n")
			for line := range strings.Lines(head) {
				if name, _, ok := strings.Cut(line, ": "); ok {
					known[strings.ToLower(name)] = name
				}
			}
		}
	}
	return known
}

func (r *Remote) play(t *testing.T, transcript *Transcript, known map[string]string) {
	captured := make(map[string]string)
	var ours, theirs moments
	for i := range transcript.Exchanges {
		e := &transcript.Exchanges[i]
		name := fmt.Sprintf("%02d-%s", e.Number, e.Name)
		req, err := newRequest(theirs.translate(e.Request, ours), time.Now().UTC(), captured)
		if err != nil && r.Dialect.Ascending {
			continue // the request needs a continuation token, which the earlier response did not have
		}
		if err == nil {
			err = r.address(req)
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		resp, err := r.Send(req)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		captured[fmt.Sprintf("%02d", e.Number)] = string(resp.Body)
		for _, f := range resp.Header {
			captured[fmt.Sprintf("%02d.%s", e.Number, strings.ToLower(f.Name))] = f.Value
		}
		resp.Header = slices.DeleteFunc(slices.Clone(resp.Header), func(f Field) bool { return known[strings.ToLower(f.Name)] == "" })
		for i := range resp.Header {
			resp.Header[i].Name = known[strings.ToLower(resp.Header[i].Name)]
		}
		got, err := resp.text(req.Method)
		if err != nil {
			r.differs(t, transcript, e, fmt.Sprintf("%v in\n%+v", err, resp))
			continue
		}
		got = strings.NewReplacer(r.Scheme+"://"+r.Host, "http://"+host, r.Account, Account).Replace(got)
		got, want := ours.nameAny(moment.ReplaceAllString(got, "{moment}")), moment.ReplaceAllString(theirs.name(e.Response), "{moment}")
		if resp.Reason == "" {
			want = reason.ReplaceAllString(want, "$1")
		}
		if ownDay.MatchString(e.Request) {
			continue
		}
		if !r.Dialect.equal(exchange(transcript, e), want, got) {
			r.differs(t, transcript, e, difference(got, want))
		}
	}
}

func exchange(t *Transcript, e *Exchange) string { return fmt.Sprintf("%s/%02d", t.Name(), e.Number) }

func (r *Remote) differs(t *testing.T, transcript *Transcript, e *Exchange, how string) {
	if slices.Contains(r.Differs, exchange(transcript, e)) {
		t.Logf("known difference in %02d-%s:\n%s", e.Number, e.Name, how)
		return
	}
	t.Errorf("%02d-%s:\n%s", e.Number, e.Name, how)
}

// ownDay matches a query whose filter compares Timestamps with a time on the day of the transcripts.
var ownDay = regexp.MustCompile(`Timestamp%20\w\w%20datetime'2026-03-04|Timestamp \w\w datetime'2026-03-04`)

// moment matches a server's time in whole seconds, in Atom's element <updated> or in the text of a message.
var moment = regexp.MustCompile(`<updated>[^<]+|\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT`)

// address redirects a request to the remote account. If the request had a valid signature, address replaces the
// signature by a valid one.
func (r *Remote) address(req *Request) error {
	theirs, err := sharedkey.ParseKey(scene.AccountKey)
	if err != nil {
		return err
	}
	ours, err := sharedkey.ParseKey(r.Key)
	if err != nil {
		return err
	}
	before := req.signed()
	rename := strings.NewReplacer("http://"+host, r.Scheme+"://"+r.Host, Account, r.Account)
	req.Target, req.Host = rename.Replace(req.Target), r.Host
	length := len(req.Body)
	req.Body = []byte(rename.Replace(string(req.Body)))
	for i := range req.Header {
		f := &req.Header[i]
		switch {
		case f.Name == "Authorization":
			for _, scheme := range []sharedkey.Scheme{sharedkey.SharedKey, sharedkey.SharedKeyLite} {
				if f.Value == theirs.Authorization(scheme, Account, before) {
					f.Value = ours.Authorization(scheme, r.Account, req.signed())
					break
				}
			}
			f.Value = rename.Replace(f.Value)
		case strings.EqualFold(f.Name, "Content-Length") && f.Value == fmt.Sprint(length):
			f.Value = fmt.Sprint(len(req.Body))
		}
	}
	return nil
}

// Ask sends a request in the notation of transcripts.
func (r *Remote) Ask(text string) (*Response, error) {
	req, err := NewRequest(text, time.Now().UTC())
	if err == nil {
		err = r.address(req)
	}
	if err != nil {
		return nil, err
	}
	return r.Send(req)
}
