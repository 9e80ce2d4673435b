package localexplorer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/functions/edgetable/bounded"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/explorer"
)

type flags struct {
	selection
	local  localServer
	listen string
	open   bool
	link   bool
}

// Command returns the command explorer.
func Command(p *cli.Terminal) *cobra.Command {
	var o flags
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
				return printLink(c.Context(), p, &o)
			}
			return explore(c.Context(), p, &o)
		},
	}
	cli.Section(c, "Services", o.selection.register)
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

func printLink(ctx context.Context, p *cli.Terminal, o *flags) error {
	if len(o.names) > 0 || o.readOnly {
		return cli.Misuse("--link opens all accounts of the server, to read and to write: remove the flags --profile and --read-only, or remove --link")
	}
	link, err := o.local.server().Link(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Out, "%s\n", link.URL)
	fmt.Fprintf(p.Err, "The link opens all accounts of the server in one window, within %s.\n", cli.ShowDuration(link.Good))
	openPage(p, o, link.URL)
	return nil
}

func openPage(p *cli.Terminal, o *flags, link string) {
	if !o.open {
		return
	}
	if err := openBrowser(link); err != nil {
		fmt.Fprintf(p.Err, "the browser cannot be opened, open the link yourself: %v\n", err)
	}
}

func explore(ctx context.Context, p *cli.Terminal, o *flags) error {
	if _, err := o.profiles(p); err != nil {
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
		list, err := o.profiles(p)
		if err != nil {
			return nil, err
		}
		if len(o.names) == 0 {
			list = o.local.addLocal(ctx, list, p.Environment, o.readOnly)
		} else {
			list = o.local.addLocal(ctx, list, nil, o.readOnly)
		}
		if len(list) > 1 && list[0].Name == withoutProfiles && !list[0].Local {
			list = list[1:] // remove the default, the development account; the accounts of the running server replace it
		}
		return list, nil
	}}
	invite := func() string { return "http://" + l.Addr().String() + g.Invite() }
	g.Opened = func() { fmt.Fprintf(p.Out, "the link was used; the link for another browser window is %s\n", invite()) }
	link := invite()
	fmt.Fprintf(p.Out, "explorer at %s\n", link)
	openPage(p, o, link)
	server := &http.Server{Handler: g.Handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 5 * time.Minute}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() }) // this aborts requests in progress
	defer stop()
	if err := bounded.Serve(server, l, explorerConnections); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// explorerConnections is the maximum number of connections. A browser opens fewer, but other users of the machine can
// connect too.
const explorerConnections = 128
