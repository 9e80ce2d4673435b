package homes

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"edgetable/testdata/must"
	"edgetable/testdata/proc"
)

// root is the directory of the repository.
var root = func() string {
	dir, err := filepath.Abs("../..")
	if err != nil {
		panic(err)
	}
	return dir
}()

// binary is the program under test.
func binary(t *testing.T) string {
	t.Helper()
	path := os.Getenv("EDGETABLE_BINARY")
	if path == "" {
		t.Fatal("EDGETABLE_BINARY must name the binary: use 'make test-data'")
	}
	return path
}

// newKey makes an account key. All accounts of a test have the same key.
func newKey() string {
	var b [64]byte
	_, _ = rand.Read(b[:]) // rand.Read never fails
	return base64.StdEncoding.EncodeToString(b[:])
}

// serve starts a program that has the same command line as the binary, and returns the URL of its accounts.
func serve(t *testing.T, program, accounts string, env ...string) string {
	t.Helper()
	c := exec.Command(program, "serve", "--listen", "127.0.0.1:0", "--data", filepath.Join(t.TempDir(), "data"))
	c.Env = append(append(os.Environ(), "EDGETABLE_ACCOUNTS="+accounts), env...)
	endpoint := proc.Start(t, "ready", c).Value(t, "endpoint")
	return endpoint[:strings.LastIndexByte(endpoint, '/')]
}

// azurite runs Azurite and returns the URL of its accounts.
func azurite(t *testing.T, accounts string) string {
	t.Helper()
	program := os.Getenv("EDGETABLE_AZURITE")
	if program == "" {
		t.Fatal("EDGETABLE_AZURITE must name azurite-table: use 'make test-data'")
	}
	address := free(t)
	host, port, _ := net.SplitHostPort(address)
	c := exec.Command(program, "--tableHost", host, "--tablePort", port, "--inMemoryPersistence", "--silent", "--disableTelemetry")
	c.Env = append(os.Environ(), "AZURITE_ACCOUNTS="+accounts)
	proc.Start(t, "Azurite Table service successfully", c)
	return "http://" + address
}

// free returns an address with an unused port, because Azurite does not report a port that it chooses itself. The
// host is a random loopback address that no other process uses, so the port stays free.
func free(t *testing.T) string {
	t.Helper()
	var b [3]byte
	_, _ = rand.Read(b[:])
	host := netip.AddrFrom4([4]byte{127, b[0] | 1, b[1], b[2] | 1})
	l, err := net.ListenTCP("tcp4", net.TCPAddrFromAddrPort(netip.AddrPortFrom(host, 0)))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// edgetable runs the binary and returns its output. It fails the test unless the binary exits with this status.
func edgetable(t *testing.T, want int, args ...string) string {
	t.Helper()
	ctx, cancel := must.Patience(t)
	defer cancel()
	c := exec.CommandContext(ctx, binary(t), args...)
	c.Dir = t.TempDir()
	c.Env = append(os.Environ(), "XDG_CACHE_HOME="+c.Dir, "XDG_CONFIG_HOME="+c.Dir)
	out, err := c.CombinedOutput()
	if c.ProcessState == nil || c.ProcessState.ExitCode() != want {
		t.Fatalf("%.300q: %v, status %d is wanted\n%.3000s", args, err, want, out)
	}
	return string(out)
}

// connection returns a connection string for an account of a server.
func connection(url, account, key string) string {
	return fmt.Sprintf("AccountName=%s;AccountKey=%s;TableEndpoint=%s/%[1]s", account, key, url)
}
