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

// Prefix is the path prefix of the page. No account has this path, because names of accounts have no underscore.
const Prefix = "/_/"

// policy is the Content-Security-Policy of the page. It permits scripts and styles only in files. So a text in an
// entity, which another user may have written, can neither run as a script nor change the style.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src %s; " +
	"require-trusted-types-for 'script'; trusted-types 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

// Sources to which the page may connect. If a gateway serves the page, the page may connect only to the gateway.
// Otherwise the page may also connect to other services, if their CORS rules permit that.
const (
	connectGateway  = "'self'"
	connectEndpoint = "'self' https: http://127.0.0.1:* http://localhost:*"
)

// dist contains the built page. It also contains a file named session, which tells the page that no gateway serves it. A
// gateway is a server that signs and forwards requests, such as 'edgetable explorer'.
//
//go:embed dist
var dist embed.FS

// file is one file of the page, with a compressed copy and the values of its headers.
type file struct {
	kind       string
	body, gzip []byte
	tag        string // value of the ETag header
}

// files returns all files of the page by name. The first call reads and compresses them.
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
		panic(err) // cannot fail, because the files are embedded
	}
	return list
})

// kinds are the Content-Types of files by extension. The table of the operating system is not used, because it may
// differ.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".svg":  "image/svg+xml",
	"":      "application/json", // the file named session has no extension
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
		{Name: "Cache-Control", Value: "no-cache"}, // the browser must revalidate the file by its ETag before each use
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

// All responses of this package have these headers.
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
