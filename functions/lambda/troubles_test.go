package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"edgetable/testdata/lambda/front"
)

// TestTroubles checks mistakes of operators. Clients must get errors in the form that the Table protocol defines,
// and one line of the log must contain the reason.
func TestTroubles(t *testing.T) {
	t.Parallel()
	denied := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]string{
			"__type": "AccessDeniedException", "Message": "User: edgetable is not authorized to perform: secretsmanager:GetSecretValue",
		})
	}))
	t.Cleanup(denied.Close)
	const known = "EDGETABLE_ACCOUNTS=acme:" + key1
	for _, tt := range []struct {
		why    string
		env    []string
		before func(c *client, t *testing.T, env []string)
		status int
		code   string
		msg    string   // field msg of the log line
		says   []string // parts of the log line
	}{
		{"another DynamoDB table", []string{known, "EDGETABLE_DYNAMODB_TABLE=nowhere"}, nil,
			500, "InternalError", "request", []string{"ResourceNotFoundException", `"dynamodb":"nowhere"`}},
		{"a DynamoDB table that was deleted", []string{known}, (*client).lose,
			500, "InternalError", "request", []string{"ResourceNotFoundException", `"dynamodb":"edgetable-TestTroubles-`}},
		{"no credentials", []string{known, "AWS_ACCESS_KEY_ID=", "AWS_SECRET_ACCESS_KEY="}, nil,
			500, "InternalError", "request", []string{"UnrecognizedClientException"}},
		{"a DynamoDB that nobody reaches", []string{known, "AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:9"}, nil,
			503, "ServerBusy", "request", []string{"connection refused"}},
		{"no region", []string{known, "AWS_REGION="}, nil,
			500, "InternalError", "the function cannot serve", []string{"AWS_REGION is not set"}},
		{"a setting with a mistake", []string{known, "EDGETABLE_BUCKETS=many"}, nil,
			500, "InternalError", "the function cannot serve", []string{`EDGETABLE_BUCKETS=\"many\"`}},
		{"a secret that may not be read", []string{"EDGETABLE_ACCOUNTS_SECRET=tables", "AWS_ENDPOINT_URL_SECRETS_MANAGER=" + denied.URL}, nil,
			503, "ServerBusy", "a secret cannot be read", []string{"AccessDeniedException", "GetSecretValue"}},
		{"another key of the account", []string{"EDGETABLE_ACCOUNTS=acme:" + key2}, nil,
			403, "AuthenticationFailed", "request", []string{`"code":"AuthenticationFailed"`}},
	} {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			env := environment(t, tt.env...)
			e, out := emulate(t, env)
			c := newClient(t, function{e.Invoke, false}, key1)
			if tt.before != nil {
				tt.before(c, t, env)
			}
			for _, target := range []string{"/Tables", "/people(PartitionKey='p',RowKey='r')"} {
				resp := c.do(t, "GET", target, "", tt.status)
				if !bytes.Contains(resp.Body, []byte(`"`+tt.code+`"`)) {
					t.Errorf("%s: %s", target, resp.Body)
				}
				if tt.status >= 500 && bytes.Contains(resp.Body, []byte(tt.says[0])) {
					t.Errorf("a stranger is told the cause: %s", resp.Body)
				}
			}
			var said bool
			for line := range strings.Lines(out.String()) {
				if !strings.HasPrefix(line, `{"time"`) || !strings.Contains(line, `"msg":"`+tt.msg+`"`) {
					continue
				}
				all := json.Valid([]byte(line))
				for _, say := range tt.says {
					all = all && strings.Contains(line, say)
				}
				said = said || all
			}
			if !said {
				t.Errorf("no line %q says %q:\n%s", tt.msg, tt.says, out)
			}
			for _, secret := range []string{key1, key2, "SharedKey"} {
				if strings.Contains(out.String(), secret) {
					t.Errorf("the log has %s in it", secret)
				}
			}
		})
	}
}

// lose creates a table through the function. Then it deletes the DynamoDB table that the function uses.
func (c *client) lose(t *testing.T, env []string) {
	c.do(t, "POST", "/Tables", `{"TableName":"people"}`, 204, front.Field{Name: "Prefer", Value: "return-no-content"})
	var name string
	for _, v := range env {
		if value, ok := strings.CutPrefix(v, "EDGETABLE_DYNAMODB_TABLE="); ok {
			name = value
		}
	}
	client := database(mustMake(t, databaseURL))
	if _, err := client.DeleteTable(t.Context(), &sdk.DeleteTableInput{TableName: &name}); err != nil {
		t.Fatal(err)
	}
}
