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
	"time"
)

const usage = `edgetable is a table store that speaks the Azure Table Storage protocol.

Usage: edgetable COMMAND [flags]

  serve     serve tables from a data directory, from memory, or from DynamoDB
  sign      print a signed curl command for a request
  sas       print a shared access signature, and what it permits
  bench     measure a server
  backup    copy a data directory that no server uses
  dynamodb  make or purge a DynamoDB table
  table     change how a table is kept on DynamoDB
  version   print the version

'edgetable COMMAND -h' lists the flags of a command.
`

// program is one run of the command with everything it touches, so that tests
// start it as users do.
type program struct {
	args        []string
	environment func(string) string
	out, err    io.Writer
	command     string // whose flags were read, such as "table rebucket"
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	p := program{args: os.Args[1:], environment: os.Getenv, out: os.Stdout, err: os.Stderr}
	os.Exit(p.run(ctx))
}

// usageError says what is wrong with a command line.
type usageError string

func (e usageError) Error() string { return string(e) }

func misuse(format string, args ...any) error { return usageError(fmt.Sprintf(format, args...)) }

// run returns the exit status: 0, 1 for a failure, 2 for a wrong command line.
func (p *program) run(ctx context.Context) int {
	if len(p.args) == 0 {
		fmt.Fprint(p.err, usage)
		return 2
	}
	var err error
	name, args := p.args[0], p.args[1:]
	switch name {
	case "serve":
		err = p.serve(ctx, args)
	case "sign":
		err = p.sign(args)
	case "sas":
		err = p.sas(args)
	case "bench":
		err = p.bench(ctx, args)
	case "backup":
		err = p.backup(args)
	case "dynamodb":
		err = p.dynamodb(ctx, args)
	case "table":
		err = p.table(ctx, args)
	case "version", "-version", "--version":
		fmt.Fprintln(p.out, "edgetable", version())
	case "help", "-h", "-help", "--help":
		fmt.Fprint(p.out, usage)
	default:
		fmt.Fprintf(p.err, "edgetable: there is no command %q\n\n%s", name, usage)
		return 2
	}
	var wrong usageError
	has := "commands"
	if p.command != "" {
		name, has = p.command, "flags"
	}
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, &wrong):
		fmt.Fprintf(p.err, "edgetable %s: %s\n'edgetable %[1]s -h' lists the %[3]s\n", name, wrong, has)
		return 2
	}
	fmt.Fprintln(p.err, "edgetable:", err)
	return 1
}

// parse reads the flags and operands of a command. Asked for help it prints it
// and returns [flag.ErrHelp].
func (p *program) parse(f *flag.FlagSet, args []string, about string, operands ...string) error {
	p.command = f.Name()
	f.SetOutput(io.Discard)
	switch err := f.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(p.out, "Usage: edgetable %s\n\n%s\n\n", strings.Join(append([]string{f.Name(), "[flags]"}, operands...), " "), about)
		f.SetOutput(p.out)
		f.PrintDefaults()
		return err
	case err != nil:
		return misuse("%v%s", err, instead(f, err))
	case f.NArg() > len(operands):
		return misuse("%q is too much; flags stand in front", f.Arg(len(operands)))
	case f.NArg() < len(operands):
		return misuse("%s is missing", operands[f.NArg()])
	}
	return nil
}

// instead is what to write in place of a value of which the flag package says
// "parse error" and no more.
func instead(f *flag.FlagSet, err error) string {
	before, isValue := strings.CutSuffix(err.Error(), ": parse error")
	wrong := f.Lookup(before[strings.LastIndex(before, " -")+len(" -"):])
	if !isValue || wrong == nil {
		return ""
	}
	value, ok := wrong.Value.(flag.Getter)
	if !ok {
		return ""
	}
	switch value.Get().(type) {
	case time.Duration:
		return ": write a duration with its unit, such as 500ms, 10s or 15m"
	case int, int64:
		return ": write a whole number"
	case bool:
		return ": write nothing, true or false"
	}
	return ": write a number"
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
	return "development, " + info.GoVersion
}
