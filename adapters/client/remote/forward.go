package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
)

// Forward signs a request of another client and sends it once. It does not follow redirects. The path must be relative
// to the account and escaped, with a leading slash. The caller must close the response body.
func (c *Client) Forward(ctx context.Context, method, path, query string, header http.Header, body []byte) (*http.Response, error) {
	req, err := c.endpoint.request(ctx, method, path, query, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, header)
	if header.Get("X-Ms-Version") == "" {
		req.Header.Set("X-Ms-Version", version)
	}
	client := *c.http
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	answer, err := client.Do(req)
	if outer, ok := errors.AsType[*url.Error](err); ok { // the text of a url.Error contains the URL, which may include a signature
		err = fmt.Errorf("%s: %w", c.endpoint, outer.Err)
	}
	return answer, err
}

// Account returns the name of the account. For a shared access signature, which does not contain the name, it takes the
// name from the URL.
func (e Endpoint) Account() string {
	if e.account != "" {
		return e.account
	}
	if path := e.url.Path; path != "" {
		return path[strings.LastIndexByte(path, '/')+1:]
	}
	name, _, _ := strings.Cut(e.url.Hostname(), ".")
	return name
}

// Sign signs the text of a shared access signature with the account key.
func (e Endpoint) Sign(text string) (string, error) {
	if e.key == nil {
		return "", errors.New("the profile has a shared access signature but no account key, so it cannot sign other tokens")
	}
	return e.key.Sign(text), nil
}
