package client

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/bounded"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/explorer"
)

type explorerFlags struct {
	local    localServer
	file     string
	names    []string
	listen   string
	readOnly bool
	open     bool
	link     bool
}

func (p *program) explorerCommand() *cobra.Command {
	var o explorerFlags
	c := &cobra.Command{
		Use: "explorer", Short: "View and edit tables in the browser",
		Long: `Serves a page for this machine only and prints a link to the page. Each link works once; after each use, the command
prints a new link. The page shows the services of your profiles. This command signs the requests, so keys never reach
the browser. Without profiles, the page shows the server on this machine with the development account.

With --data, the page also shows every account of the server that uses this directory, and when its keys were last used.
For this, you must have the right to use the socket of the server and to read its accounts.

A server has the same page at /_/, which asks for a key or a token. With --link this command prints a link to that
page and ends. The link opens all accounts of the server on this machine, once and within five minutes; the keys stay
in the server.`,
		Example: "  edgetable explorer\n  edgetable explorer --profile prod --read-only\n  edgetable explorer --link --data /var/lib/edgetable",
		RunE: func(c *cobra.Command, _ []string) error {
			if o.link {
				return p.printLink(c.Context(), &o)
			}
			return p.explore(c.Context(), &o)
		},
	}
	cli.Section(c, "Services", func(f *pflag.FlagSet) {
		f.StringSliceVar(&o.names, "profile", nil, "`name` of a profile, or env:NAME for a connection string in the environment; may be repeated; default all profiles")
		ProfilesFlag(f, &o.file)
		readOnlyFlag(f, &o.readOnly, "; here for all profiles")
	})
	cli.Section(c, "Server on this machine", func(f *pflag.FlagSet) {
		o.local.register(f)
		cli.BoolFlag(f, &o.link, "link", "print a link to the server's own page, and exit")
	})
	cli.Section(c, "Page", func(f *pflag.FlagSet) {
		cli.ListenFlag(f, &o.listen, "127.0.0.1:0")
		cli.BoolFlag(f, &o.open, "open", "open the page in the browser")
	})
	return c
}

// printLink prints a link to the explorer of the server on this machine.
func (p *program) printLink(ctx context.Context, o *explorerFlags) error {
	if len(o.names) > 0 || o.readOnly {
		return cli.Misuse("--link opens all accounts of the server, to read and to write: remove the flags --profile and --read-only, or remove --link")
	}
	link, err := o.local.server().Link(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Out, "%s\n", link.URL)
	fmt.Fprintf(p.Err, "The link opens all accounts of the server in one window, within %s.\n", cli.ShowDuration(link.Good))
	p.openPage(o, link.URL)
	return nil
}

// openPage opens a link in the browser if the flags permit it.
func (p *program) openPage(o *explorerFlags, link string) {
	if !o.open {
		return
	}
	if err := openBrowser(link); err != nil {
		fmt.Fprintf(p.Err, "the browser cannot be opened, open the link yourself: %v\n", err)
	}
}

// explore serves the explorer until ctx ends.
func (p *program) explore(ctx context.Context, o *explorerFlags) error {
	if _, err := p.explorerProfiles(o); err != nil {
		return err
	}
	if err := cli.CheckAddress("listen", o.listen); err != nil {
		return err
	}
	l, err := net.Listen("tcp", o.listen)
	if err != nil {
		return fmt.Errorf("%w (choose another address with --listen, such as 127.0.0.1:0)", err)
	}
	defer l.Close()
	if !cli.Loopback(l.Addr()) {
		return cli.Misuse("--listen %s: the explorer signs with your keys, so it serves only this machine; from another machine, use a tunnel such as ssh -L", o.listen)
	}
	g := &explorer.Gateway{Version: cli.Version(), Plain: cli.Plain, Local: &o.local, Profiles: func() ([]explorer.Profile, error) {
		list, err := p.explorerProfiles(o)
		if err != nil {
			return nil, err
		}
		if len(o.names) == 0 {
			list = o.local.addLocal(ctx, list, p.Environment, o.readOnly)
		} else {
			list = o.local.addLocal(ctx, list, nil, o.readOnly)
		}
		if len(list) > 1 && list[0].Name == withoutProfiles && !list[0].Local {
			list = list[1:] // the development account was only a default; the accounts of the running server replace it
		}
		return list, nil
	}}
	invite := func() string { return "http://" + l.Addr().String() + g.Invite() }
	g.Opened = func() { fmt.Fprintf(p.Out, "the link was used; the link for another browser window is %s\n", invite()) }
	link := invite()
	fmt.Fprintf(p.Out, "explorer at %s\n", link)
	p.openPage(o, link)
	server := &http.Server{Handler: g.Handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 5 * time.Minute}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() }) // Close aborts requests in progress
	defer stop()
	if err := bounded.Serve(server, l, explorerConnections); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// explorerConnections is the maximum number of connections. A browser opens fewer. A limit is needed because
// other users of the machine can connect, too.
const explorerConnections = 128

// withoutProfiles is the name of the development account in the explorer if the user has no profiles.
const withoutProfiles = "local"

func (p *program) explorerProfiles(o *explorerFlags) ([]explorer.Profile, error) {
	f, err := openProfiles(o.file)
	if err != nil && o.file == "" && len(o.names) == 0 {
		f, err = &profiles{}, nil // an error means that the user has no home directory
	}
	if err != nil {
		return nil, err
	}
	names := o.names
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(f.list))
	}
	var list []explorer.Profile
	for _, name := range names {
		one, ok := f.list[name]
		if variable, is := strings.CutPrefix(name, "env:"); is {
			one, ok = profile{Connection: p.Environment(variable)}, p.Environment(variable) != ""
			name = variable
		}
		if !ok {
			return nil, cli.Misuse("there is no profile %s in %s; 'edgetable profile add' creates one", cli.Quote(name), f.path)
		}
		list = append(list, p.explorerProfile(name, one, o.readOnly))
	}
	if len(list) == 0 {
		list = append(list, p.explorerProfile(withoutProfiles, profile{Connection: remote.Development}, o.readOnly))
	}
	return list, nil
}

func (p *program) explorerProfile(name string, one profile, readOnly bool) explorer.Profile {
	e := explorer.Profile{Name: name, ReadOnly: readOnly || one.ReadOnly, Color: one.Color, Connect: func() (remote.Endpoint, error) {
		text, err := p.connection(name, one)
		if err != nil {
			return remote.Endpoint{}, err
		}
		at, err := remote.ParseConnection(text)
		if err != nil {
			return at, fmt.Errorf("profile %s: %w", name, err)
		}
		return at, nil
	}}
	if at, err := remote.ParseConnection(one.withoutKey()); err == nil {
		e.Account, e.Endpoint = at.Account(), at.String()
	}
	return e
}

// openBrowser opens a link in the user's browser.
func openBrowser(link string) error {
	command := map[string][]string{"darwin": {"open"}, "windows": {"rundll32", "url.dll,FileProtocolHandler"}}[runtime.GOOS]
	if command == nil {
		command = []string{"xdg-open"}
	}
	c := exec.Command(command[0], append(command[1:], link)...)
	if err := c.Start(); err != nil {
		return err
	}
	go func() { _ = c.Wait() }() // do not wait for the browser, which may keep running
	return nil
}
