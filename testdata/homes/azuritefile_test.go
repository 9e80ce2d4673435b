package homes

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"edgetable/testdata/proc"
)

// TestImportOfAzurite checks the import of Azurite's directory. While Azurite runs, edgetable must report that Azurite
// uses the address. When Azurite has stopped, edgetable imports the directory, and must then have the same entities.
func TestImportOfAzurite(t *testing.T) {
	key, dir, address := newKey(), t.TempDir(), free(t)
	host, port, _ := net.SplitHostPort(address)
	begin := func() *proc.Process {
		c := exec.Command(os.Getenv("EDGETABLE_AZURITE"), "--tableHost", host, "--tablePort", port, "--location", dir, "--silent", "--disableTelemetry")
		c.Env = append(os.Environ(), "AZURITE_ACCOUNTS="+own+":"+key)
		return proc.Start(t, "Azurite Table service successfully", c)
	}
	azurite := begin()
	from, here := connection("http://"+address, own, key), connection(serve(t, binary(t), own+":"+key), own, key)
	file := filepath.Join(t.TempDir(), "Orders.jsonl")
	text := orders(func(i int) string { return []string{"5", "12.5"}[i%2] }) +
		`{"PartitionKey":"9 ü'","RowKey":"","properties":"a","G@odata.type":"Edm.Guid","G":"c9da6455-213d-42c9-9a79-3e9149a57833","L@odata.type":"Edm.Int64","L":"-9223372036854775808",` +
		`"T@odata.type":"Edm.DateTime","T":"9999-12-31T23:59:59.9999999Z","B@odata.type":"Edm.Binary","B":"AAEC/w==","Y":true,"S":" \u202e\n<&> ","I@odata.type":"Edm.Double","I":"-Infinity"}` + "\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	edgetable(t, 0, "import", file, "--to", from)
	edgetable(t, 0, "tables", "create", "Empty", "--to", from)
	if out := edgetable(t, 1, "serve", "--memory", "--listen", address); !strings.Contains(out, "Azurite uses this address") {
		t.Error(out)
	}
	if err := azurite.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	azurite.Log.Await(t, "successfully closed")
	if out := edgetable(t, 0, "import", dir, "--to", here); !strings.Contains(out, "601 rows written") {
		t.Error(out)
	}
	begin()
	if out := edgetable(t, 0, "verify", "--all", "--from", from, "--to", here); !strings.Contains(out, "Orders: 601 entities are equal, 0 are not") || !strings.Contains(out, "Empty: 0") {
		t.Error(out)
	}
}
