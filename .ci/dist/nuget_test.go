package main

import (
	"bytes"
	"encoding/xml"
	"image/png"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestNuGet checks that the packages for .NET contain what the SDK and a gallery require. The tool package names one
// package for each platform, and that package contains the program.
func TestNuGet(t *testing.T) {
	dist, programs := releaseFolders(t)
	read := func(id, kind string) (files map[string][]byte, settings toolSettings) {
		t.Helper()
		files = map[string][]byte{}
		for _, e := range unzip(t, readFile(t, filepath.Join(dist, id+".1.2.3.nupkg"))) {
			files[e.name] = e.text
			if strings.HasSuffix(e.name, "DotnetToolSettings.xml") {
				if err := xml.Unmarshal(e.text, &settings); err != nil {
					t.Fatal(err)
				}
			}
		}
		var about nuspec
		if err := xml.Unmarshal(files[id+".nuspec"], &about); err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		m := about.Metadata
		if m.ID != id || m.Version != version || m.License != (typed{"expression", "Apache-2.0"}) || len(m.Types) != 1 || m.Types[0].Name != kind || m.Tags == "" || m.Description == "" ||
			m.Repository == nil || m.Repository.Commit == "" || m.ProjectURL == "" {
			t.Errorf("%s: %+v", id, m)
		}
		for _, name := range []string{"[Content_Types].xml", "_rels/.rels", "LICENSE", m.Readme, m.Icon} {
			if len(files[name]) == 0 {
				t.Errorf("%s has no %s", id, name)
			}
		}
		if c, err := png.DecodeConfig(bytes.NewReader(files[m.Icon])); err != nil || c.Width != 128 || c.Height != 128 {
			t.Errorf("%s: the icon: %+v, %v", id, c, err)
		}
		for name := range files {
			if ext := strings.TrimPrefix(filepath.Ext(name), "."); name != "[Content_Types].xml" && !bytes.Contains(files["[Content_Types].xml"], []byte(`Extension="`+ext+`"`)) &&
				!bytes.Contains(files["[Content_Types].xml"], []byte(`PartName="/`+name+`"`)) {
				t.Errorf("%s has no type for %s", id, name)
			}
		}
		return files, settings
	}
	_, tool := read("edgetable", "DotnetTool")
	if tool.Version != 2 || tool.Command.Name != "edgetable" {
		t.Errorf("%+v", tool)
	}
	var named, want []string
	for _, p := range tool.Packages {
		named = append(named, p.RuntimeIdentifier)
		files, settings := read(p.ID, "DotnetToolRidPackage")
		program := files["tools/any/"+p.RuntimeIdentifier+"/"+settings.Command.EntryPoint]
		if settings.Command.Runner != "executable" || settings.Command.Name != "edgetable" || len(program) == 0 || len(files["THIRD-PARTY.txt"]) == 0 {
			t.Errorf("%s: %+v, and %d bytes of the program", p.ID, settings, len(program))
		}
		if p.RuntimeIdentifier == "linux-"+map[string]string{"amd64": "x64"}[runtime.GOARCH] && !bytes.Equal(program, readFile(t, programs+"/"+host+"/edgetable")) {
			t.Errorf("%s has another program than the archives", p.ID)
		}
	}
	for _, p := range platforms() {
		want = append(want, p.nuget)
	}
	if !slices.Equal(named, want) {
		t.Errorf("the tool names %q, want %q", named, want)
	}
}
