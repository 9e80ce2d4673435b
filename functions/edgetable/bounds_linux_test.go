package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"edgetable/core/sas"
	"edgetable/core/sharedkey"
	"edgetable/functions/edgetable/descriptors"
	"edgetable/testdata/must"
	"edgetable/testdata/proc"
)

// startLimited starts a server with the accounts acme and evil. The server's process may open only
// this many files.
func startLimited(t *testing.T, files int, environment []string, args ...string) (p *process, accountsFile string) {
	t.Helper()
	dir := t.TempDir()
	accountsFile = filepath.Join(dir, "accounts")
	must.OK(t, os.WriteFile(accountsFile, []byte("acme:"+key1+"\nevil:"+key2+"\n"), 0o600))
	self, err := os.Executable()
	must.OK(t, err)
	c := exec.Command("sh", append([]string{"-c", `ulimit -n "$1"; shift; exec "$@"`, "sh", strconv.Itoa(files),
		self, "serve", "--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "data"), "--accounts", accountsFile}, args...)...)
	c.Env = append(environment, mainVariable+"=1")
	started := proc.Start(t, "ready", c)
	return &process{Cmd: c, testServer: testServer{greeting: strings.Join(started.Lines, "\n") + "\n", logs: started.Log}}, accountsFile
}

// clientOf returns a client that signs requests for an account of the server.
func (p *process) clientOf(t *testing.T, account, key string) *signingClient {
	t.Helper()
	first := p.client(t, key1).endpoint
	return newClient(t, first[:strings.LastIndexByte(first, '/')+1]+account, account, key)
}

// stranger connects from another address of this machine and sends a request. The connection has a
// small receive buffer.
func (p *process) stranger(t *testing.T, request string) net.Conn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}, Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) { // a small receive buffer, which must be set before the connection is opened, because the server learns its size then
			if err := syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096); err != nil {
				t.Error(err)
			}
		})
	}}
	conn, err := d.DialContext(t.Context(), "tcp", "127.0.0.1"+p.listening(t))
	must.OK(t, err)
	t.Cleanup(func() { conn.Close() })
	_, err = io.WriteString(conn, request)
	must.OK(t, err)
	return conn
}

// readBeginning reads the first bytes of a response.
func readBeginning(conn net.Conn) string {
	b := make([]byte, 15)
	n, _ := io.ReadFull(conn, b)
	return string(b[:n])
}

// readOnly returns a shared access signature of the account evil, which permits only reading
// entities.
func readOnly(t *testing.T) string {
	t.Helper()
	key, err := sharedkey.ParseKey(key2)
	must.OK(t, err)
	token, err := sas.AccountValues{ResourceTypes: "o", Permissions: "r", Expiry: time.Now().Add(time.Hour).UTC().Format(time.RFC3339)}.Sign("evil", key)
	must.OK(t, err)
	return token
}

// TestFlood lets a client without the key of any account open more connections than the server may
// open files. An account must still be able to write. Then the test disables another account, and
// the server must begin to refuse this account.
func TestFlood(t *testing.T) {
	t.Parallel()
	const files = 300
	p, accountsFile := startLimited(t, files, nil, "--disk-reserve", "4MiB") // a small reserve, so that the store often begins new log files
	acme, evil := p.clientOf(t, "acme", key1), p.clientOf(t, "evil", key2)
	acme.do(t, "POST", "/Tables", `{"TableName":"people"}`, 204)
	for range files + 100 {
		readBeginning(p.stranger(t, "GET /_/live HTTP/1.1\r\nHost: h\r\n\r\n"))
	}
	for i := range 60 {
		acme.do(t, "POST", "/people", bulky(i), 204)
	}
	evil.do(t, "GET", "/Tables", "", 200)
	must.OK(t, os.WriteFile(accountsFile, []byte("acme:"+key1+"\nevil:"+key2+" disabled\n"), 0o600))
	for status := 200; status != 403; {
		status, _ = evil.send(t, "GET", "/Tables", "")
	}
	for i := range 60 {
		acme.do(t, "GET", fmt.Sprintf("/people(PartitionKey='p',RowKey='%d')", i), "", 200)
	}
}

