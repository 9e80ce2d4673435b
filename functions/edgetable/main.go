// Command edgetable is the table store as one binary: the server on the
// embedded store, and the tools around it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
)

const usage = `edgetable is a table store that speaks the Azure Table Storage protocol.

Usage: edgetable COMMAND [flags]

  serve    serve tables from a data directory, or from memory
  sign     print a signed curl command for a request
  backup   copy a data directory that no server uses
  version  print the version

'edgetable COMMAND -h' lists the flags of a command.
`

// program is one run of the command with everything it touches, so that tests
// start it as users do.
type program struct {
	args        []string
	environment func(string) string
	out, err    io.Writer
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	p := program{args: os.Args[1:], environment: os.Getenv, out: os.Stdout, err: os.Stderr}
	status := p.run(ctx)
	stop()
	os.Exit(status)
}

// errUsage: the message was printed already.
var errUsage = errors.New("usage")

// run returns the exit status: 0, 1 for a failure, 2 for a wrong command line.
func (p *program) run(ctx context.Context) int {
	if len(p.args) == 0 {
		fmt.Fprint(p.err, usage)
		return 2
	}
	var err error
	switch name, args := p.args[0], p.args[1:]; name {
	case "serve":
		err = p.serve(ctx, args)
	case "sign":
		err = p.sign(args)
	case "backup":
		err = p.backup(args)
	case "version", "-version", "--version":
		fmt.Fprintln(p.out, "edgetable", version())
	case "help", "-h", "-help", "--help":
		fmt.Fprint(p.out, usage)
	default:
		fmt.Fprintf(p.err, "edgetable: there is no command %q\n\n%s", name, usage)
		return 2
	}
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		return 2
	}
	fmt.Fprintln(p.err, "edgetable:", err)
	return 1
}

// parse reads the flags of a command and refuses anything left over.
func (p *program) parse(f *flag.FlagSet, args []string, operands int) error {
	f.SetOutput(p.err)
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return errUsage
	}
	if f.NArg() != operands {
		fmt.Fprintf(p.err, "edgetable %s takes %d operands, not %q\n", f.Name(), operands, f.Args())
		f.Usage()
		return errUsage
	}
	return nil
}

// version is what the build recorded: a module version, else the commit.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	if i := slices.IndexFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "vcs.revision" }); i >= 0 {
		return "commit " + info.Settings[i].Value[:min(12, len(info.Settings[i].Value))]
	}
	return "development " + strings.TrimPrefix(info.GoVersion, "go")
}
