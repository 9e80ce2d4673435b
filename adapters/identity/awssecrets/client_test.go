package awssecrets_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"edgetable/adapters/identity/awssecrets"
)

var (
	now         = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	credentials = aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "a secret of tests", SessionToken: "session"}
)

// answer is one response of a service.
type answer struct {
	status int
	body   string
}

// service is a fake AWS service: it requires a valid signature, and returns its answers one after another.
type service struct {
	t       *testing.T
	answers []answer
	heard   []string // target and body of each request
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Error(err)
	}
	s.heard = append(s.heard, r.Header.Get("X-Amz-Target")+" "+string(body))
	if got, want := r.Header.Get("Authorization"), signature(r, body); got != want {
		s.t.Errorf("Authorization: %s\nwant %s", got, want)
	}
	if len(s.heard) > len(s.answers) {
		s.t.Errorf("asked %d times", len(s.heard))
		return
	}
	a := s.answers[len(s.heard)-1]
	if a.status == 0 { // status 0 closes the connection without an answer
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, a.body)
}

// signature returns the valid Authorization header of a request. The function follows only AWS's description of
// Signature Version 4, and uses no code of the SDK.
func signature(r *http.Request, body []byte) string {
	names := strings.Split(between(r.Header.Get("Authorization"), "SignedHeaders=", ","), ";")
	scope := strings.Join(strings.Split(between(r.Header.Get("Authorization"), "Credential=", ","), "/")[1:], "/")
	part := strings.Split(scope, "/")
	var canonical strings.Builder
	for _, name := range names {
		value := r.Header.Get(name)
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = fmt.Sprint(r.ContentLength)
		}
		fmt.Fprintf(&canonical, "%s:%s\n", name, value)
	}
	hash := func(s string) string { h := sha256.Sum256([]byte(s)); return hex.EncodeToString(h[:]) }
	request := strings.Join([]string{"POST", "/", "", canonical.String(), strings.Join(names, ";"), hash(string(body))}, "\n")
	toSign := strings.Join([]string{"AWS4-HMAC-SHA256", now.Format("20060102T150405Z"), scope, hash(request)}, "\n")
	key := []byte("AWS4" + credentials.SecretAccessKey)
	for _, s := range append(part, toSign) {
		m := hmac.New(sha256.New, key)
		m.Write([]byte(s))
		key = m.Sum(nil)
	}
	return fmt.Sprintf("AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%x",
		credentials.AccessKeyID, scope, strings.Join(names, ";"), key)
}

func between(s, from, to string) string {
	_, s, _ = strings.Cut(s, from)
	s, _, _ = strings.Cut(s, to)
	return s
}

