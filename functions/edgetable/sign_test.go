package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"edgetable/core/accounts"
	"edgetable/testdata/must"
)

// TestGreetingCurl runs the curl command that a server prints at its start. It must work unchanged.
func TestGreetingCurl(t *testing.T) {
	t.Parallel()
	s := start(t, nil, "--memory")
	s.client(t, "").fill(t)
	line := s.greetingText(t, "try ")
	if !strings.HasSuffix(line, "  # within 15m") {
		t.Errorf("the line does not say how long it is good: %s", line)
	}
	if text := paste(t, strings.TrimSuffix(line, "  # within 15m"), 200); !strings.Contains(text, `"TableName":"people"`) {
		t.Errorf("%s\n%s", line, text)
	}
	// For an account other than the development account, the server prints an edgetable command that
	// signs the request.
	s = start(t, map[string]string{accounts.Variable: "acme:" + key1}, "--memory")
	words := split(t, s.greetingText(t, "try "))
	status, line, text := run(t, map[string]string{accounts.Variable: "acme:" + key1}, words[1:]...)
	if status != 0 || words[0] != "edgetable" {
		t.Fatalf("%q: status %d: %s", words, status, text)
	}
	paste(t, line, 200)
}

// TestSign checks the request that 'sign' prints for a shell and curl. They must send exactly the
// path that was signed.
func TestSign(t *testing.T) {
	t.Parallel()
	s := start(t, nil, "--memory", "--max-skew", "0")
	if strings.Contains(s.greeting, "within") {
		t.Errorf("greeting:\n%s", s.greeting)
	}
	c := s.client(t, "")
	c.fill(t)
	host := strings.TrimSuffix(c.endpoint, "/"+accounts.Development)
	for _, tt := range []struct {
		method, target string
		status         int
		say, why       string
	}{
		{"GET", c.endpoint + "/people()?$filter=Name eq 'Ada'", 200, `"Ada"`, "quotes and blanks in a query"},
		{"PUT", c.endpoint + "/people(PartitionKey='O''Brien',RowKey='50%25 $HOME `x` \"é\"')", 204, "", "what shells look at"},
		{"get", c.endpoint + "/people(PartitionKey='O%27%27Brien',RowKey='50%25%20$HOME%20%60x%60%20%22%C3%A9%22')", 200, `"RowKey":"50% $HOME `, "the same, escaped"},
		{"PUT", c.endpoint + "/people(PartitionKey='[1-3]{a,b}',RowKey='a+b;c=d&e%c3%a9')", 204, "", "what curl would expand"},
		{"GET", c.endpoint + "/people()?$filter=PartitionKey eq '[1-3]{a,b}'", 200, `"RowKey":"a+b;c=d&e\u00e9"`, "and there it is"},
		{"POST", c.endpoint + "/people", 400, "PropertiesNeedValue", "a body to be replaced"},
		{"MERGE", c.endpoint + ada, 204, "", "a verb of the protocol alone"},
		{"GET", c.endpoint + "/people()?$filter=Name eq 'C#'", 200, `"value":[]`, "no fragment is cut off"},
		{"HEAD", c.endpoint + "/Tables", 405, "", "no body is waited for"},
		{"GET", host + "//" + accounts.Development + "//Tables", 200, "people", "slashes"},
		{"GET", host + "/" + accounts.Development + "/../" + accounts.Development + "/Tables", 400, "", "dots are sent as they are"},
		{"GET", host + "/" + accounts.Development + "-secondary/Tables", 200, "people", "the secondary"},
		{"GET", host + "?comp=list", 400, "", "a query without a path"},
	} {
		status, line, text := run(t, nil, "sign", "--account", accounts.Development, tt.method, tt.target)
		if status != 0 || (text != "") != strings.Contains(line, "{}") {
			t.Errorf("%s: status %d: %s%s", tt.why, status, line, text)
			continue
		}
		if got := paste(t, line, tt.status); !strings.Contains(got, tt.say) {
			t.Errorf("%s: %s%s", tt.why, line, got)
		}
	}
}

