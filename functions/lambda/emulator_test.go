package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"edgetable/testdata/lambda/emulator"
	"edgetable/testdata/lambda/front"
	"edgetable/testdata/must"
	"edgetable/testdata/needs"
	"edgetable/testdata/proc"
)

// emulate runs the program under the Runtime Interface Emulator until the test ends.
func emulate(t *testing.T, env []string) (*emulator.Emulator, *proc.Buffer) {
	t.Helper()
	out := new(proc.Buffer)
	ctx, cancel := must.Patience(t)
	defer cancel()
	e, err := emulator.Start(ctx, emulator.Options{
		Emulator: mustMake(t, emulatorPath), Function: mustMake(t, bootstrap), Env: env, Log: out,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		e.Stop()
		if t.Failed() {
			t.Logf("the function wrote:\n%.20000s", out)
		}
	})
	return e, out
}

// TestEmulator tests the program as it is deployed, with local replacements of DynamoDB and Secrets Manager.
func TestEmulator(t *testing.T) {
	needs.These(t, needs.AWS)
	t.Parallel()
	var asked []string
	secrets := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Header.Get("X-Amz-Target"))
		_ = json.NewEncoder(w).Encode(map[string]string{"SecretString": "# keys of tests\nacme:" + key1 + "\n"})
	}))
	defer secrets.Close()
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprintf("streaming %t", stream), func(t *testing.T) {
			env := environment(t, "EDGETABLE_ROLE=primary", "EDGETABLE_ACCOUNTS_SECRET=tables", "AWS_ENDPOINT_URL_SECRETS_MANAGER="+secrets.URL,
				fmt.Sprintf("EDGETABLE_STREAMING=%t", stream))
			e, out := emulate(t, env)
			c := newClient(t, function{e.Invoke, stream}, key1)
			c.session(t)
			newClient(t, c.function, key2).do(t, "GET", "/Tables", "", 403)
			if !stream { // the emulator limits the size of a stream, too
				c.large(t)
			}
			for _, task := range []string{`{"purge":true}`, `{"heartbeat":true}`} {
				if answer, err := e.Invoke(t.Context(), []byte(task)); err != nil || string(answer) != "null" {
					t.Errorf("%s: %s, %v", task, answer, err)
				}
			}
			if _, err := e.Invoke(t.Context(), []byte(`{"Records":[]}`)); err == nil {
				t.Error("an event of something else is no error")
			}
			c.do(t, "GET", "/Tables", "", 200) // after the error, the function still works
			checkLog(t, out.String())
		})
	}
	if len(asked) != 2 {
		t.Errorf("the secret was asked for %d times by two functions", len(asked))
	}
}

// large makes a request whose body has almost the maximum size. Then it reads entities that do not fit into one
// response of a Lambda function.
func (c *client) large(t *testing.T) {
	t.Helper()
	c.do(t, "POST", "/$batch", batch(63, strings.Repeat("é", 32_000)), 202)
	rows, pages := 0, 1
	for next := ""; ; pages++ {
		resp := c.do(t, "GET", "/people()?"+next, "", 200)
		rows += bytes.Count(resp.Body, []byte(`"V":`))
		if next = continuation(resp); next == "" {
			break
		}
	}
	if rows != 100 || pages < 2 || pages > 4 {
		t.Errorf("%d rows in %d pages", rows, pages)
	}
}

func continuation(r *front.Response) string {
	var parts []string
	for _, f := range r.Header {
		if name, ok := strings.CutPrefix(f.Name, "x-ms-continuation-"); ok {
			parts = append(parts, name+"="+f.Value)
		}
	}
	return strings.Join(parts, "&")
}

// checkLog checks that the log has one JSON line for each request, with metrics and without secrets.
func checkLog(t *testing.T, text string) {
	t.Helper()
	operations, cold := map[string]int{}, 0
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, `{"time"`) {
			continue // the emulator wrote this line
		}
		var r struct {
			Msg, Operation string
			Took           float64
			Cold           bool
			AWS            json.RawMessage `json:"_aws"`
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		if r.Msg != "request" {
			continue
		}
		operations[r.Operation]++
		if r.Cold {
			cold++
		}
		if r.Took <= 0 || len(r.AWS) == 0 {
			t.Errorf("no metrics in %s", line)
		}
	}
	if operations["InsertEntity"]+operations["InsertOrReplaceEntity"]+operations["UpdateEntity"] == 0 || operations[""] != 1 || cold != 1 {
		t.Errorf("operations %v, %d cold starts", operations, cold)
	}
	for _, secret := range []string{key1, "SharedKey", "people(", "a%25b", "Ada"} {
		if strings.Contains(text, secret) {
			t.Errorf("the log has %s in it", secret)
		}
	}
}
