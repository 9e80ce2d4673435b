//go:build linux

package main

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// attacks returns the attacks, which run at the same time. The hostile account is named evil; the attackers called
// strangers have no key.
func attacks(o *options, s *server) ([]*attack, error) {
	narrow, err := s.sas(o, "Attacked")
	if err != nil {
		return nil, err
	}
	const plain = "Accept: application/json;odata=nometadata\r\n"
	part := strings.Repeat("x", 20_000)
	var n atomic.Int64
	list := []*attack{
		{name: "idle connections", connections: o.flood, request: func() string { return get("/_/live", "") }},
		{name: "keep-alive", connections: o.flood / 4, again: 4 * o.pause, request: func() string { return get("/_/live", "") }},
		{name: "requests sent ahead", connections: 32, again: 16 * o.pause, ahead: 100, request: func() string { return get("/_/live", "") }},
		{name: "sent ahead, slow bodies", connections: 32, drip: "x", request: func() string {
			return get("/_/live", "") + "POST /evil/Attacked HTTP/1.1\r\nHost: h\r\nContent-Length: 60000\r\n\r\n" + part
		}},
		{name: "preflights", connections: o.flood / 4, again: 4 * o.pause, request: func() string {
			return "OPTIONS /acme/Tables HTTP/1.1\r\nHost: h\r\nOrigin: https://h\r\nAccess-Control-Request-Method: GET\r\n\r\n"
		}},
		{name: "slow headers", connections: o.flood, drip: "x", request: func() string {
			return "GET /evil/Attacked HTTP/1.1\r\nHost: h\r\nX-Slow: "
		}},
		{name: "unread answers", connections: o.readers, request: func() string { return get("/evil/Attacked()?"+narrow, plain) }},
		{name: "slow bodies", connections: o.uploads, drip: "x", request: func() string {
			return s.post("/Attacked", "Content-Length: 4000000\r\n") + part
		}},
		{name: "slow batches", connections: o.uploads, drip: "x", request: func() string {
			return "POST /evil/$batch?" + narrow + " HTTP/1.1\r\nHost: h\r\nContent-Type: multipart/mixed; boundary=batch_1\r\nContent-Length: 4000000\r\n\r\n" + part
		}},
		{name: "scans of a whole table", connections: 8, again: 4 * o.pause, request: func() string {
			return get("/evil/Attacked()?$filter=Kind%20eq%20'none'", plain+lines(s.sign("evil", "/Attacked()")))
		}},
		{name: "inserts of 1 MiB", connections: 4, again: 16 * o.pause, request: func() string {
			body := entity("large", fmt.Sprint(n.Add(1)%64), 500_000)
			return s.put("/Attacked(PartitionKey='large',RowKey='"+fmt.Sprint(n.Load()%64)+"')", len(body)) + body
		}},
		{name: "failing sign-ins", connections: 32, again: o.pause, request: func() string {
			h := s.sign("evil", "/Tables")
			h.Set("Authorization", "SharedKeyLite evil:"+base64.StdEncoding.EncodeToString(make([]byte, 32)))
			return get("/evil/Tables", lines(h))
		}},
		{name: "forged tokens", connections: 64, again: 4 * o.pause, request: func() string {
			return get("/evil/Tables", "x-ms-version: 2020-12-06\r\nAuthorization: Bearer "+s.forge(n.Add(1))+"\r\n")
		}},
	}
	if o.only != "" {
		list = slices.DeleteFunc(list, func(k *attack) bool { return k.name != o.only })
		if len(list) == 0 {
			return nil, fmt.Errorf("there is no attack %q", o.only)
		}
	}
	return list, nil
}

func get(path, headers string) string {
	return "GET " + path + " HTTP/1.1\r\nHost: h\r\n" + headers + "\r\n"
}

func (s *server) post(path, headers string) string {
	return "POST /evil" + path + " HTTP/1.1\r\nHost: h\r\n" + lines(s.sign("evil", path)) + "Content-Type: application/json\r\n" + headers + "\r\n"
}

func (s *server) put(path string, length int) string {
	return "PUT /evil" + path + " HTTP/1.1\r\nHost: h\r\n" + lines(s.sign("evil", path)) + "Content-Type: application/json\r\n" + fmt.Sprintf("Content-Length: %d\r\n\r\n", length)
}

func lines(h http.Header) string {
	var b strings.Builder
	_ = h.Write(&b)
	return b.String()
}

// entity returns the JSON of an entity with a text of size characters.
func entity(partition, row string, size int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"PartitionKey":%q,"RowKey":%q`, partition, row)
	const property = 30_000
	for i := 0; size > 0; i, size = i+1, size-property {
		fmt.Fprintf(&b, `,"P%d":"%s"`, i, strings.Repeat("x", min(size, property)))
	}
	return b.String() + "}"
}

// forge makes a token with a wrong signature and an unknown key id. The server must ask the issuer whether the key
// exists.
func (s *server) forge(n int64) string {
	part := base64.RawURLEncoding.EncodeToString
	return part(fmt.Appendf(nil, `{"alg":"RS256","kid":"forged-%d"}`, n)) + "." + part(fmt.Appendf(nil,
		`{"iss":%q,"aud":"tables","sub":"nobody","exp":%d}`, s.issuer, time.Now().Add(time.Hour).Unix())) + "." + part(make([]byte, 256))
}
