package s3

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/smithy-go/encoding/httpbinding"
)

type failure struct {
	Status        int    `xml:"-"`
	Code, Message string // empty if the response has no body
	Region        string
}

func (f *failure) Error() string {
	text := fmt.Sprintf("S3 answers %d", f.Status)
	if f.Code != "" {
		text += " " + f.Code
	}
	if f.Message != "" {
		text += ": " + f.Message
	}
	if f.Region != "" {
		text += " (the bucket is in the region " + f.Region + ")"
	}
	return text
}

var errCredentials = errors.New("there are no credentials for S3: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE")

// patience is how long a request may wait for an answer before Silent is called.
const patience = 5 * time.Second

// retryable returns true if a retry of the same request may succeed.
func retryable(err error) bool {
	var f *failure
	if !errors.As(err, &f) {
		return !errors.Is(err, errCredentials) // the connection failed
	}
	return f.Status >= 500 || f.Status == http.StatusTooManyRequests || f.Status == http.StatusRequestTimeout ||
		f.Code == "RequestTimeout" || f.Code == "SlowDown"
}

// call sends a request, and retries it if the error is temporary. All four operations are idempotent.
func (b *Bucket) call(ctx context.Context, method, key string, query url.Values, content []byte) ([]byte, error) {
	for attempt := 1; ; attempt++ {
		answer, err := b.sendOnce(ctx, method, key, query, content)
		if err == nil || ctx.Err() != nil || !retryable(err) || attempt >= b.retryer.MaxAttempts() {
			return answer, err
		}
		delay, delayErr := b.retryer.RetryDelay(attempt, err)
		if delayErr != nil {
			return nil, err
		}
		if b.Retrying != nil {
			b.Retrying(err, delay)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(delay):
		}
	}
}

// sendOnce sends a request once. The signature covers the content, so S3 rejects content that was damaged in transit.
func (b *Bucket) sendOnce(ctx context.Context, method, key string, query url.Values, content []byte) ([]byte, error) {
	who, err := b.credentials.Retrieve(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errCredentials, err)
	}
	target := b.base
	if key != "" || strings.Count(target, "/") == 2 {
		target += "/" + httpbinding.EscapePath(key, false)
	}
	if query != nil {
		target += "?" + strings.ReplaceAll(query.Encode(), "+", "%20")
	}
	req, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(content)
	hash := hex.EncodeToString(sum[:])
	req.Header.Set("X-Amz-Content-Sha256", hash)
	if err := b.signer.SignHTTP(ctx, who, req, hash, "s3", b.region, time.Now()); err != nil {
		return nil, err
	}
	if b.Silent != nil && len(content) == 0 {
		defer time.AfterFunc(patience, b.Silent).Stop()
	}
	resp, err := b.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= 300 {
		f := &failure{Status: resp.StatusCode}
		_ = xml.Unmarshal(answer, f) // without a body, the error contains only the status
		f.Region = cmp.Or(f.Region, resp.Header.Get("X-Amz-Bucket-Region"))
		return nil, f
	}
	return answer, nil
}
