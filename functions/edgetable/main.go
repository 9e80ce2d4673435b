// Command edgetable is the table store in a single binary: the server with the embedded store, and tools.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"edgetable/functions/edgetable/azurite"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/reload"
	"edgetable/functions/edgetable/server"
)

// "make dist" sets these variables.
var release, commit string

func main() {
	cli.Umask(0o077) // new tables, exports and backups are private, whatever the mode of their directory
	cli.Release, cli.Commit = release, commit
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal terminates the process immediately
	p := program{name: os.Args[0], args: os.Args[1:], signals: server.Signals{Hangups: hangups, Ticks: ticks}, Terminal: &cli.Terminal{Environment: os.Getenv, In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Alone: true, Packaged: "/etc/edgetable/edgetable.conf", Variables: variables}}
	p.Columns, _, _ = term.GetSize(int(os.Stdout.Fd())) // Columns is 0 if standard output is not a terminal
	os.Exit(p.run(ctx))
}

// ticks returns a channel that receives a value each time a server must check its files for changes.
func ticks() <-chan time.Time { return time.Tick(reload.Every) }

func variables() (names []string) {
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		names = append(names, name)
	}
	return names
}

func hangups() <-chan os.Signal {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	return c
}

func (p *program) run(ctx context.Context) int {
	if done, status := p.asAzurite(); done {
		return status
	}
	out := &cli.Checked{Writer: p.Out}
	p.Out = out
	root := p.root()
	root.SetArgs(p.args)
	if len(p.args) == 0 {
		fmt.Fprint(p.Err, cli.Usage(root))
		return cli.StatusUsage
	}
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		err = p.misnamed
	}
	if err == nil && out.Err != nil {
		err = out.Err
	}
	_, wrong := errors.AsType[cli.UsageError](err)
	switch {
	case err == nil:
		if p.Events {
			p.PrintEvent(cli.Event{Event: "done", Totals: p.Totals})
		}
		return cli.StatusDone
	case wrong || !p.understood:
		if command.Name() == "help" {
			command = root
		}
		path, lists := command.CommandPath(), "flags"
		if command.HasAvailableSubCommands() {
			lists = "commands"
		}
		if p.logsJSON(command) {
			p.Logger("json", slog.LevelInfo).Error("the command line is invalid", "cause", cli.Plain(err))
		} else {
			fmt.Fprintf(p.Err, "%s: %s\n'%s --help' lists the %s\n", path, cli.Plain(err), path, lists)
		}
		return cli.StatusUsage
	}
	status := cli.StatusFailed
	if f, ok := errors.AsType[cli.Failure](err); ok {
		status = f.Status
	}
	switch {
	case p.Events:
		p.PrintEvent(cli.Event{Event: "failed", Text: cli.Plain(err), Status: status, Totals: p.Totals})
	case p.logsJSON(command):
		p.Logger("json", slog.LevelInfo).Error("failed", "cause", cli.Plain(err))
	default:
		fmt.Fprintln(p.Err, "edgetable:", cli.Plain(err))
	}
	return status
}

// asAzurite translates a command line for Azurite. If the first result is true, the program must exit with the returned
// status, because of an error or a request for help.
func (p *program) asAzurite() (done bool, status int) {
	name, args := azurite.Named(p.name, p.args)
	if name == "" {
		return false, 0
	}
	start, err := azurite.Serve(name, args, p.Environment)
	if err != nil {
		fmt.Fprintf(p.Err, "edgetable as %s: %v\n", name, err)
		return true, cli.StatusUsage
	}
	if start.Help != "" {
		fmt.Fprint(p.Out, start.Help)
		return true, cli.StatusDone
	}
	p.args, p.Remarks, p.AzuriteAccounts = start.Args, start.Notes, start.Accounts
	p.Announce = func(url string) []string { return azurite.Lines(name, url) }
	return false, 0
}

// logsJSON reports whether a command logs errors as JSON. It also searches the arguments, because the flags after an
// invalid flag are not parsed.
func (p *program) logsJSON(c *cobra.Command) bool {
	const name, json = "log-format", "json"
	f := c.Flag(name)
	if f == nil {
		return false
	}
	if f.Changed {
		return f.Value.String() == json
	}
	for i, arg := range p.args {
		if arg == "--"+name+"="+json || arg == "--"+name && i+1 < len(p.args) && p.args[i+1] == json {
			return true
		}
	}
	return p.Environment(cli.Variable(name)) == json
}
