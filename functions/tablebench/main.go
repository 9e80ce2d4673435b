// Command tablebench measures servers that speak the Azure Table protocol.
//
// The client is a process of its own that sends real HTTP requests with real signatures and entities of 1 KiB. Three
// subcommands:
//
//	tablebench load     one workload against a running server: a deployment of yours, an emulator, edgetable
//	tablebench ceiling  a server that does the least a signed request can cost: what load is divided by
//	tablebench suite    edgetable, Azurite and the ceilings side by side, with every target checked
//
// "tablebench COMMAND -h" lists the flags.
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

// command is one subcommand. run gets the arguments after its name; flag.ErrHelp means help was printed.
type command struct {
	name, summary string
	run           func(ctx context.Context, args []string, stdout, stderr io.Writer) error
}

var commands = []command{
	{"load", "run one workload against a running server", runLoad},
	{"ceiling", "serve the least that a signed request can cost", runCeiling},
	{"suite", "measure edgetable against Azurite and the ceilings", runSuite},
}

// errUsage marks a mistake in the arguments, which has been explained already.
var errUsage = errors.New("usage")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(dispatch(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// dispatch returns the exit code: 0 done, 1 failed, 2 wrong arguments.
func dispatch(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		usage(stderr)
		return 2
	}
	for _, c := range commands {
		if c.name != args[0] {
			continue
		}
		err := c.run(ctx, args[1:], stdout, stderr)
		switch {
		case err == nil || errors.Is(err, flag.ErrHelp):
			return 0
		case errors.Is(err, errUsage):
			return 2
		}
		fmt.Fprintf(stderr, "tablebench %s: %v\n", c.name, err)
		return 1
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		usage(stdout)
		return 0
	}
	fmt.Fprintf(stderr, "tablebench: unknown command %q\n\n", args[0])
	usage(stderr)
	return 2
}

func usage(w io.Writer) {
	fmt.Fprint(w, "tablebench measures servers that speak the Azure Table protocol.\n\nUsage: tablebench COMMAND [flags]\n\n")
	for _, c := range commands {
		fmt.Fprintf(w, "  %-9s%s\n", c.name, c.summary)
	}
	fmt.Fprint(w, "\n\"tablebench COMMAND -h\" lists the flags of a command.\n")
}

// newFlags makes a flag set whose help begins with text.
func newFlags(name, text string, stderr io.Writer) *flag.FlagSet {
	fs := flag.NewFlagSet("tablebench "+name, flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Usage = func() {
		fmt.Fprintf(stderr, "%s\n\nUsage: tablebench %s [flags]\n\n", text, name)
		fs.PrintDefaults()
	}
	return fs
}

// parse reads the flags and refuses leftover words.
func parse(fs *flag.FlagSet, args []string) error {
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return errUsage // the flag package has explained it
	}
	if fs.NArg() > 0 {
		return misuse(fs, "unexpected argument %q", fs.Arg(0))
	}
	return nil
}

// misuse explains a wrong flag value in one line and points to the help.
func misuse(fs *flag.FlagSet, format string, args ...any) error {
	fmt.Fprintf(fs.Output(), "%s: %s\nRun \"%s -h\" for the flags.\n", fs.Name(), fmt.Sprintf(format, args...), fs.Name())
	return errUsage
}
