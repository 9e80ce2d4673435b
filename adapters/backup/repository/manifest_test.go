package repository

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"edgetable/adapters/backup/repository/internal/seal"
)

// TestManifestForged checks that a manifest that names files or objects outside of their folders is refused before
// any of these is read. The manifests have correct checksums, because an attacker can compute them.
func TestManifestForged(t *testing.T) {
	t.Parallel()
	good := strings.Repeat("0a", 32) + "-0123abcd"
	file := func(name string, objects ...string) File {
		f := File{Name: name, Size: int64(len(objects)) * partSize}
		for _, o := range objects {
			f.Parts = append(f.Parts, Part{Object: o, Size: partSize})
		}
		return f
	}
	many := make([]File, maxFiles+1)
	for i := range many {
		many[i] = file(fmt.Sprint(i))
	}
	for _, tt := range []struct {
		files []File
		says  string // part of the expected error; "" if the manifest is accepted
	}{
		{[]File{file("000001.sst", good), file("marker.format", good, good), file("LOCK")}, ""},
		{many[:maxFiles], ""},
		{many, "the manifest lists 100001 files"},
		{[]File{file("a"), file("a")}, "a occurs twice"},
		{[]File{{Name: "a", Size: 1<<63 - 1}}, "a number of parts that does not match"},
		{[]File{{Name: "a", Size: -1}}, "a number of parts that does not match"},
		{[]File{{Name: "a", Size: 1}}, "a number of parts that does not match"},
		{[]File{file("../a")}, "is not the name of a file"},
		{[]File{file("/etc/passwd")}, "is not the name of a file"},
		{[]File{file(`..\a`)}, "is not the name of a file"},
		{[]File{file("C:a")}, "is not the name of a file"},
		{[]File{file("a\x00")}, "is not the name of a file"},
		{[]File{file("a\nb")}, "is not the name of a file"},
		{[]File{file("..")}, "is not the name of a file"},
		{[]File{file("")}, "is not the name of a file"},
		{[]File{file(strings.Repeat("a", 256))}, "is not the name of a file"},
		{[]File{file("a", "../../ex1/manifest.json")}, "is not a valid object name"},
		{[]File{file("a", "/etc/passwd")}, "is not a valid object name"},
		{[]File{file("a", "")}, "is not a valid object name"},
		{[]File{file("a", good+"/x")}, "is not a valid object name"},
		{[]File{file("a", "../"+good[3:])}, "is not a valid object name"},
		{[]File{file("a", strings.ToUpper(good))}, "is not a valid object name"},
		{[]File{file("a", good[:len(good)-1]+"\x00")}, "is not a valid object name"},
		{[]File{file("a", strings.Replace(good, "0a", `\a`, 1))}, "is not a valid object name"},
	} {
		sealed, err := seal.Encode(&Manifest{ID: "id", EndedAt: time.Unix(1, 0), Files: tt.files})
		if err != nil {
			t.Fatal(err)
		}
		m, err := decode("id", sealed)
		if tt.says == "" && err != nil || tt.says != "" && (err == nil || m != nil || !strings.Contains(err.Error(), tt.says)) {
			t.Errorf("%.200q: %v, want %q", fmt.Sprint(tt.files), err, tt.says)
		}
	}
	if name := objectName([]byte("x"), newID(time.Unix(0, 0))); !isObjectName(name) {
		t.Errorf("%s is an object's own name", name)
	}
}

// FuzzManifest checks that an accepted manifest names no file or object outside of its folder.
func FuzzManifest(f *testing.F) {
	f.Add("000001.sst", strings.Repeat("0a", 32)+"-0123abcd", int64(1), uint8(1))
	f.Add("../x", "../../y", int64(0), uint8(0))
	f.Fuzz(func(t *testing.T, name, object string, size int64, parts uint8) {
		m := &Manifest{EndedAt: time.Unix(1, 0), Files: []File{{Name: name, Size: size, Parts: make([]Part, parts)}}}
		for i := range m.Files[0].Parts {
			m.Files[0].Parts[i].Object = object
		}
		if m.check() != nil {
			return
		}
		if strings.ContainsAny(name, "/\\\x00") || strings.Trim(name, ".") == "" && len(name) < 3 || parts > 0 && strings.ContainsAny(object, "./\\\x00") {
			t.Errorf("%q with %q was accepted", name, object)
		}
	})
}
