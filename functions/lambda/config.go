package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"edgetable/adapters/identity/awssecrets"
	"edgetable/adapters/identity/oidc"
	"edgetable/adapters/setting"
	"edgetable/adapters/store/dynamodb"
	"edgetable/core/accounts"
)

// config contains the settings of the function, which come from environment variables.
type config struct {
	region      string
	credentials func() aws.Credentials
	http        *http.Client
	endpoint    func(service string) string // returns the URL of a service; "" means the endpoint of AWS

	table        string
	role         dynamodb.Role
	buckets      uint16
	scannedBytes int
	lease        time.Duration
	settingsAge  time.Duration
	streaming    bool
	pathStyle    bool
	extensions   bool
	metrics      string

	accounts func(ctx context.Context) (string, error) // function that reads the text that defines the accounts
	refresh  time.Duration
	forward  func(ctx context.Context) (string, error) // function that reads the secret that a trusted proxy sends; nil if no proxy is trusted
	bearer   *oidc.Verifier                            // verifier of bearer tokens; nil if they are not accepted
}

const (
	usualMetrics = "edgetable"
	// maxStale is how long the function may use known accounts while they cannot be read again.
	maxStale = time.Hour
)

// newConfig reads the settings from the environment. It contacts no other service.
func newConfig(env func(string) string, log *slog.Logger) (*config, error) {
	c := &config{
		region: cmp.Or(env("AWS_REGION"), env("AWS_DEFAULT_REGION")),
		// Lambda's credentials are valid for the lifetime of the process. By default, the SDK would first look for
		// credentials in files and on other machines.
		credentials: func() aws.Credentials {
			return aws.Credentials{
				AccessKeyID: env("AWS_ACCESS_KEY_ID"), SecretAccessKey: env("AWS_SECRET_ACCESS_KEY"),
				SessionToken: env("AWS_SESSION_TOKEN"), Source: "environment",
			}
		},
		http:    newHTTPClient(),
		table:   env("EDGETABLE_DYNAMODB_TABLE"),
		metrics: cmp.Or(env("EDGETABLE_METRICS"), usualMetrics),
	}
	c.endpoint = func(service string) string {
		variable := map[string]string{
			"dynamodb": "DYNAMODB", "secretsmanager": "SECRETS_MANAGER", "ssm": "SSM",
		}[service]
		return cmp.Or(env("AWS_ENDPOINT_URL_"+variable), env("AWS_ENDPOINT_URL"))
	}
	if c.region == "" {
		return nil, errors.New("AWS_REGION is not set")
	}
	if c.table == "" {
		return nil, errors.New("EDGETABLE_DYNAMODB_TABLE is not set")
	}
	in := &setting.Reader{Lookup: env}
	c.buckets = uint16(in.Int("EDGETABLE_BUCKETS", 8, 1, dynamodb.MaxBuckets))
	c.scannedBytes = in.Int("EDGETABLE_SCANNED_BYTES", 8<<20, 1<<20, 1<<30)
	c.lease = in.Duration("EDGETABLE_LEASE", 2*time.Second, 0, dynamodb.MaxLease)
	c.settingsAge = in.Duration("EDGETABLE_SETTINGS_AGE", 30*time.Second, 0, time.Hour)
	c.streaming = in.Bool("EDGETABLE_STREAMING")
	if c.role = dynamodb.Role(cmp.Or(env("EDGETABLE_ROLE"), string(dynamodb.Alone))); !slices.Contains(dynamodb.Roles, c.role) {
		return nil, fmt.Errorf("EDGETABLE_ROLE=%q is unknown: write alone, primary or secondary", c.role)
	}
	c.pathStyle = in.Bool("EDGETABLE_PATH_STYLE")
	c.extensions = in.Bool("EDGETABLE_EXTENSIONS")
	c.refresh = in.Duration(accounts.Variable+"_REFRESH", 5*time.Minute, time.Second, maxStale)
	if err := in.Err(); err != nil {
		return nil, err
	}
	var err error
	if c.bearer, err = newBearer(in, c.http, log); err != nil {
		return nil, err
	}
	return c, c.secrets(env)
}

// newBearer returns the verifier of bearer tokens, or nil if no issuer is configured. It does not contact the issuer.
func newBearer(in *setting.Reader, client *http.Client, log *slog.Logger) (*oidc.Verifier, error) {
	const prefix = "EDGETABLE_OIDC_"
	v, err := oidc.Optional(context.Background(), oidc.Options{ // the context lasts as long as the process
		Issuer: in.Lookup(prefix + "ISSUER"), JWKS: in.Lookup(prefix + "JWKS"), Audiences: in.List(prefix + "AUDIENCES"),
		RolesClaim: in.Lookup(prefix + "ROLES_CLAIM"), ReaderRoles: in.List(prefix + "READERS"), ContributorRoles: in.List(prefix + "CONTRIBUTORS"),
		HTTP: client, Log: log,
	})
	if err != nil {
		return nil, fmt.Errorf("%s…: %w", prefix, err)
	}
	return v, nil
}

// secrets configures how the accounts and the secret of the proxy are read.
func (c *config) secrets(env func(string) string) error {
	client := &awssecrets.Client{
		Region: c.region, Credentials: c.credentials, Endpoint: c.endpoint, HTTP: c.http, Now: time.Now,
	}
	text, secret, parameter := env(accounts.Variable), env(accounts.Variable+"_SECRET"), env(accounts.Variable+"_PARAMETER")
	given := 0
	for _, source := range []struct {
		value string
		read  func(ctx context.Context, id string) (string, error)
	}{
		{text, func(_ context.Context, text string) (string, error) { return text, nil }},
		{secret, client.Secret},
		{parameter, client.Parameter},
	} {
		if source.value != "" {
			given++
			c.accounts = func(ctx context.Context) (string, error) { return source.read(ctx, source.value) }
		}
	}
	switch given {
	case 0: // a function that only purges needs no accounts, so the error is returned when a request arrives
		c.accounts = func(context.Context) (string, error) {
			return "", errors.New("no accounts are set: " + accounts.Variable + "_SECRET, " + accounts.Variable + "_PARAMETER or " + accounts.Variable)
		}
	case 1:
	default:
		return errors.New(accounts.Variable + "_SECRET, " + accounts.Variable + "_PARAMETER and " + accounts.Variable + " exclude each other")
	}
	if id := env("EDGETABLE_FORWARD_SECRET"); id != "" {
		c.forward = func(ctx context.Context) (string, error) { return client.Secret(ctx, id) }
	}
	return nil
}

// newHTTPClient returns the client for requests to AWS. It retains many idle connections, because a query of a whole
// table reads all its hash keys concurrently.
func newHTTPClient() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 64, 64
	// DynamoDB closes idle connections later than this, so that this client usually closes them first. If the process
	// is frozen in between, DynamoDB may close them first.
	t.IdleConnTimeout = 50 * time.Second
	return &http.Client{Transport: t}
}
