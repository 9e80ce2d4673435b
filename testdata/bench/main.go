// Command bench compares edgetable with Azurite and with the ceilings, which are servers that do as little as possible.
// It checks all performance targets:
//
//	go run ./testdata/bench -edgetable bin/edgetable      the suite; -h lists the flags
//	go run ./testdata/bench ceiling -kind null            a server that does the least a signed request can cost
//	go run ./testdata/bench attack -kind scans            a client whose requests cost a server much
//	go run ./testdata/bench start                         time from the start of a server in memory to its first response
//
// The load comes from the package of "edgetable bench": a separate process sends real HTTP requests with real
// signatures and entities of 1 KiB.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// errUsage means that the command line is wrong, and that the explanation was already printed.
var errUsage = errors.New("usage")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(dispatch(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// dispatch runs the command and returns the exit status: 0, 1 for a failure, 2 for a wrong command line.
func dispatch(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	run := runSuite
	if len(args) > 0 {
		switch args[0] {
		case "ceiling":
			run, args = runCeiling, args[1:]
		case "attack":
			run, args = runAttack, args[1:]
		case "start":
			run, args = runStart, args[1:]
		}
	}
	err := run(ctx, args, stdout, stderr)
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		return 2
	}
	fmt.Fprintf(stderr, "bench: %v\n", err)
	return 1
}

// newFlags returns a flag set whose help begins with text.
func newFlags(name, text string, stderr io.Writer) *flag.FlagSet {
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Usage = func() {
		fmt.Fprintf(stderr, "%s\n\nUsage: %s [flags]\n\n", text, name)
		fs.PrintDefaults()
	}
	return fs
}

// parse parses the flags and refuses arguments after them.
func parse(fs *flag.FlagSet, args []string) error {
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return errUsage // an error was already printed by the flag package
	}
	if fs.NArg() > 0 {
		return misuse(fs, "unexpected argument %q", fs.Arg(0))
	}
	return nil
}

// misuse prints one line that says what is wrong with the command line and how to get help.
func misuse(fs *flag.FlagSet, format string, args ...any) error {
	fmt.Fprintf(fs.Output(), "%s: %s\nRun \"%s -h\" for the flags.\n", fs.Name(), fmt.Sprintf(format, args...), fs.Name())
	return errUsage
}
