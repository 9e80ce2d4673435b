// Command build bundles the page of the explorer with esbuild:
//
//	go run -C functions/explorer/build .             # writes ../dist
//	go run -C functions/explorer/build . -out DIR    # writes DIR
//	go run -C functions/explorer/build . -tests DIR  # bundles the tests of the page for Node.js
//	go run -C functions/explorer/build . -gallery -out DIR  # bundles the page with all components instead
//
// It is a separate module, so esbuild is not a dependency of edgetable. The libraries of the page must be installed,
// see ../page/install.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// page is the directory of the sources, relative to this command.
const page = "../page"

// bundled contains the names of the libraries in app.js. Their licenses require a notice in the bundle.
var bundled = []string{"preact", "@tanstack/virtual-core", "lucide"}

func main() {
	out := flag.String("out", "../dist", "folder for the files of the page")
	tests := flag.String("tests", "", "bundle the tests of the explorer page, instead of the page itself, in this folder")
	gallery := flag.Bool("gallery", false, "bundle a page that shows every component of the explorer")
	flag.Parse()
	source := "/src/main.tsx"
	if *gallery {
		source = "/test/gallery.tsx"
	}
	if err := run(*out, *tests, source); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

func run(out, tests, source string) error {
	if tests != "" {
		return bundleTests(tests)
	}
	notices, err := notices()
	if err != nil {
		return err
	}
	if err := bundle(api.BuildOptions{
		EntryPointsAdvanced: []api.EntryPoint{
			{InputPath: page + source, OutputPath: "app"},
			{InputPath: page + "/src/style/app.css", OutputPath: "app"},
		},
		Outdir:            out,
		External:          []string{"*.svg"},
		Banner:            map[string]string{"js": notices},
		MinifySyntax:      true,
		MinifyWhitespace:  true,
		MinifyIdentifiers: true,
		Target:            api.ES2022,
		LegalComments:     api.LegalCommentsInline,
	}); err != nil {
		return err
	}
	for _, name := range []string{"index.html", "icon.svg"} {
		text, err := os.ReadFile(filepath.Join(page, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(out, name), text, 0o644); err != nil {
			return err
		}
	}
	// The page requests a session from its server. On a plain file server, this file is the response. Without it, the
	// browser's console would show an error.
	return os.WriteFile(filepath.Join(out, "session"), []byte("{}\n"), 0o644)
}

// bundleTests bundles each test into a JavaScript file, because Node.js cannot run the tests' TypeScript.
func bundleTests(out string) error {
	files, err := filepath.Glob(page + "/test/*.test.ts")
	if err != nil {
		return err
	}
	return bundle(api.BuildOptions{
		EntryPoints:  files,
		Outdir:       out,
		OutExtension: map[string]string{".js": ".mjs"},
		Platform:     api.PlatformNode,
		Sourcemap:    api.SourceMapInline,
	})
}

func bundle(options api.BuildOptions) error {
	options.Bundle = true
	options.Write = true
	options.Format = api.FormatESModule
	options.JSX = api.JSXAutomatic
	options.JSXImportSource = "preact"
	options.Charset = api.CharsetUTF8
	options.LogLevel = api.LogLevelWarning
	result := api.Build(options)
	if n := len(result.Errors); n > 0 {
		return fmt.Errorf("%d errors", n)
	}
	return nil
}

// notices returns a JavaScript comment with the licenses of the bundled libraries.
func notices() (string, error) {
	var b strings.Builder
	b.WriteString("/*!\nThis file contains:\n")
	for _, name := range bundled {
		text, err := os.ReadFile(filepath.Join(page, "node_modules", name, "LICENSE"))
		if err != nil {
			return "", fmt.Errorf("%w; run functions/explorer/page/install", err)
		}
		fmt.Fprintf(&b, "\n%s\n\n%s\n", name, strings.TrimSpace(string(text)))
	}
	b.WriteString("*/")
	return b.String(), nil
}
