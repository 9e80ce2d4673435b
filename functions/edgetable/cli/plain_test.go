package cli

import (
	"errors"
	"testing"
)

// TestPlain checks that error texts of Go's libraries are replaced by plainer ones, also inside
// wrapping errors.
func TestPlain(t *testing.T) {
	t.Parallel()
	for theirs, ours := range map[string]string{
		`dial tcp: lookup nohost.invalid on 10.0.0.1:53: no such host`:                         `there is no host nohost.invalid`,
		`lookup nohost.invalid: no such host`:                                                  `there is no host nohost.invalid`,
		`listen tcp: lookup 300.1.1.1: no such host`:                                           `there is no host 300.1.1.1`,
		`dial tcp: lookup a.example on 127.0.0.1:53: server misbehaving`:                       `no name server knows the address of a.example`,
		`dial tcp 127.0.0.1:1: connect: connection refused`:                                    `nothing listens at 127.0.0.1:1`,
		`dial tcp 10.0.0.1:80: i/o timeout`:                                                    `10.0.0.1:80 does not answer`,
		`dial tcp 10.0.0.1:80: connect: network is unreachable`:                                `connecting to 10.0.0.1:80: network is unreachable`,
		`read tcp 127.0.0.1:5000->127.0.0.1:80: read: connection reset by peer`:                `127.0.0.1:80 closed the connection`,
		`read tcp 127.0.0.1:5000->127.0.0.1:80: i/o timeout`:                                   `127.0.0.1:80 did not respond before the timeout`,
		`write tcp 127.0.0.1:5000->127.0.0.1:80: write: broken pipe`:                           `127.0.0.1:80 closed the connection`,
		`POST http://127.0.0.1:80: EOF`:                                                        `POST http://127.0.0.1:80: the connection was closed without an answer`,
		`rows.jsonl.gz: unexpected EOF`:                                                        `rows.jsonl.gz: it ends too early`,
		`p.json: invalid character 'j' looking for beginning of value`:                         `p.json: not JSON: unexpected 'j'`,
		`p.json: invalid character '\n' in string literal`:                                     `p.json: not JSON: unexpected '\n'`,
		`p.json: invalid character '}' after object key:value pair`:                            `p.json: not JSON: unexpected '}'`,
		`p.json: json: cannot unmarshal array into Go value of type map[string]client.profile`: `p.json: a value in the JSON has the wrong type, array`,
		`strconv.ParseInt: parsing "x": invalid syntax`:                                        `"x" is not a number, or too large`,
		`net/http: HTTP/1.x transport connection broken: malformed HTTP response "\x15\x03"`:   `the server does not answer in HTTP`,
		`Get "https://127.0.0.1:80": context deadline exceeded`:                                `https://127.0.0.1:80: there was no response before the timeout`,
		"failed to connect to `user=u database=d`: 127.0.0.1:1 (127.0.0.1): dial error: dial tcp 127.0.0.1:1: connect: connection refused\n\t127.0.0.1:1 (127.0.0.1): dial error: dial tcp 127.0.0.1:1: connect: connection refused": `nothing listens at 127.0.0.1:1`,
		"failed to connect to `user=u database=d`: hostname resolving error: lookup nohost.invalid on 10.0.0.1:53: no such host\n\tlookup nohost.invalid on 10.0.0.1:53: no such host":                                               `there is no host nohost.invalid`,
		"failed to connect to `user=u database=`: /run/.s.PGSQL.5432 (/run): dial error: dial unix /run/.s.PGSQL.5432: connect: no such file or directory":                                                                           `there is no socket /run/.s.PGSQL.5432`,
		"failed to connect to `user=u database=d`: db:80 (10.0.0.1): tls error: timeout: context deadline exceeded\n\tdb:80 (10.0.0.1): timeout: context deadline exceeded":                                                          `db:80: there was no response before the timeout`,
		`operation error DynamoDB: Query, https response error StatusCode: 0, RequestID: , request send failed, Post "http://127.0.0.1:1/": dial tcp 127.0.0.1:1: connect: connection refused`:                                       `Query of DynamoDB: http://127.0.0.1:1/: nothing listens at 127.0.0.1:1`,
		`operation error DynamoDB: Query, https response error StatusCode: 400, RequestID: AB12, ResourceNotFoundException: Requested resource not found`:                                                                            `Query of DynamoDB: status 400, request AB12: ResourceNotFoundException: Requested resource not found`,
		"failed to connect to `user=u database=d`: h:80 (10.0.0.1): server refused TLS connection\n\th:80 (10.0.0.1): failed to receive message: invalid body length: expected at most 1, but got 2":                                 `h:80: server refused TLS connection; h:80: the server does not speak the PostgreSQL protocol`,
		"cannot parse `postgres://h:99999/d`: invalid port":                                       `"postgres://h:99999/d" is wrong: invalid port`,
		"cannot parse `postgres://h/d?sslmode=foo`: failed to configure TLS (sslmode is invalid)": `"postgres://h/d?sslmode=foo" is wrong: sslmode is invalid`,
	} {
		if got := Plain(errors.New(theirs)); got != ours {
			t.Errorf("%s\n got %s\nwant %s", theirs, got, ours)
		}
	}
}