func TestClient(t *testing.T) {
	t.Parallel()
	const (
		secret    = `secretsmanager.GetSecretValue {"SecretId":"tables"}`
		parameter = `AmazonSSM.GetParameter {"Name":"tables","WithDecryption":true}`
	)
	for _, tt := range []struct {
		why     string
		ssm     bool
		answers []answer
		heard   string // text that each request must contain
		want    string
		err     string // part of the error's text
	}{
		{"a secret", false, []answer{{200, `{"ARN":"arn","SecretString":"acme:a2V5\nbeta:a2V5"}`}}, secret, "acme:a2V5\nbeta:a2V5", ""},
		{"a parameter", true, []answer{{200, `{"Parameter":{"Name":"tables","Type":"SecureString","Value":"acme:a2V5"}}`}}, parameter, "acme:a2V5", ""},
		{"binary", false, []answer{{200, `{"SecretBinary":"AAAA"}`}}, secret, "", "store it as text"},
		{"missing", false, []answer{{400, `{"__type":"ResourceNotFoundException","Message":"Secrets Manager can't find the specified secret."}`}}, secret, "", "secretsmanager: 400 ResourceNotFoundException: Secrets Manager can't"},
		{"not allowed", true, []answer{{400, `{"__type":"com.amazon.coral.service#AccessDeniedException","message":"User: arn:aws:sts::1:role is not authorized"}`}}, parameter, "", "ssm: 400 AccessDeniedException: User"},
		{"throttled, then not", true, []answer{{400, `{"__type":"ThrottlingException"}`}, {200, `{"Parameter":{"Value":"x:y"}}`}}, parameter, "x:y", ""},
		{"out of order, then not", false, []answer{{503, "<html>"}, {200, `{"SecretString":"x:y"}`}}, secret, "x:y", ""},
		{"out of order", false, []answer{{500, "{}"}, {500, "{}"}}, secret, "", "secretsmanager: 500"},
		{"hangs up, then not", false, []answer{{}, {200, `{"SecretString":"x:y"}`}}, secret, "x:y", ""},
		{"nonsense with a key in it", false, []answer{{200, `{"SecretString":"acme:a2V5"`}, {200, `{"SecretString":5}`}}, secret, "", "unexpected form"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			s := &service{t: t, answers: tt.answers}
			server := httptest.NewServer(s)
			defer server.Close()
			c := client(func(string) string { return server.URL })
			call := c.Secret
			if tt.ssm {
				call = c.Parameter
			}
			got, err := call(t.Context(), "tables")
			if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%q, %v; want %q, %q", got, err, tt.want, tt.err)
			}
			if err != nil && strings.Contains(err.Error(), "a2V5") {
				t.Errorf("the error shows a key: %v", err)
			}
			if len(s.heard) != len(tt.answers) {
				t.Errorf("asked %d times, want %d", len(s.heard), len(tt.answers))
			}
			for _, heard := range s.heard {
				if heard != tt.heard {
					t.Errorf("asked %s, want %s", heard, tt.heard)
				}
			}
		})
	}
}

func client(endpoint func(string) string) *awssecrets.Client {
	return &awssecrets.Client{
		Region: "eu-central-1", Credentials: func() aws.Credentials { return credentials },
		Endpoint: endpoint, HTTP: &http.Client{}, Now: func() time.Time { return now },
	}
}

// TestHost checks to which host the request for a secret is sent.
func TestHost(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ region, id, want, why string }{
		{"eu-central-1", "tables", "https://secretsmanager.eu-central-1.amazonaws.com/", "a name"},
		{"eu-central-1", "arn:aws:secretsmanager:us-west-2:1:secret:tables-AbCdEf", "https://secretsmanager.us-west-2.amazonaws.com/", "an ARN names its region"},
		{"cn-north-1", "tables", "https://secretsmanager.cn-north-1.amazonaws.com.cn/", "China has another domain"},
		{"eu-central-1", "a:b:c:d:e:f", "https://secretsmanager.eu-central-1.amazonaws.com/", "colons alone are no ARN"},
	} {
		var asked, scope string
		c := client(nil)
		c.Region = tt.region
		c.HTTP.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			asked, scope = r.URL.String(), between(r.Header.Get("Authorization"), "20260304/", "/")
			return nil, context.Canceled
		})
		if _, err := c.Secret(t.Context(), tt.id); err == nil || asked != tt.want {
			t.Errorf("%s: asked %s, %v", tt.why, asked, err)
		}
		if !strings.Contains(tt.want, "."+scope+".") {
			t.Errorf("%s: signed for %s", tt.why, scope)
		}
	}
}

// TestNoRedirects checks that the client follows no redirect, so that credentials stay with the service.
func TestNoRedirects(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("%s with the token %q was sent on", r.Method, r.Header.Get("X-Amz-Security-Token"))
		_, _ = io.WriteString(w, `{"SecretString":"another"}`)
	}))
	t.Cleanup(elsewhere.Close)
	for _, status := range []int{301, 302, 303, 307, 308} {
		s := httptest.NewServer(http.RedirectHandler(elsewhere.URL, status))
		if text, err := client(func(string) string { return s.URL }).Secret(t.Context(), "tables"); err == nil {
			t.Errorf("%d: %q", status, text)
		}
		s.Close()
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