// TestFewFiles starts a server with the smallest limit of open files. It must serve, even while strangers keep more
// connections open than it accepts. Below this limit, the start must end with an error that names the limit.
func TestFewFiles(t *testing.T) {
	t.Parallel()
	p, _ := startLimited(t, descriptors.Least, nil, "--metrics-listen", "127.0.0.1:0", "--disk-reserve", "4MiB")
	acme := p.clientOf(t, "acme", key1)
	acme.do(t, "POST", "/Tables", `{"TableName":"people"}`, 204)
	for i := range 60 {
		readBeginning(p.stranger(t, "GET /_/live HTTP/1.1\r\nHost: h\r\n\r\n"))
		acme.do(t, "POST", "/people", bulky(i), 204)
	}
	self, err := os.Executable()
	must.OK(t, err)
	c := exec.Command("sh", "-c", `ulimit -n "$1"; exec "$2" serve --listen 127.0.0.1:0 --data "$3"`, "sh", strconv.Itoa(descriptors.Least-44), self, filepath.Join(t.TempDir(), "data"))
	c.Env = []string{mainVariable + "=1"}
	if out, err := c.CombinedOutput(); err == nil || !strings.Contains(string(out), "may open only 20 files (ulimit -n), and a server needs at least 64: raise the limit") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestUnreadAnswers requests large responses and does not read them, with a signature that permits
// only reading. The server must stay within its memory limit, and must answer another account.
func TestUnreadAnswers(t *testing.T) {
	t.Parallel()
	p, _ := startLimited(t, 1000, []string{"GOMEMLIMIT=160MiB"}, "--cache-size", "32MiB")
	acme, evil := p.clientOf(t, "acme", key1), p.clientOf(t, "evil", key2)
	for _, c := range []*signingClient{acme, evil} {
		c.do(t, "POST", "/Tables", `{"TableName":"people"}`, 204)
		for i := range 90 {
			c.do(t, "POST", "/people", bulky(i), 204)
		}
	}
	answered, refused := 0, 0
	for range 200 { // each response has nearly 4 MiB
		conn := p.stranger(t, "GET /evil/people()?"+readOnly(t)+" HTTP/1.1\r\nHost: h\r\nAccept: application/json;odata=nometadata\r\n\r\n")
		switch got := readBeginning(conn); got {
		case "HTTP/1.1 200 OK":
			answered++
		case "HTTP/1.1 503 Th": // the server answers "The server is currently unable …"
			refused++
		default:
			t.Fatalf("the answer begins with %q", got)
		}
	}
	if answered == 0 || refused == 0 {
		t.Errorf("%d were answered, %d refused", answered, refused)
	}
	acme.do(t, "GET", "/people()", "", 200)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Process.Pid))
	must.OK(t, err)
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	kib, err := strconv.Atoi(strings.Fields(peak)[0])
	must.OK(t, err)
	if kib > 300<<10 {
		t.Errorf("the server took %d MiB", kib>>10)
	}
}

// TestUnsentBodies begins as many batches as the server runs concurrently, with a signature that
// permits only reading. It does not send the rest of the bodies. Another account must be able to
// write.
func TestUnsentBodies(t *testing.T) {
	t.Parallel()
	p, _ := startLimited(t, 1000, nil, "--metrics-listen", "127.0.0.1:0")
	acme := p.clientOf(t, "acme", key1)
	acme.do(t, "POST", "/Tables", `{"TableName":"people"}`, 204)
	const uploads = 64
	for range uploads {
		p.stranger(t, "POST /evil/$batch?"+readOnly(t)+" HTTP/1.1\r\nHost: h\r\nContent-Type: multipart/mixed; boundary=batch_1\r\nContent-Length: 4000000\r\n\r\n"+strings.Repeat("x", 20_000))
	}
	must.Eventually(t, "the bodies have come", p.logs, func() bool {
		m := p.scrape(t, "")["edgetable_client_memory_bytes"]
		return m != nil && m.Metric[0].GetGauge().GetValue() >= uploads<<16
	})
	for i := range 20 {
		acme.do(t, "PUT", fmt.Sprintf("/people(PartitionKey='p',RowKey='%d')", i), `{"Name":"a"}`, 204)
	}
}
