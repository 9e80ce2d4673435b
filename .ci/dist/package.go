package main

import (
	"errors"
	"os"
	"path"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/apk"
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

func (r *release) packages() error {
	for _, t := range r.targets {
		if t.os != "linux" {
			continue
		}
		for _, format := range r.config.Nfpms[0].Formats {
			if err := r.pack(t, format); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *release) pack(t target, format string) error {
	c := r.config.Nfpms[0]
	contents := files.Contents{{
		Source: t.program, Destination: path.Join(c.Bindir, filepath.Base(t.program)),
		FileInfo: &files.ContentFileInfo{Mode: 0o755},
	}}
	for _, content := range c.Contents {
		if content.Packager == "" || content.Packager == format {
			own := *content // make a copy, because nfpm modifies its input
			info := *content.FileInfo
			own.FileInfo = &info
			contents = append(contents, &own)
		}
	}
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: c.PackageName, Arch: t.arch + t.arm, Platform: t.os, Version: r.Version, MTime: r.time,
		Section: c.Section, Maintainer: c.Maintainer, Description: c.Description, Vendor: c.Vendor, License: c.License,
		Overridables: nfpm.Overridables{Contents: contents, Scripts: c.Scripts, Deb: c.Deb, RPM: c.RPM, APK: c.APK},
	})
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return err
	}
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(r.out, packager.ConventionalFileName(info)))
	if err != nil {
		return err
	}
	return errors.Join(packager.Package(info, f), f.Close())
}
