// Command edgetable is the table store as one binary: the server on the
// embedded store, and the tools around it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"

	"edgetable/functions/edgetable/transfer"
)

// program is one run of the command with everything it touches, so that tests
// start it as users do.
type program struct {
	args        []string
	environment func(string) string
	in          io.Reader
	out, err    io.Writer
	hangups     func() <-chan os.Signal // by which a server is asked to read its files again
	understood  bool                    // the command line: what fails now is the command
	alone       bool                    // in the process
	events      bool                    // a command for data tells on p.err what happens, in JSON
	totals      *transfer.Totals        // of that command
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	p := program{args: os.Args[1:], environment: os.Getenv, in: os.Stdin, out: os.Stdout, err: os.Stderr, hangups: hangups, alone: true}
	os.Exit(p.run(ctx))
}

// hangups returns SIGHUP.
func hangups() <-chan os.Signal {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	return c
}

// usageError is a mistake in the command line.
type usageError string

func (e usageError) Error() string { return string(e) }

// failure is an error with another exit status than 1.
type failure struct {
	status int
	error
}

func (f failure) Unwrap() error { return f.error }

func misuse(format string, args ...any) error { return usageError(fmt.Sprintf(format, args...)) }

// run returns the exit status.
func (p *program) run(ctx context.Context) int {
	root := p.root()
	root.SetArgs(p.args)
	if len(p.args) == 0 {
		fmt.Fprint(p.err, usage(root))
		return statusUsage
	}
	command, err := root.ExecuteContextC(ctx)
	_, wrong := errors.AsType[usageError](err)
	switch {
	case err == nil:
		if p.events {
			p.tell(event{Event: "done", Totals: p.totals})
		}
		return statusDone
	case wrong || !p.understood:
		if command.Name() == "help" {
			command = root
		}
		path, lists := command.CommandPath(), "flags"
		if command.HasAvailableSubCommands() {
			lists = "commands"
		}
		if p.logsJSON(command) {
			p.logger("json", slog.LevelInfo).Error("the command line is wrong", "cause", err)
		} else {
			fmt.Fprintf(p.err, "%s: %v\n'%s --help' lists the %s\n", path, err, path, lists)
		}
		return statusUsage
	}
	status := statusFailed
	if f, ok := errors.AsType[failure](err); ok {
		status = f.status
	}
	switch {
	case p.events:
		p.tell(event{Event: "failed", Text: err.Error(), Status: status, Totals: p.totals})
	case p.logsJSON(command):
		p.logger("json", slog.LevelInfo).Error("failed", "cause", err)
	default:
		fmt.Fprintln(p.err, "edgetable:", err)
	}
	return status
}

// release and commit are what 'make dist' writes into the program.
var release, commit string

// version is what the build recorded: a release, else a module version, else the
// commit.
func version() string {
	if release != "" {
		return fmt.Sprintf("%s (%s)", release, commit)
	}
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
