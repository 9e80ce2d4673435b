package main

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
)

const nugetSource = "infra/packages/nuget"

// nuget writes the NuGet packages: one with the program for each platform, and the .NET tool edgetable, which refers to
// these. The .NET SDK 10 or later then installs the package of the user's platform.
func (r *release) nuget() error {
	named := toolSettings{Version: 2, Command: toolCommand{Name: r.config.ProjectName}}
	for _, t := range r.targets {
		rid := t.dotnet()
		id := r.config.ProjectName + "." + rid
		named.Packages = append(named.Packages, toolPackage{RuntimeIdentifier: rid, ID: id})
		program := filepath.Base(t.program)
		settings, err := marked(toolSettings{Version: 2, Command: toolCommand{Name: r.config.ProjectName, EntryPoint: program, Runner: "executable"}})
		if err != nil {
			return err
		}
		text, err := os.ReadFile(t.program)
		if err != nil {
			return err
		}
		third, err := os.ReadFile("bin/share/THIRD-PARTY.txt")
		if err != nil {
			return err
		}
		folder := "tools/any/" + rid + "/"
		if err := r.nugetPackage(id, "DotnetToolRidPackage", map[string][]byte{folder + "DotnetToolSettings.xml": settings, folder + program: text, "THIRD-PARTY.txt": third}); err != nil {
			return err
		}
	}
	settings, err := marked(named)
	if err != nil {
		return err
	}
	return r.nugetPackage(r.config.ProjectName, "DotnetTool", map[string][]byte{"tools/any/any/DotnetToolSettings.xml": settings})
}

// toolSettings is the content of DotnetToolSettings.xml.
type toolSettings struct {
	XMLName  xml.Name      `xml:"DotNetCliTool"`
	Version  int           `xml:"Version,attr"`
	Command  toolCommand   `xml:"Commands>Command"`
	Packages []toolPackage `xml:"RuntimeIdentifierPackages>RuntimeIdentifierPackage,omitempty"`
}

type toolCommand struct {
	Name       string `xml:"Name,attr"`
	EntryPoint string `xml:"EntryPoint,attr,omitempty"`
	Runner     string `xml:"Runner,attr,omitempty"`
}

type toolPackage struct {
	RuntimeIdentifier string `xml:"RuntimeIdentifier,attr"`
	ID                string `xml:"Id,attr"`
}

// dotnet returns the name that .NET uses for the platform. The package for linux-x64 also works with musl: the program
// is static, and .NET installs linux-x64 packages there.
func (t target) dotnet() string {
	os := map[string]string{"darwin": "osx", "windows": "win", "linux": "linux"}[t.os]
	if t.arch == "amd64" {
		return os + "-x64"
	}
	return os + "-" + t.arch
}

// nuspec is the metadata file of a NuGet package, which galleries show.
type nuspec struct {
	XMLName  xml.Name `xml:"http://schemas.microsoft.com/packaging/2013/05/nuspec.xsd package"`
	Metadata struct {
		ID          string `xml:"id"`
		Version     string `xml:"version"`
		Authors     string `xml:"authors"`
		License     typed  `xml:"license"`
		Icon        string `xml:"icon"`
		Readme      string `xml:"readme"`
		ProjectURL  string `xml:"projectUrl,omitempty"`
		Description string `xml:"description"`
		Tags        string `xml:"tags"`
		Types       []struct {
			Name string `xml:"name,attr"`
		} `xml:"packageTypes>packageType"`
		Repository *repository `xml:"repository,omitempty"`
	} `xml:"metadata"`
}

type typed struct {
	Type string `xml:"type,attr"`
	Text string `xml:",chardata"`
}

type repository struct {
	Type   string `xml:"type,attr"`
	URL    string `xml:"url,attr"`
	Commit string `xml:"commit,attr"`
}

// Files that "dotnet pack" adds to a package: the media types, and the location of the description.
const (
	contentTypes = xml.Header + `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml" />` +
		`<Default Extension="nuspec" ContentType="application/octet" /><Default Extension="xml" ContentType="application/octet" /><Default Extension="md" ContentType="application/octet" />` +
		`<Default Extension="txt" ContentType="application/octet" /><Default Extension="png" ContentType="application/octet" /><Default Extension="exe" ContentType="application/octet" />` +
		`<Override PartName="/LICENSE" ContentType="application/octet" />`
	relations = xml.Header + `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Type="http://schemas.microsoft.com/packaging/2010/07/manifest" Target="/`
)

// nugetPackage writes a package with the given files and the files common to all packages.
func (r *release) nugetPackage(id, kind string, files map[string][]byte) error {
	var about nuspec
	m := &about.Metadata
	m.ID, m.Version, m.Authors, m.Description = id, r.Version, "The edgetable authors", summary
	m.License, m.Icon, m.Readme = typed{"expression", "Apache-2.0"}, "icon.png", "README.md"
	m.Tags = "azure-table-storage azure-tables table-storage emulator azurite database testing dotnet-tool"
	m.Types = append(m.Types, struct {
		Name string `xml:"name,attr"`
	}{kind})
	if r.source != "" {
		m.ProjectURL, m.Repository = r.source, &repository{"git", r.source, r.FullCommit}
	}
	text, err := marked(about)
	if err != nil {
		return err
	}
	files[id+".nuspec"] = text
	files["_rels/.rels"] = []byte(relations + id + `.nuspec" Id="R1" /></Relationships>`)
	types := contentTypes
	for name := range files {
		if filepath.Ext(name) == "" {
			types += `<Override PartName="/` + name + `" ContentType="application/octet" />`
		}
	}
	files["[Content_Types].xml"] = []byte(types + "</Types>")
	for name, from := range map[string]string{"LICENSE": "LICENSE", "README.md": nugetSource + "/README.md"} {
		if files[name], err = os.ReadFile(from); err != nil {
			return err
		}
	}
	if files["icon.png"], err = icon(); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(r.out, id+"."+r.Version+".nupkg"))
	if err != nil {
		return err
	}
	w := zip.NewWriter(f)
	add := r.zipped(w)
	for _, name := range sorted(files) {
		err = errors.Join(err, add(name, modeOf(name), files[name]))
	}
	return errors.Join(err, w.Close(), f.Close())
}

func marked(v any) ([]byte, error) {
	text, err := xml.MarshalIndent(v, "", "  ")
	return append([]byte(xml.Header), append(text, '\n')...), err
}

// icon returns the package icon, which a gallery requires, as a PNG. It shows a table with a folded corner, like the
// explorer's icon.
func icon() ([]byte, error) {
	const side, unit = 128, 4
	white, ground, corner := color.RGBA{0xff, 0xff, 0xff, 0xff}, color.RGBA{0x57, 0x53, 0xc6, 0xff}, color.RGBA{0xff, 0xc9, 0x4d, 0xff}
	pale := color.RGBA{0xd0, 0xcf, 0xef, 0xff}
	m := image.NewRGBA(image.Rect(0, 0, side, side))
	for y := range side {
		for x := range side {
			c := ground
			switch u, v := float64(x)/unit, float64(y)/unit; {
			case u < 7 || u >= 25 || v < 7 || v >= 25: // the point is outside the sheet
			case u+v > 44: // the point is below the folded corner
				c = corner
			case u+v > 41.1:
			case v < 11.5:
				c = white
			case v < 13.5 || v >= 18.5 && v < 20.5 || u >= 13 && u < 15: // the point is between cells
			case u < 13:
				c = pale
			default:
				c = white
			}
			m.SetRGBA(x, y, c)
		}
	}
	var b bytes.Buffer
	err := png.Encode(&b, m)
	return b.Bytes(), err
}
