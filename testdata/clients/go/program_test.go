package clients_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// binaryVariable is the environment variable with the path of the program, for tests that start servers with certain
// flags. If the variable is not set, the tests build the program.
const binaryVariable = "EDGETABLE_BINARY"

var built struct {
	folder string // folder of the binary that the tests built; removed after the tests
	binary func() (string, error)
}

func init() {
	built.binary = sync.OnceValues(func() (string, error) {
		if given := os.Getenv(binaryVariable); given != "" {
			return given, nil
		}
		var err error
		if built.folder, err = os.MkdirTemp("", "clients"); err != nil {
			return "", err
		}
		binary := filepath.Join(built.folder, "edgetable")
		build := exec.Command("go", "build", "-o", binary, "./functions/edgetable")
		build.Dir, build.Stderr = filepath.Join("..", "..", ".."), os.Stderr
		return binary, build.Run()
	})
}

// started describes a running server over TLS that only one test uses.
type started struct {
	account
	client *http.Client // trusts the server's certificate
	server *exec.Cmd
}

// start starts the program with flags and waits until it accepts requests. The server stops when the test ends.
func start(t *testing.T, flags ...string) started {
	t.Helper()
	return startWith(t, newKey(t), append([]string{"--memory"}, flags...)...)
}

// newKey returns a key for an account.
func newKey(t *testing.T) string {
	t.Helper()
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(key)
}

// startWith is like start, but the caller chooses the account key, and the flags must say where the data is stored.
func startWith(t *testing.T, secret string, flags ...string) started {
	t.Helper()
	binary, err := built.binary()
	if err != nil {
		t.Fatal(err)
	}
	certificate, key, pool := newCertificate(t)
	flags = append([]string{"serve", "--listen", "127.0.0.1:0", "--tls-cert", certificate, "--tls-key", key}, flags...)
	server := exec.Command(binary, flags...)
	server.Env = append(os.Environ(), "EDGETABLE_ACCOUNTS=own:"+secret)
	server.Dir, server.Stderr = t.TempDir(), t.Output()
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(os.Interrupt)
		_ = server.Wait()
	})
	endpoint := ""
	for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != "ready"; {
		if name, value, _ := strings.Cut(strings.TrimSpace(lines.Text()), " "); name == "endpoint" {
			endpoint = strings.TrimSpace(value)
		}
	}
	if endpoint == "" {
		t.Fatalf("%s %s: no endpoint among its output", binary, strings.Join(flags, " "))
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: pool}
	t.Cleanup(transport.CloseIdleConnections)
	return started{
		account: parseAccount(t, "AccountName=own;AccountKey="+secret+";TableEndpoint="+endpoint),
		client:  &http.Client{Transport: transport}, server: server,
	}
}

// kill ends the server with SIGKILL.
func (s started) kill(t *testing.T) {
	t.Helper()
	if err := s.server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.server.Wait() // the error is ignored, because it only says that the process was killed
}

// options returns client options that trust the server's certificate.
func (s started) options(retry policy.RetryOptions) *aztables.ClientOptions {
	return &aztables.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: s.client, Retry: retry}}
}

// newCertificate writes a certificate for 127.0.0.1 and its key to files, and returns a pool that contains the
// certificate.
func newCertificate(t *testing.T) (certificate, key string, pool *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "edgetable"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	encoded, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	encodedKey, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(encoded)
	if err != nil {
		t.Fatal(err)
	}
	pool = x509.NewCertPool()
	pool.AddCert(parsed)
	folder := t.TempDir()
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("cert.pem", "CERTIFICATE", encoded), write("key.pem", "PRIVATE KEY", encodedKey), pool
}
