package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"edgetable/functions/edgetable/load"
	"edgetable/testdata/bench/suite"
)

const suiteHelp = `Measures edgetable (on disk and in memory), Azurite (in memory) and the ceilings side by side on this machine, checks
every performance target and prints a table. Each server is a child process on a free loopback port.

-short takes under six minutes, -full under thirty. Without -edgetable or -azurite that side is left out and its
targets count as not measured. The exit status is 1 if anything failed or if an account takes more than its share, and with -strict also if another target is missed.

Install Azurite with: npm install --prefix DIR azurite@3.37.0`

// runSuite runs the suite and writes the reports.
func runSuite(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	fs := newFlags("bench", suiteHelp, stderr)
	edgetable := fs.String("edgetable", "", "`path` of the edgetable binary")
	edgetableArgs := fs.String("edgetable-flags", "", "further `flags` of \"edgetable serve\", separated by blanks")
	azurite := fs.String("azurite", "", "`folder` where npm installed azurite, or the path of its table/main.js")
	short := fs.Bool("short", false, "a look: short cells, two rounds (default)")
	full := fs.Bool("full", false, "a verdict: long cells, three rounds, a minute of batches, 1 GB of data")
	ops := fs.String("ops", "", "only these `workloads` of the matrix, separated by commas")
	parts := fs.String("parts", "", "only these `parts`, separated by commas: matrix, costs, options, overload, fair, big")
	jsonOut := fs.String("json", "", "`file` for all numbers")
	markdown := fs.String("markdown", "", "`file` for the report")
	work := fs.String("work", filepath.Join(".cache", "bench"), "`folder` on the disk to measure; a new folder in it is used and removed")
	cache := fs.Int64("cache", 128, "edgetable's --cache-size in `MiB`, not counted against the memory target")
	strict := fs.Bool("strict", false, "fail if a target is missed or not measured")
	if err := parse(fs, args); err != nil {
		return err
	}
	if *short && *full {
		return misuse(fs, "-short and -full exclude each other")
	}
	if *cache < 1 {
		return misuse(fs, "-cache must be at least 1")
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cfg := suite.Config{Scale: suite.Short, Edgetable: *edgetable, EdgetableArgs: strings.Fields(*edgetableArgs), Azurite: *azurite,
		Self: self, Work: *work, CacheBytes: *cache << 20, Progress: stderr}
	scale := "short"
	if *full {
		cfg.Scale, scale = suite.Full, "full"
	}
	for op := range strings.SplitSeq(*ops, ",") {
		switch {
		case op == "":
		case !slices.Contains(load.Ops, load.Op(op)):
			return misuse(fs, "unknown workload %q in -ops; of %s", op, strings.Trim(fmt.Sprint(load.Ops), "[]"))
		default:
			cfg.Ops = append(cfg.Ops, load.Op(op))
		}
	}
	for part := range strings.SplitSeq(*parts, ",") {
		switch {
		case part == "":
		case !slices.Contains(suite.Parts, suite.Part(part)):
			return misuse(fs, "unknown part %q in -parts; of matrix, costs, options, overload, fair, big", part)
		default:
			cfg.Parts = append(cfg.Parts, suite.Part(part))
		}
	}
	for name, path := range map[string]*string{"edgetable": &cfg.Edgetable, "azurite": &cfg.Azurite, "work": &cfg.Work} {
		if *path == "" {
			continue
		}
		if _, err := os.Stat(*path); err != nil && path != &cfg.Work {
			return misuse(fs, "-%s: %v", name, err)
		}
		if *path, err = filepath.Abs(*path); err != nil {
			return err
		}
	}
	results, runErr := suite.Run(ctx, cfg)
	report := suite.NewReport(results, "go run ./testdata/bench "+strings.Join(args, " "), scale)
	err = errors.Join(runErr, report.Text(stdout), save(*jsonOut, report.JSON), save(*markdown, report.Markdown))
	if err == nil && len(results.Problems) > 0 {
		err = fmt.Errorf("%d problems; the first: %s", len(results.Problems), results.Problems[0])
	}
	if failed := report.Failed(); err == nil && failed > 0 {
		err = fmt.Errorf("%d targets missed that must be met", failed)
	}
	if missed, unmeasured := report.Missed(); err == nil && *strict && missed+unmeasured > 0 {
		err = fmt.Errorf("%d targets missed, %d not measured", missed, unmeasured)
	}
	return err
}

// save writes a report to a file, if a name is given.
func save(name string, write func(io.Writer) error) error {
	if name == "" {
		return nil
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
