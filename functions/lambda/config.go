package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"edgetable/adapters/identity/awssecrets"
	"edgetable/adapters/store/dynamodb"
	"edgetable/core/accounts"
)

// config is what the environment says.
type config struct {
	region      string
	credentials func() aws.Credentials
	http        *http.Client
	endpoint    func(service string) string // "" where AWS has it

	table        string
	buckets      uint16
	scannedBytes int
	lease        time.Duration
	settingsAge  time.Duration
	streaming    bool
	pathStyle    bool
	metrics      string

	accounts func(ctx context.Context) (string, error) // their text
	refresh  time.Duration
	forward  func(ctx context.Context) (string, error) // nil: no proxy is believed
	bearer   *bearer                                   // nil: no bearer tokens are accepted
}

const (
	usualMetrics = "edgetable" // namespace
	// stale is how long accounts are used that cannot be read anew.
	stale = time.Hour
)

// newConfig reads the environment, and nothing else.
func newConfig(env func(string) string) (*config, error) {
	c := &config{
		region: cmp.Or(env("AWS_REGION"), env("AWS_DEFAULT_REGION")),
		// Lambda sets them for the life of the process; the SDK's chain would look
		// for files and other machines first.
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
	buckets, err := number(env, "EDGETABLE_BUCKETS", 8, 1, dynamodb.MaxBuckets)
	c.buckets = uint16(buckets)
	if err != nil {
		return nil, err
	}
	if c.scannedBytes, err = number(env, "EDGETABLE_SCANNED_BYTES", 8<<20, 1<<20, 1<<30); err != nil {
		return nil, err
	}
	if c.lease, err = duration(env, "EDGETABLE_LEASE", 2*time.Second, 0, dynamodb.MaxLease); err != nil {
		return nil, err
	}
	if c.settingsAge, err = duration(env, "EDGETABLE_SETTINGS_AGE", 30*time.Second, 0, time.Hour); err != nil {
		return nil, err
	}
	if c.streaming, err = truth(env, "EDGETABLE_STREAMING"); err != nil {
		return nil, err
	}
	if c.pathStyle, err = truth(env, "EDGETABLE_PATH_STYLE"); err != nil {
		return nil, err
	}
	if c.bearer, err = newBearer(env, c.http); err != nil {
		return nil, err
	}
	return c, c.secrets(env)
}

// secrets says where the accounts are, and the secret of a proxy.
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
	case 0: // as for a function that only purges
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
	var err error
	c.refresh, err = duration(env, accounts.Variable+"_REFRESH", 5*time.Minute, time.Second, stale)
	return err
}

// newHTTPClient makes the connections to AWS. A page of a whole table reads all
// of its buckets at once.
func newHTTPClient() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 64, 64
	// A frozen process finds its connections dead; those of DynamoDB live longer
	// than a pause between requests that matters.
	t.IdleConnTimeout = 50 * time.Second
	return &http.Client{Transport: t}
}

func number(env func(string) string, name string, usual, least, most int) (int, error) {
	text := env(name)
	if text == "" {
		return usual, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%s=%q: write a number from %d to %d", name, text, least, most)
	}
	return n, nil
}

func duration(env func(string) string, name string, usual, least, most time.Duration) (time.Duration, error) {
	text := env(name)
	if text == "" {
		return usual, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < least || d > most {
		return 0, fmt.Errorf("%s=%q: write a duration from %v to %v", name, text, least, most)
	}
	return d, nil
}

func truth(env func(string) string, name string) (bool, error) {
	switch text := env(name); text {
	case "", "false":
		return false, nil
	case "true":
		return true, nil
	default:
		return false, fmt.Errorf("%s=%q: write true or false", name, text)
	}
}