// TestSignFindsAccount checks that 'sign' finds the account in a URL in the same way as the server.
func TestSignFindsAccount(t *testing.T) {
	t.Parallel()
	env := map[string]string{accounts.Variable: "acme:" + key1 + ";beta:" + key2}
	for target, want := range map[string]string{
		"http://127.0.0.1:1/acme/Tables":           "acme",
		"http://[::1]:1/acme":                      "acme",
		"http://127.0.0.1:1//a%63me-secondary/t":   "acme",
		"https://acme.table.example.com/beta":      "acme",
		"https://ACME-secondary.Table.example.com": "acme",
		"https://beta.example.com/acme/Tables":     "acme",
		"https://acme.example.com/Tables":          "",
	} {
		status, line, text := run(t, env, "sign", "GET", target)
		switch {
		case want == "":
			if status != 1 || !strings.Contains(text, "--account") {
				t.Errorf("%s: status %d: %s%s", target, status, line, text)
			}
		case status != 0 || !strings.Contains(line, "SharedKeyLite "+want+":"):
			t.Errorf("%s: status %d: %s%s", target, status, line, text)
		}
	}
	if _, line, _ := run(t, env, "sign", "--account", "beta", "GET", "http://localhost/acme"); !strings.Contains(line, "SharedKeyLite beta:") {
		t.Errorf("--account: %s", line)
	}
}

// paste parses a curl command as a shell does and sends its request. If curl is installed, paste also
// runs the command. It returns the body of the response.
func paste(t *testing.T, line string, want int) string {
	t.Helper()
	resp, body := send(t, split(t, line))
	if resp.StatusCode != want {
		t.Errorf("%sstatus %d, want %d: %s", line, resp.StatusCode, want, body)
	}
	if _, err := exec.LookPath("curl"); err != nil {
		return body
	}
	shell := exec.CommandContext(t.Context(), "sh", "-c", strings.TrimSpace(line)+` -q --noproxy '*' --silent --show-error --output /dev/null --write-out '%{http_code}'`)
	out, err := shell.CombinedOutput()
	if err != nil || string(out) != fmt.Sprint(want) {
		t.Errorf("%scurl: %s, %v, want %d", line, out, err, want)
	}
	return body
}

// send sends the request of a curl command without changing the path. The slice words has the parts
// of the command line.
func send(t *testing.T, words []string) (*http.Response, string) {
	t.Helper()
	method, target, body, head := "GET", "", "", ""
	for i := 1; i < len(words); i++ {
		switch words[i] {
		case "--path-as-is":
		case "--head":
			method = "HEAD"
		case "-X":
			i++
			method = words[i]
		case "-H":
			i++
			head += words[i] + "\r\n"
		case "-d":
			i++
			body = words[i]
		default:
			target = words[i]
		}
	}
	host := strings.TrimPrefix(target, "http://")
	path := strings.TrimLeft(host, "[]:.0123456789")
	host = strings.TrimSuffix(host, path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	conn, err := net.Dial("tcp", host)
	must.OK(t, err)
	defer conn.Close()
	fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n%s\r\n%s", method, path, host, len(body), head, body)
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	must.OK(t, err)
	text, err := io.ReadAll(resp.Body)
	must.OK(t, err)
	return resp, string(text)
}

// split splits a line into words as a shell does. It supports only single quotes and backslashes as
// special characters.
func split(t *testing.T, line string) []string {
	t.Helper()
	var words []string
	var word strings.Builder
	quoted := false
	line = strings.TrimSpace(line) + " "
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\'':
			quoted = !quoted
		case quoted:
			word.WriteByte(c)
		case c == '\\':
			i++
			word.WriteByte(line[i])
		case c == ' ':
			words = append(words, word.String())
			word.Reset()
		case strings.IndexByte("$`\"&;|<>*?[]{}()#!~\n", c) >= 0:
			t.Fatalf("%q is not quoted in %s", c, line)
		default:
			word.WriteByte(c)
		}
	}
	if quoted {
		t.Fatalf("an open quote in %s", line)
	}
	return words
}
