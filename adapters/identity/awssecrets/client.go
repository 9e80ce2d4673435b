package awssecrets

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// Client reads texts from Secrets Manager and Parameter Store. It is safe for concurrent use.
type Client struct {
	Region string
	// Credentials is called for every request.
	Credentials func() aws.Credentials
	// Endpoint, if not nil, returns the URL of a service: "secretsmanager" or "ssm". If it returns "", the endpoint of
	// AWS is used.
	Endpoint func(service string) string
	HTTP     *http.Client
	Now      func() time.Time
}

// attempts is the maximum number of attempts, and timeout limits each attempt. Both are small, because a client is
// waiting for its response.
const (
	attempts = 2
	timeout  = 2 * time.Second
)

// maxAnswer is the maximum size of a response in bytes. A secret has at most 64 KiB, and JSON may encode one byte as
// six bytes.
const maxAnswer = 1 << 20

// Secret returns the current text of the secret with the given name or ARN.
func (c *Client) Secret(ctx context.Context, id string) (string, error) {
	var out struct{ SecretString *string }
	err := c.call(ctx, "secretsmanager", id, "secretsmanager.GetSecretValue", map[string]any{"SecretId": id}, &out)
	if err == nil && out.SecretString == nil {
		err = errors.New("secretsmanager: the secret is binary: store it as text")
	}
	if err != nil {
		return "", err
	}
	return *out.SecretString, nil
}

// Parameter returns the decrypted text of the parameter with the given name or ARN.
func (c *Client) Parameter(ctx context.Context, name string) (string, error) {
	var out struct{ Parameter struct{ Value *string } }
	err := c.call(ctx, "ssm", name, "AmazonSSM.GetParameter", map[string]any{"Name": name, "WithDecryption": true}, &out)
	if err == nil && out.Parameter.Value == nil {
		err = errors.New("ssm: the answer has no value")
	}
	if err != nil {
		return "", err
	}
	return *out.Parameter.Value, nil
}

// refusal is an error response. It may be logged: it contains the names of the role and the resource, but no secret.
type refusal struct {
	service, kind, message string
	status                 int
}

func (r *refusal) Error() string {
	return fmt.Sprintf("%s: %d %s: %s", r.service, r.status, r.kind, r.message)
}

// temporary returns true if a retry of the same call may succeed.
func (r *refusal) temporary() bool {
	return r.status >= 500 || r.status == 429 || strings.Contains(r.kind, "Throttling")
}

// call sends a request, and retries it if it fails. A retry is safe, because the requests only read.
func (c *Client) call(ctx context.Context, service, resource, target string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	for range attempts {
		if err = c.once(ctx, service, resource, target, body, out); err == nil {
			return nil
		}
		if r := (*refusal)(nil); errors.As(err, &r) && !r.temporary() || ctx.Err() != nil {
			return err
		}
	}
	return err
}

func (c *Client) once(ctx context.Context, service, resource, target string, body []byte, out any) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	region := regionOf(resource, c.Region)
	endpoint := ""
	if c.Endpoint != nil {
		endpoint = c.Endpoint(service)
	}
	if endpoint == "" {
		endpoint = "https://" + service + "." + region + domain(region)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(endpoint, "/")+"/", bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%s: %w", service, err)
	}
	req.Header.Set("Content-Type", "application/x-amz-json-1.1")
	req.Header.Set("X-Amz-Target", target)
	hash := sha256.Sum256(body)
	err = v4.NewSigner().SignHTTP(ctx, c.Credentials(), req, hex.EncodeToString(hash[:]), service, region, c.Now())
	if err != nil {
		return fmt.Errorf("%s: %w", service, err)
	}
	direct := *c.HTTP // AWS does not redirect, and a redirect would forward the session token
	direct.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := direct.Do(req)
	if err != nil {
		return fmt.Errorf("%s: %w", service, err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("%s: %w", service, err)
	}
	if resp.StatusCode != http.StatusOK {
		return parseRefusal(service, resp.StatusCode, answer)
	}
	if json.Unmarshal(answer, out) != nil {
		return fmt.Errorf("%s: the answer has an unexpected form", service) // the answer is not part of the error, because it may contain the secret
	}
	return nil
}

// parseRefusal parses an error response such as {"__type":"…#ResourceNotFoundException","message":"…"}.
func parseRefusal(service string, status int, answer []byte) error {
	var said struct {
		Type    string `json:"__type"`
		Message string // "Message" or "message" in the JSON, because encoding/json ignores case
	}
	if json.Unmarshal(answer, &said) != nil {
		said.Message = "the answer is not JSON"
	}
	_, kind, ok := strings.Cut(said.Type, "#")
	if !ok {
		kind = said.Type
	}
	return &refusal{service: service, kind: kind, message: said.Message, status: status}
}

// regionOf returns the region in an ARN of the form arn:aws:service:REGION:account:resource. For a plain name, it
// returns the argument region.
func regionOf(resource, region string) string {
	if parts := strings.SplitN(resource, ":", 6); len(parts) == 6 && parts[0] == "arn" && parts[3] != "" {
		return parts[3]
	}
	return region
}

// domain returns the part of an AWS host name after the region.
func domain(region string) string {
	if strings.HasPrefix(region, "cn-") {
		return ".amazonaws.com.cn"
	}
	return ".amazonaws.com"
}
