// Command dist builds the files of a release in dist/: archives, packages, container images, manifests of package
// managers, SBOMs and checksums.
//
// .goreleaser.yaml defines the files, so GoReleaser builds the same files. dist needs only Go. The same commit always
// results in the same bytes.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	log.SetFlags(0)
	root := flag.String("root", "../..", "`directory` of the repository")
	given := flag.String("release", "", "`version,commit,unix-time` of the release, instead of git's")
	only := flag.String("only", "", "make the files of these `targets` of .goreleaser.yaml alone, such as linux/amd64,darwin/arm64")
	url := flag.String("url", "", "`URL` of the directory where the files of the release will be, for Homebrew, Scoop and winget")
	source := flag.String("source", "", "`URL` of the repository, for the labels of the image and for NuGet")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: dist [flags] [share] [image]; without a word everything is made")
		flag.PrintDefaults()
	}
	flag.Parse()
	if err := os.Chdir(*root); err != nil {
		log.Fatal(err)
	}
	if err := run(*given, *only, strings.TrimSuffix(*url, "/"), *source, flag.Args()); err != nil {
		log.Fatal("dist: ", err)
	}
}

func run(given, only, url, source string, parts []string) error {
	r, err := newRelease(given)
	if err != nil {
		return err
	}
	r.url, r.source = url, source
	if err := r.config.read(".goreleaser.yaml"); err != nil {
		return err
	}
	if err := r.build(only); err != nil {
		return err
	}
	wanted := func(part string) bool { return len(parts) == 0 || slices.Contains(parts, part) }
	if wanted("share") {
		if err := r.step("manual pages, completions, licenses", r.share); err != nil {
			return err
		}
	}
	if wanted("image") {
		if err := r.image("bin/image"); err != nil {
			return err
		}
	}
	if len(parts) > 0 {
		return nil
	}
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	for _, kind := range []struct {
		name string
		make func() error
	}{
		{"archives", r.archives}, {".deb, .rpm, .apk", r.packages}, {"npm packages", r.npm}, {"wheels", r.wheels}, {"NuGet packages", r.nuget},
		{"SBOMs", r.boms}, {"image", r.images}, {"manifests", r.manifests}, {"checksums", r.sums},
	} {
		if err := r.step(kind.name, kind.make); err != nil {
			return err
		}
	}
	return r.list(os.Stdout)
}

// step runs a step of the build and prints its name and duration, because a build takes minutes.
func (r *release) step(name string, do func() error) error {
	start := time.Now()
	fmt.Fprintf(os.Stderr, "%-40s", name)
	err := do()
	fmt.Fprintf(os.Stderr, "%6.1f s\n", time.Since(start).Seconds())
	return err
}

func (r *release) list(w *os.File) error {
	names, err := filepath.Glob(r.out + "/*")
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%8.1f MB  %s\n", float64(info.Size())/1e6, name)
	}
	return err
}
