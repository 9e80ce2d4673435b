package server

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/functions/edgetable/cli"
)

const probeTimeout = 5 * time.Second

// healthCommand returns the command that requests the health of a server. It is the health check of container images,
// which contain no other program.
func (p *program) healthCommand() *cobra.Command {
	var listen string
	var live, asJSON bool
	c := &cobra.Command{
		Use: "health", Short: "Ask the server on this machine whether it is ready",
		Long: "Requests /_/ready from the address in --listen, over HTTPS if the server uses it. The exit status is\n" +
			"1 if the response is not 200. It needs no key.",
		Example: "  edgetable health\n  edgetable health --listen 0.0.0.0:443",
		RunE: func(c *cobra.Command, _ []string) error {
			path := "/_/ready"
			if live {
				path = "/_/live"
			}
			if f := c.Flag("listen"); !f.Changed || cli.FromEnvironment(f) {
				listen = cmp.Or(listenOfServer("/proc"), listen)
			}
			text, err := probe(c.Context(), listen, path)
			switch {
			case asJSON && err == nil:
				return p.PrintJSON(healthy{true, text})
			case asJSON:
				return errors.Join(err, p.PrintJSON(healthy{false, cli.Plain(err)}))
			case err == nil:
				fmt.Fprintln(p.Out, text)
			}
			return err
		},
	}
	cli.Section(c, "Flags", func(f *pflag.FlagSet) {
		f.StringVar(&listen, "listen", cli.UsualAddress, "`address` to serve on, host:port; for this command, the address of the server to check")
		cli.BoolFlag(f, &live, "live", "request /_/live instead of /_/ready: check whether the process runs, not whether it is ready")
		cli.JSONFlag(f, &asJSON)
	})
	return c
}

// healthy is the output of health --json.
type healthy struct {
	Ready bool   `json:"ready"`
	Says  string `json:"says"` // response of the server, or the error
}

// probe returns the response of a server. It does not verify the certificate, because the certificate is for the host
// name that clients use.
func probe(ctx context.Context, listen, path string) (string, error) {
	if err := cli.CheckAddress("listen", listen); err != nil {
		return "", err
	}
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	var said error
	for _, scheme := range []string{"http", "https"} {
		r, err := http.NewRequestWithContext(ctx, "GET", scheme+"://"+net.JoinHostPort(cmp.Or(host, "127.0.0.1"), port)+path, nil)
		if err != nil {
			return "", cli.Misuse("--listen: %v", err)
		}
		resp, err := client.Do(r)
		if err != nil {
			return "", fmt.Errorf("no server answers at %s, the address from --listen, $EDGETABLE_LISTEN or the file of --config: %w", listen, cli.Dialing(err))
		}
		text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
		resp.Body.Close()
		if err == nil && resp.StatusCode == http.StatusOK && string(text) != well {
			return "", fmt.Errorf("another program listens at %s, the address from --listen, $EDGETABLE_LISTEN or the file of --config", listen)
		}
		if err == nil && resp.StatusCode == http.StatusOK {
			return strings.TrimSpace(string(text)), nil
		}
		said = fmt.Errorf("%s: %s", resp.Status, strings.TrimSpace(string(text)))
		if resp.StatusCode != http.StatusBadRequest { // an HTTPS server answers plain HTTP with status 400
			break
		}
	}
	return "", said
}
