package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// goWords are patterns for error texts of Go's libraries, each with a plainer replacement.
var goWords = [][2]string{
	{"failed to connect to `[^`]*`:\\s*", ""},
	{`(\S+) \(\S+\): dial (error: dial )?tcp \S+: connect: connection refused`, "nothing listens at $1"},
	{`\S+ \(\S+\): dial (error: dial )?unix (\S+): connect: no such file or directory`, "there is no socket $2"},
	{`(\S+:\d+) \([0-9a-f.:]+\): ((server|tls) error: )?`, "$1: "},
	{`((dial|listen) tcp: |hostname resolving error: )?\blookup (\S+?)( on \S+)?: no such host`, "there is no host $3"},
	{`((dial|listen) tcp: )?\blookup (\S+?)( on \S+)?: (i/o timeout|server misbehaving|Temporary failure in name resolution)`, "no name server knows the address of $3"},
	{`read (tcp|unix) \S+->(\S+): (read: )?connection reset by peer`, "$2 closed the connection"},
	{`(read|write) (tcp|unix) \S+->(\S+): i/o timeout`, "$3 did not respond before the timeout"},
	{`write (tcp|unix) \S+->(\S+): (write: )?(broken pipe|connection reset by peer)`, "$2 closed the connection"},
	{`dial (tcp|unix) (\S+): (connect: )?connection refused`, "nothing listens at $2"},
	{`dial (tcp|unix) (\S+): (connect: )?(i/o|connection|operation) time(out|d out)`, "$2 does not answer"},
	{`dial (tcp|unix) (\S+): (connect: )?`, "connecting to $2: "},
	{`dial error: `, ""},
	{`(dial|listen) tcp: address (\d+): invalid port`, "$2 is not a valid port: ports end at 65535"},
	{`(dial|listen) tcp: lookup tcp/(\S+): (unknown port|nodename nor servname provided, or not known|\w+ not known)`, "$2 is not a valid port: write a number"},
	{`listen tcp (\S+): (bind: )?`, "listening at $1: "},
	{`connect: no such file or directory`, "there is no socket"},
	{`connect: connection refused`, "nothing listens there"},
	{`connect: permission denied`, "the socket belongs to another user: run the command as that user or as root"},
	{`(net/http: )?TLS handshake timeout`, "the server does not answer in TLS: write http:// if it does not use TLS"},
	{`http: server gave HTTP response to HTTPS client`, "the server answers in plain HTTP: write http://"},
	{`tls: failed to verify certificate: (x509: )?`, "its certificate is not trusted: "},
	{`x509: `, ""},
	{`invalid argument ("[^"]*") for ("-., )?"?(--[a-z0-9-]+)" flag: `, "$3 $1: "},
	{`unknown shorthand flag: '.' in (-\S+)`, "unknown flag: $1"},
	{`\bopen (\S+: data directory)`, "$1"},
	{`\bwrite /dev/stdout: `, "writing to standard output: "},
	{`\b(open|stat|mkdir|lstat|read|readdirent|write|remove|rename|unlinkat|chmod|fdopendir) (\S+): (no such file or directory|not a directory|permission denied|file exists|is a directory|file too large|no space left on device|too many open files)`, "$2: $3"},
	{`\bparse ("[^"]*"): `, "$1 is not a URL: "},
	{`: failed to refresh cached credentials, no EC2 IMDS role found, operation error ec2imds: .*`, " (this machine has no role of EC2 either)"},
	{`unexpected end of JSON input`, "the JSON ends too early"},
	{`invalid character ('.{1,10}'|' ') (looking for|after|in) [a-z0-9 :\\'-]*`, "not JSON: unexpected $1"},
	{`json: cannot unmarshal (\w+) into Go (value|struct field (\S+)) of type \S+`, "a value in the JSON has the wrong type, $1"},
	{`strconv\.\w+: parsing ("[^"]*"): (invalid syntax|value out of range)`, "$1 is not a number, or too large"},
	{`(net/http: HTTP/1.x transport connection broken: )?malformed HTTP (response|status code|version) "[^"]*"`, "the server does not answer in HTTP"},
	{`tls: first record does not look like a TLS handshake`, "the server answers in plain HTTP: write http://"},
	{`remote error: tls: `, "the server refuses TLS: "},
	{`operation error (\w+): (\w+), (exceeded maximum number of attempts, \d+, )?`, "$2 of $1: "},
	{`https response error StatusCode: 0, RequestID: [^,]*, (request send failed, |canceled, )?`, ""},
	{`https response error StatusCode: (\d+), RequestID: , (deserialization failed, )?`, "status $1: "},
	{`https response error StatusCode: (\d+), RequestID: ([^,]*), `, "status $1, request $2: "},
	{`\b(Get|Head|Post|Put|Delete) "([^"]*)": `, "$2: "},
	{`failed to receive message: (invalid body length: .*|unexpected EOF)`, "the server does not speak the PostgreSQL protocol"},
	{`(?m): EOF$`, ": the connection was closed without an answer"},
	{`\bunexpected EOF\b`, "it ends too early"},
	{`\bcontext canceled\b`, "it was interrupted"},
	{"cannot parse `([^`]*)`: failed to parse as keyword/value \\(invalid keyword/value\\)", `"$1" is neither a URL such as postgres://user@host/database nor a list such as host=… dbname=…`},
	{"cannot parse `([^`]*)`: (?:failed to [a-z A-Z]* \\(([^)]*)\\)|(invalid port))", `"$1" is wrong: $2$3`},
	{`(timeout: )?context deadline exceeded( \(Client\.Timeout exceeded while awaiting headers\))?`, "there was no response before the timeout"},
}

// goPatterns compiles the patterns of goWords on first use, because they are needed only when a command fails.
var goPatterns = sync.OnceValue(func() (list []*regexp.Regexp) {
	for _, w := range goWords {
		list = append(list, regexp.MustCompile(w[0]))
	}
	return list
})

// Plain returns the text of an error with plainer replacements for the texts of Go's libraries.
func Plain(err error) string {
	text := err.Error() + explainPermission(err)
	for i, pattern := range goPatterns() {
		text = pattern.ReplaceAllString(text, goWords[i][1])
	}
	return joinLines(explainPathKinds(text))
}

// wrongKind matches an error about a file where a directory should be, or about a directory where a file should be.
var wrongKind = regexp.MustCompile(`(\S+): (not|is) a directory`)

// explainPathKinds replaces "not a directory" and "is a directory" by advice. Go also reports "not a directory" if a
// parent of the path is a file.
func explainPathKinds(text string) string {
	return wrongKind.ReplaceAllStringFunc(text, func(said string) string {
		path, says, _ := strings.Cut(said, ": ")
		if says == "is a directory" {
			return path + " is a directory: name a file"
		}
		for at := path; at != filepath.Dir(at); at = filepath.Dir(at) {
			if info, err := os.Stat(at); err == nil && !info.IsDir() {
				return at + " is not a directory: name one"
			}
		}
		return path + " is not a directory: name one"
	})
}

// joinLines joins the lines of an error with semicolons. It omits repeated texts, which occur in errors about several
// attempts or addresses.
func joinLines(text string) string {
	first, rest, _ := strings.Cut(text, "\n\t")
	for _, line := range strings.Split(rest, "\n\t") {
		if !strings.Contains(first, strings.TrimSpace(line)) {
			first += "; " + strings.TrimSpace(line)
		}
	}
	return first
}
