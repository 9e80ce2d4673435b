package core_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// testOnly lists core packages that only tests import. They may use the operating system.
var testOnly = []string{"edgetable/core/storetest", "edgetable/core/wiretest", "edgetable/core/wiretest/scene"}

// allowed has one list for each core package: the other packages of the project that the core package may import.
var allowed = map[string][]string{
	"edgetable/core":              {},
	"edgetable/core/edm":          {},
	"edgetable/core/key":          {},
	"edgetable/core/percent":      {},
	"edgetable/core/httpdate":     {},
	"edgetable/core/sharedkey":    {"httpdate", "percent"},
	"edgetable/core/address":      {"key", "percent", "table"},
	"edgetable/core/negotiate":    {"payload", "table", "version"},
	"edgetable/core/multipart":    {},
	"edgetable/core/odata":        {"edm", "key"},
	"edgetable/core/table":        {"edm", "key", "odata", "traffic"},
	"edgetable/core/xml":          {},
	"edgetable/core/traffic":      {"edm", "key"},
	"edgetable/core/throttle":     {"edm"},
	"edgetable/core/fair":         {},
	"edgetable/core/sas":          {"edm", "key", "percent", "sharedkey", "table", "version"},
	"edgetable/core/settings":     {"edm", "httpdate", "multipart", "sas", "table", "xml"},
	"edgetable/core/payload":      {"edm", "key", "percent", "table", "traffic", "xml"},
	"edgetable/core/objects":      {},
	"edgetable/core/commitlog":    {"edm"},
	"edgetable/core/accounts":     {"protocol", "sharedkey"},
	"edgetable/core/buckets":      {"key", "odata", "table"},
	"edgetable/core/version":      {},
	"edgetable/core/continuation": {"key", "multipart", "table"},
	"edgetable/core/firewall":     {},
	"edgetable/core/changefeed":   {"edm", "key", "multipart", "payload", "percent", "table"},
	"edgetable/core/protocol":     {"address", "changefeed", "firewall", "continuation", "edm", "httpdate", "key", "sharedkey", "multipart", "negotiate", "odata", "percent", "table", "payload", "sas", "settings", "throttle", "version", "xml"},
}

