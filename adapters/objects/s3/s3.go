// Package s3 keeps objects in a bucket of S3, of AWS or of
// another maker. Four calls are enough for it; the SDK signs them and finds the
// credentials.
package s3

import (
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/smithy-go/logging"

	"edgetable/core/objects"
)

// Bucket is a place for objects below a prefix in a bucket.
type Bucket struct {
	base        string // URL of the bucket
	prefix      string
	region      string
	credentials aws.CredentialsProvider
	signer      *v4.Signer
	client      http.Client
	retryer     aws.Retryer

	// Retrying is called when a request failed and will be sent again; it may be nil.
	Retrying func(cause error, in time.Duration)
	// Silent is called when a request that sends no object has had no answer for five seconds; it may be nil.
	Silent func()
}

// callTimeout bounds one attempt to send or receive an object of 8 MiB: a connection
// that transfers nothing must not stop a backup.
const callTimeout = 2 * time.Minute

// Open connects to a bucket by a URL of the form
// s3://BUCKET/PREFIX?endpoint=https://HOST&region=REGION. The credentials, and a region
// that is not in the URL, come from the environment as AWS's programs read it.
func Open(ctx context.Context, location string) (*Bucket, error) {
	u, err := url.Parse(location)
	if err != nil || u.Scheme != "s3" || u.Host == "" || u.User != nil || u.Fragment != "" {
		return nil, errors.New("write s3://BUCKET/PREFIX, with ?endpoint=https://HOST&region=REGION after it where needed; credentials come from the environment")
	}
	query := u.Query()
	for name := range query {
		if name != "endpoint" && name != "region" {
			return nil, fmt.Errorf("%q is unknown after s3://%s: there are endpoint and region", name, u.Host)
		}
	}
	endpoint := strings.TrimSuffix(query.Get("endpoint"), "/")
	if e, err := url.Parse(endpoint); endpoint != "" && (err != nil || e.Scheme != "http" && e.Scheme != "https" || e.Host == "") {
		return nil, fmt.Errorf("the endpoint %q is not a URL such as https://HOST", endpoint)
	}
	// Without this the SDK writes to standard error, in its own form. Its errors have what matters.
	c, err := config.LoadDefaultConfig(ctx, config.WithLogger(logging.Nop{}))
	if err != nil {
		return nil, err
	}
	b := &Bucket{
		region: cmp.Or(query.Get("region"), c.Region), credentials: c.Credentials,
		signer:  v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }), // as S3 asks
		client:  http.Client{Timeout: callTimeout, CheckRedirect: noRedirect},
		retryer: retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts = 8; o.RateLimiter = noLimit{} }),
	}
	switch {
	case endpoint != "":
		b.base = endpoint + "/" + u.Host
		b.region = cmp.Or(b.region, "us-east-1") // what makers without regions expect
	case b.region == "":
		return nil, errors.New("the region of the bucket is unknown: add ?region=…, or set AWS_REGION")
	case strings.Contains(u.Host, "."): // the certificate would not fit
		b.base = "https://s3." + b.region + ".amazonaws.com/" + u.Host
	default:
		b.base = "https://" + u.Host + ".s3." + b.region + ".amazonaws.com"
	}
	if b.prefix = strings.Trim(u.Path, "/"); b.prefix != "" {
		b.prefix += "/"
	}
	return b, nil
}

// Put implements objects.Place.
func (b *Bucket) Put(ctx context.Context, name string, content []byte) error {
	_, err := b.call(ctx, http.MethodPut, b.prefix+name, nil, content)
	return err
}

// Get implements objects.Place.
func (b *Bucket) Get(ctx context.Context, name string) ([]byte, error) {
	content, err := b.call(ctx, http.MethodGet, b.prefix+name, nil, nil)
	var failed *failure
	if errors.As(err, &failed) && failed.Code == "NoSuchKey" {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return content, err
}

// Delete implements objects.Place.
func (b *Bucket) Delete(ctx context.Context, name string) error {
	_, err := b.call(ctx, http.MethodDelete, b.prefix+name, nil, nil)
	var failed *failure
	if errors.As(err, &failed) && failed.Code == "NoSuchKey" { // as some makers answer, and after a lost reply
		return nil
	}
	return err
}

// noRedirect makes a redirection an error. The signature is for one host; and a write
// would become a read of another page, which succeeds.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// List implements objects.Place.
func (b *Bucket) List(ctx context.Context, prefix string) iter.Seq2[objects.Object, error] {
	return b.ListAfter(ctx, prefix, "")
}

// ListAfter implements objects.Ordered.
func (b *Bucket) ListAfter(ctx context.Context, prefix, after string) iter.Seq2[objects.Object, error] {
	return func(yield func(objects.Object, error) bool) {
		query := url.Values{"list-type": {"2"}, "encoding-type": {"url"}, "prefix": {b.prefix + prefix}}
		if after != "" {
			query.Set("start-after", b.prefix+after)
		}
		for {
			text, err := b.call(ctx, http.MethodGet, "", query, nil)
			var page struct {
				Contents []struct {
					Key  string
					Size int64
				}
				NextContinuationToken string
				IsTruncated           bool
			}
			if err == nil {
				err = xml.Unmarshal(text, &page)
			}
			for _, o := range page.Contents {
				key, keyErr := url.QueryUnescape(o.Key)
				if keyErr != nil {
					err = keyErr
					break
				}
				if strings.TrimPrefix(key, b.prefix) <= after && after != "" { // a maker that does not know start-after
					continue
				}
				if !yield(objects.Object{Name: strings.TrimPrefix(key, b.prefix), Size: o.Size}, nil) {
					return
				}
			}
			if err == nil && page.IsTruncated && page.NextContinuationToken == "" {
				err = errors.New("the server cuts off a list without saying how to continue")
			}
			if err != nil {
				yield(objects.Object{}, err)
			}
			if err != nil || !page.IsTruncated {
				return
			}
			query.Set("continuation-token", page.NextContinuationToken)
		}
	}
}

// noLimit lets every retry happen: the number of attempts is the limit.
type noLimit struct{}

func (noLimit) GetToken(context.Context, uint) (func() error, error) {
	return func() error { return nil }, nil
}

func (noLimit) AddTokens(uint) error { return nil }
