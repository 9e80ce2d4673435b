package explorer

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"

	"edgetable/core/protocol"
)

// Prefix is the path of the page. No account has a name with an underscore.
const Prefix = "/_/"

// policy is the page's Content-Security-Policy. Scripts and styles must be files, so text in an entity, which others
// may have written, cannot act as either.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src %s; " +
	"require-trusted-types-for 'script'; trusted-types 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

// Addresses that the page may connect to. Behind a gateway, only its own; on an endpoint also other services, whose
// CORS rules decide.
const (
	connectGateway  = "'self'"
	connectEndpoint = "'self' https: http://127.0.0.1:* http://localhost:*"
)

// dist contains the built page, and the file session, which says that there is no gateway.
//
//go:embed dist
var dist embed.FS

// file is one file of the page, ready to be sent.
type file struct {
	kind       string
	body, gzip []byte
	tag        string // ETag
}

// files reads and compresses all files when the first one is requested.
var files = sync.OnceValue(func() map[string]file {
	list := map[string]file{}
	err := fs.WalkDir(dist, "dist", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := dist.ReadFile(name)
		if err != nil {
			return err
		}
		var packed bytes.Buffer
		w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		if err == nil {
			_, err = w.Write(body)
		}
		if err == nil {
			err = w.Close()
		}
		sum := sha256.Sum256(body)
		list[strings.TrimPrefix(name, "dist/")] = file{kind: kinds[path.Ext(name)], body: body, gzip: packed.Bytes(), tag: `"` + hex.EncodeToString(sum[:8]) + `"`}
		return err
	})
	if err != nil {
		panic(err) // cannot happen: the files are embedded
	}
	return list
})

// kinds are the Content-Types by file extension. The operating system's table may differ.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".svg":  "image/svg+xml",
	"":      "application/json", // the file session
}

// Endpoint serves the page under an endpoint with tables.
type Endpoint struct {
	Hosts Hosts
	// Development reports whether the server has the development account with its public key. Nil means no.
	Development func() bool
	Version     string
	// Consent opens the accounts of the server. If it is nil, each account needs its key.
	Consent *Consent
}

// Serve answers a request for a file of the page.
func (e Endpoint) Serve(req *protocol.Request) protocol.Response {
	if !e.Hosts.known(req.Host) {
		return refusal(http.StatusMisdirectedRequest, "the explorer is not served as "+req.Host+": open it by address, or start the server with --public-url and this name")
	}
	asks := req.Target == Prefix+"session" && req.Method == http.MethodGet
	switch {
	case e.Consent != nil && (asks && req.Header.Get(tokenHeader) != "" || req.Method == http.MethodPost && strings.HasPrefix(req.Target, signPath)):
		return e.Consent.serve(req, e.Version)
	case asks:
		return told(struct {
			Version     string `json:"version,omitempty"`
			Development bool   `json:"development,omitempty"`
			Consent     bool   `json:"consent,omitempty"`
		}{e.Version, e.Development != nil && e.Development(), e.Consent != nil})
	}
	return servePage(req, connectEndpoint)
}

// servePage answers a request for a file of the page.
func servePage(req *protocol.Request, connect string) protocol.Response {
	name, _, _ := strings.Cut(req.Target, "?")
	name = strings.TrimPrefix(name, Prefix)
	if name == "" {
		name = "index.html"
	}
	f, ok := files()[name]
	switch {
	case !ok:
		return refusal(http.StatusNotFound, "there is no such page; the explorer is at "+Prefix)
	case req.Method != http.MethodGet && req.Method != http.MethodHead:
		return refusal(http.StatusMethodNotAllowed, "pages are read by GET")
	}
	resp := protocol.Response{Status: http.StatusOK, Header: []protocol.Field{
		{Name: "Content-Type", Value: f.kind},
		{Name: "Cache-Control", Value: "no-cache"}, // lets the browser revalidate the ETag each time
		{Name: "ETag", Value: f.tag},
		{Name: "Vary", Value: "Accept-Encoding"},
		{Name: "Content-Security-Policy", Value: strings.Replace(policy, "%s", connect, 1)},
	}}
	resp.Header = append(resp.Header, always...)
	switch {
	case req.Header.Get("If-None-Match") == f.tag:
		resp.Status = http.StatusNotModified
	case strings.Contains(req.Header.Get("Accept-Encoding"), "gzip"):
		resp.Header = append(resp.Header, protocol.Field{Name: "Content-Encoding", Value: "gzip"})
		resp.Body = f.gzip
	default:
		resp.Body = f.body
	}
	return resp
}

// always are the headers of every response of this package.
var always = []protocol.Field{
	{Name: "X-Content-Type-Options", Value: "nosniff"},
	{Name: "Cross-Origin-Opener-Policy", Value: "same-origin"},
	{Name: "Cross-Origin-Resource-Policy", Value: "same-origin"},
	{Name: "Referrer-Policy", Value: "no-referrer"},
}

func refusal(status int, text string) protocol.Response {
	return protocol.Response{Status: status, Body: []byte(text + "\n"), Header: append([]protocol.Field{
		{Name: "Content-Type", Value: "text/plain; charset=utf-8"},
		{Name: "Content-Security-Policy", Value: "default-src 'none'; frame-ancestors 'none'"},
	}, always...)}
}