// TestCoreImports checks that core packages import neither the operating system, nor the network, nor an adapter. (An
// adapter is a package below the folder adapters.) A forbidden import would also break the wasm build. But this build
// takes much longer than the test, so the test finds the import sooner.
func TestCoreImports(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(goList(t, "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "./...")) {
		f := strings.Fields(line)
		if slices.Contains(testOnly, f[0]) {
			continue
		}
		own, known := allowed[f[0]]
		if !known {
			t.Errorf("%s is new: say in this test what it may import", f[0])
		}
		for _, imported := range f[1:] {
			switch imported {
			case "os", "net", "net/http", "os/exec", "log", "io/ioutil":
				t.Errorf("%s imports %s", f[0], imported)
			}
			if name, ok := strings.CutPrefix(imported, "edgetable/"); ok {
				if part, inCore := strings.CutPrefix(name, "core/"); !inCore || !slices.Contains(own, part) {
					t.Errorf("%s imports %s, which points outward", f[0], imported)
				}
			} else if strings.Contains(strings.SplitN(imported, "/", 2)[0], ".") {
				t.Errorf("%s imports %s: core has no dependencies", f[0], imported)
			}
		}
	}
}

// TestCoreReaches checks the packages on which core depends, directly or indirectly. None of these packages may use
// the network or start a process.
func TestCoreReaches(t *testing.T) {
	t.Parallel()
	packages := slices.DeleteFunc(strings.Fields(goList(t, "./...")), func(p string) bool { return slices.Contains(testOnly, p) })
	reached := strings.Fields(goList(t, append([]string{"-deps"}, packages...)...))
	for _, banned := range []string{"net", "net/http", "os/exec", "mime/multipart", "net/textproto"} {
		if slices.Contains(reached, banned) {
			t.Errorf("core reaches %s", banned)
		}
	}
	if !slices.Contains(reached, "crypto/hmac") {
		t.Error("the list is not what core depends on: a known dependency is missing")
	}
}

// functionImports has a key for each package in the folder "functions". The value lists the other packages in this
// folder that the package may import.
var functionImports = map[string][]string{
	"lambda":                           {},
	"explorer":                         {},
	"edgetable/advise":                 {},
	"edgetable/load":                   {"edgetable/load/hist", "edgetable/load/wire"},
	"edgetable/load/hist":              {},
	"edgetable/load/wire":              {},
	"edgetable/transfer":               {"edgetable/transfer/progressfile", "edgetable/transfer/ranges", "edgetable/transfer/rows", "edgetable/transfer/csvfile", "edgetable/transfer/parquetfile", "edgetable/transfer/azuritefile", "edgetable/transfer/scan", "edgetable/transfer/export", "edgetable/transfer/sorter", "edgetable/transfer/internal/size"},
	"edgetable/transfer/printer":       {"edgetable/wide", "edgetable/transfer/rows", "edgetable/transfer/csvfile"},
	"edgetable/transfer/export":        {"edgetable/transfer/progressfile", "edgetable/transfer/ranges", "edgetable/transfer/rows", "edgetable/transfer/csvfile", "edgetable/transfer/parquetfile", "edgetable/transfer/printer", "edgetable/transfer/scan", "edgetable/transfer/internal/size"},
	"edgetable/transfer/progressfile":  {"edgetable/transfer/ranges"},
	"edgetable/transfer/internal/size": {},
	"edgetable/transfer/mirror":        {"edgetable/transfer", "edgetable/transfer/progressfile", "edgetable/transfer/ranges", "edgetable/transfer/rows"},
	"edgetable/transfer/scan":          {"edgetable/transfer/progressfile", "edgetable/transfer/ranges", "edgetable/transfer/internal/size"},
	"edgetable/transfer/ranges":        {},
	"edgetable/transfer/rows":          {"edgetable/transfer/ranges"},
	"edgetable/transfer/sorter":        {"edgetable/transfer/rows"},
	"edgetable/transfer/csvfile":       {"edgetable/transfer/rows"},
	"edgetable/transfer/parquetfile":   {"edgetable/transfer/rows"},
	"edgetable/transfer/azuritefile":   {"edgetable/transfer/rows"},
	"edgetable/wide":                   {},
	"edgetable/descriptors":            {},
	"edgetable/machine":                {},
	"edgetable/azurite":                {"edgetable/cli"},
	"edgetable/reload":                 {"edgetable/descriptors"},
	"edgetable/bounded":                {},
	"edgetable/optionsdoc":             {},
	"edgetable/shell":                  {},
	"edgetable/cli":                    {"edgetable/wide", "edgetable/descriptors"},
	"edgetable/place":                  {"edgetable/cli"},
	"edgetable/admin":                  {"edgetable/cli"},
	"edgetable/stores":                 {"edgetable/cli", "edgetable/descriptors", "edgetable/place"},
	"edgetable/account":                {"edgetable/cli", "edgetable/reload", "edgetable/admin"},
	"edgetable/profiles":               {"edgetable/cli"},
	"edgetable/pace":                   {"edgetable/cli", "edgetable/transfer/scan"},
	"edgetable/bench":                  {"edgetable/cli", "edgetable/account", "edgetable/load", "edgetable/load/hist", "edgetable/load/wire"},
	"edgetable/client":                 {"edgetable/cli", "edgetable/profiles", "edgetable/pace", "edgetable/place", "edgetable/transfer", "edgetable/transfer/progressfile", "edgetable/transfer/ranges", "edgetable/transfer/rows", "edgetable/transfer/scan", "edgetable/transfer/export", "edgetable/transfer/mirror", "edgetable/transfer/printer"},
	"edgetable/tables":                 {"edgetable/cli", "edgetable/client", "edgetable/optionsdoc"},
	"edgetable/watch":                  {"edgetable/cli", "edgetable/client", "edgetable/shell", "edgetable/transfer/mirror"},
	"edgetable/edge":                   {"edgetable/cli", "edgetable/client"},
	"edgetable/trafficreport":          {"edgetable/cli", "edgetable/client", "edgetable/pace", "edgetable/admin", "edgetable/advise", "edgetable/transfer/rows", "edgetable/transfer/scan"},
	"edgetable/localexplorer":          {"edgetable/cli", "edgetable/client", "edgetable/profiles", "edgetable/bounded", "edgetable/admin", "edgetable/account", "edgetable/advise", "edgetable/trafficreport", "edgetable/transfer/scan", "explorer"},
	"edgetable/backup":                 {"edgetable/cli", "edgetable/place", "edgetable/admin", "edgetable/account", "edgetable/stores", "edgetable/client"},
	"edgetable/secondary":              {"edgetable/cli", "edgetable/place", "edgetable/admin", "edgetable/stores"},
	"edgetable/server":                 {"edgetable/secondary", "edgetable/bounded", "edgetable/machine", "edgetable/azurite", "edgetable/cli", "edgetable/advise", "edgetable/descriptors", "edgetable/admin", "edgetable/account", "edgetable/reload", "edgetable/stores", "edgetable/backup", "explorer"},
	"edgetable":                        {"edgetable/azurite", "edgetable/secondary", "edgetable/cli", "edgetable/reload", "edgetable/account", "edgetable/stores", "edgetable/client", "edgetable/tables", "edgetable/watch", "edgetable/edge", "edgetable/trafficreport", "edgetable/localexplorer", "edgetable/bench", "edgetable/backup", "edgetable/server"},
}

// standsOn has a key for each adapter that may import other adapters. The value lists these other adapters. The decision
// docs/adr/0047 says why replication may do so. An adapter on which another one stands must not have a key itself, so that no
// chain of adapters can grow.
var standsOn = map[string][]string{
	"replicate/ship":   {"backup/repository"},
	"replicate/follow": {"backup/repository", "objects/directory"},
}

// TestLayers checks three rules. An adapter (a package below the folder adapters) imports another adapter only if the map
// standsOn allows it, and it imports no package below the folder functions. A package below the folder functions imports another package of this folder only
// if the map functionImports allows it. No package of the product imports testdata.
func TestLayers(t *testing.T) {
	t.Parallel()
	stands := map[string][]string{} // the entries of standsOn that the code uses
	for line := range strings.Lines(goList(t, "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "edgetable/...")) {
		f := strings.Fields(line)
		own, room := strings.CutPrefix(f[0], "edgetable/functions/")
		if _, known := functionImports[own]; room && !known {
			t.Errorf("%s is new: say in this test what it may import", f[0])
		}
		for _, imported := range f[1:] {
			if name, ok := strings.CutPrefix(imported, "edgetable/functions/"); ok && !(room && slices.Contains(functionImports[own], name)) {
				t.Errorf("%s imports %s: data goes from the room that is asked to the one that asks", f[0], imported)
			}
			if strings.Contains(imported, "/testdata/") && !slices.Contains(testOnly, f[0]) {
				t.Errorf("%s imports %s, which is for tests", f[0], imported)
			}
			adapter, other := adapterOf(f[0]), adapterOf(imported)
			switch {
			case adapter == "" || other == "" || other == adapter:
			case slices.Contains(standsOn[adapter], other) && standsOn[other] == nil:
				stands[adapter] = append(stands[adapter], other)
			default:
				t.Errorf("%s imports %s: adapters do not know each other", f[0], imported)
			}
		}
	}
	for adapter, others := range standsOn {
		for _, other := range others {
			if !slices.Contains(stands[adapter], other) {
				t.Errorf("%s does not import %s: remove it from the map standsOn", adapter, other)
			}
		}
	}
}

// adapterOf returns the name of the adapter that contains the package, such as "store/postgres". An adapter is a folder
// below adapters. If no adapter contains the package, adapterOf returns "".
func adapterOf(path string) string {
	name, ok := strings.CutPrefix(path, "edgetable/adapters/")
	if !ok {
		return ""
	}
	group, rest, _ := strings.Cut(name, "/")
	name, _, _ = strings.Cut(rest, "/")
	return group + "/" + name
}

// goList runs go list. It first calls Stat for all source files, so that go test does not reuse a cached result after
// a source file has changed.
func goList(t *testing.T, args ...string) string {
	t.Helper()
	for _, dir := range []string{".", "../adapters", "../functions", "../wasm"} {
		if err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".go") {
				_, err = os.Stat(path)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command("go", append([]string{"list"}, args...)...).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	return string(out)
}
