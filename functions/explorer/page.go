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

// Prefix is the path prefix of the page. It cannot be the name of an account, because account names have no underscore.
const Prefix = "/_/"

// policy is the Content-Security-Policy of the page. It permits scripts and styles only from files, so that text in an
// entity, possibly from another user, cannot run as a script.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src %s; " +
	"require-trusted-types-for 'script'; trusted-types 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

// Sources for connect-src. The page of a gateway may connect only to the gateway. Other pages may also connect to
// services whose CORS rules permit this.
const (
	connectGateway  = "'self'"
	connectEndpoint = "'self' https: http://127.0.0.1:* http://localhost:*"
)

// dist is the built page. The file named session in it tells the page that it is not served by a gateway.
//
//go:embed dist
var dist embed.FS

type file struct {
	kind       string
	body, gzip []byte
	tag        string // value of ETag
}

// files returns the files of the page by name, and compresses them on first use.
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
		panic(err) // reading an embedded file cannot fail
	}
	return list
})

// kinds contains the Content-Type of each file extension, because the operating system's table may differ.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".svg":  "image/svg+xml",
	"":      "application/json", // the file session has no extension
}

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
		{Name: "Cache-Control", Value: "no-cache"}, // the browser must revalidate before each use
		{Name: "ETag", Value: f.tag},
		{Name: "Vary", Value: "Accept-Encoding"},
		{Name: "Content-Security-Policy", Value: strings.Replace(policy, "%s", connect, 1)},
	}}
	resp.Header = append(resp.Header, commonHeaders...)
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

// commonHeaders contains the headers that all responses have.
var commonHeaders = []protocol.Field{
	{Name: "X-Content-Type-Options", Value: "nosniff"},
	{Name: "Cross-Origin-Opener-Policy", Value: "same-origin"},
	{Name: "Cross-Origin-Resource-Policy", Value: "same-origin"},
	{Name: "Referrer-Policy", Value: "no-referrer"},
}

func refusal(status int, text string) protocol.Response {
	return protocol.Response{Status: status, Body: []byte(text + "\n"), Header: append([]protocol.Field{
		{Name: "Content-Type", Value: "text/plain; charset=utf-8"},
		{Name: "Content-Security-Policy", Value: "default-src 'none'; frame-ancestors 'none'"},
	}, commonHeaders...)}
}
