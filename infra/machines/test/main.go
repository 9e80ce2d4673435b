// Command compose checks Docker Compose files with Compose's own parser and prints errors.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/compose-spec/compose-go/v2/cli"
)

func main() {
	log.SetFlags(0)
	for _, file := range os.Args[1:] {
		options, err := cli.NewProjectOptions([]string{file}, cli.WithWorkingDirectory(filepath.Dir(file)), cli.WithOsEnv)
		if err != nil {
			log.Fatal(err)
		}
		project, err := options.LoadProject(context.Background())
		if err != nil {
			log.Fatalf("%s: %v", file, err)
		}
		for name, service := range project.Services {
			for _, v := range service.Volumes {
				if v.Type != "bind" {
					continue
				}
				if _, err := os.Stat(v.Source); err != nil {
					log.Fatalf("%s: %s: %v", file, name, err)
				}
			}
		}
		fmt.Printf("%s: %d services\n", file, len(project.Services))
	}
}
