// Package s3 stores objects in a bucket of AWS S3 or of a compatible service. The AWS SDK signs the requests and finds
// the credentials.
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

// Bucket stores objects under a prefix in a bucket.
type Bucket struct {
	base        string // URL of the bucket
	prefix      string
	region      string
	credentials aws.CredentialsProvider
	signer      *v4.Signer
	client      http.Client
	retryer     aws.Retryer

	// Retrying, if not nil, is called when a request has failed and will be retried.
	Retrying func(cause error, in time.Duration)
	// Silent, if not nil, is called when a request that sends no object has had no answer for five seconds.
	Silent func()
}

// callTimeout limits one attempt to send or receive an object of 8 MiB, so that a stalled connection cannot block a
// backup.
const callTimeout = 2 * time.Minute

// Open opens a bucket by a URL of the form s3://BUCKET/PREFIX?endpoint=https://HOST&region=REGION. It finds credentials
// in the same places as the AWS tools.
func Open(ctx context.Context, location string) (*Bucket, error) {
	u, err := url.Parse(location)
	if err != nil || u.Scheme != "s3" || u.Host == "" || u.User != nil || u.Fragment != "" {
		return nil, errors.New("write s3://BUCKET/PREFIX, followed by ?endpoint=https://HOST&region=REGION if needed; credentials come from the environment")
	}
	query := u.Query()
	for name := range query {
		if name != "endpoint" && name != "region" {
			return nil, fmt.Errorf("the parameter %q after s3://%s is unknown: the parameters are endpoint and region", name, u.Host)
		}
	}
	endpoint := strings.TrimSuffix(query.Get("endpoint"), "/")
	if e, err := url.Parse(endpoint); endpoint != "" && (err != nil || e.Scheme != "http" && e.Scheme != "https" || e.Host == "") {
		return nil, fmt.Errorf("the endpoint %q is not a URL such as https://HOST", endpoint)
	}
	// By default, the SDK logs to standard error in another format. Its errors contain all important information.
	c, err := config.LoadDefaultConfig(ctx, config.WithLogger(logging.Nop{}))
	if err != nil {
		return nil, err
	}
	b := &Bucket{
		region: cmp.Or(query.Get("region"), c.Region), credentials: c.Credentials,
		signer:  v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }), // S3 requires paths that are escaped only once
		client:  http.Client{Timeout: callTimeout, CheckRedirect: noRedirect},
		retryer: retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts = 8; o.RateLimiter = noLimit{} }),
	}
	switch {
	case endpoint != "":
		b.base = endpoint + "/" + u.Host
		b.region = cmp.Or(b.region, "us-east-1") // conventional region of services without regions
	case b.region == "":
		return nil, errors.New("the region of the bucket is unknown: add ?region=…, or set AWS_REGION")
	case strings.Contains(u.Host, "."): // AWS's wildcard certificate does not match a host name with a dotted bucket name
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
	if errors.As(err, &failed) && failed.Code == "NoSuchKey" { // some services return this error for a missing object, for example when a delete is retried
		return nil
	}
	return err
}

// noRedirect makes the client return redirects instead of following them. net/http would turn a redirected write into a
// read, which could succeed.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// List implements objects.Place.
func (b *Bucket) List(ctx context.Context, prefix string) iter.Seq2[objects.Object, error] {
	return b.ListAfter(ctx, prefix, "")
}

// ListAfter implements objects.Ordered.
func (b *Bucket) ListAfter(ctx context.Context, prefix, startAfter string) iter.Seq2[objects.Object, error] {
	return func(yield func(objects.Object, error) bool) {
		query := url.Values{"list-type": {"2"}, "encoding-type": {"url"}, "prefix": {b.prefix + prefix}}
		if startAfter != "" {
			query.Set("start-after", b.prefix+startAfter)
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
				if strings.TrimPrefix(key, b.prefix) <= startAfter && startAfter != "" { // some services ignore the parameter start-after
					continue
				}
				if !yield(objects.Object{Name: strings.TrimPrefix(key, b.prefix), Size: o.Size}, nil) {
					return
				}
			}
			if err == nil && page.IsTruncated && page.NextContinuationToken == "" {
				err = errors.New("the server returned a truncated list without a continuation token")
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

// noLimit disables the SDK's limit on the rate of retries. Only MaxAttempts then limits the retries of a call.
type noLimit struct{}

func (noLimit) GetToken(context.Context, uint) (func() error, error) {
	return func() error { return nil }, nil
}

func (noLimit) AddTokens(uint) error { return nil }
