package azurite

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"
)

// Equivalent is a flag of Azurite and its counterpart in "edgetable serve".
type Equivalent struct {
	Flag  string
	Short string // one-letter form of the flag, or ""
	Here  string // corresponding flag of serve with its value, or "" if none is needed
	Why   string // reason why serve has no such flag, or another remark
}

// Equivalents are Azurite's flags for tables.
var Equivalents = []Equivalent{
	{"tableHost", "", "--listen HOST:PORT", ""},
	{"tablePort", "", "--listen HOST:PORT", ""},
	{"location", "l", "--data DIRECTORY", "edgetable needs its own directory; 'edgetable import' reads Azurite's"},
	{"inMemoryPersistence", "", "--memory", ""},
	{"debug", "d", "--log-level debug", "the log is on standard error"},
	{"silent", "s", "", "requests are not logged"},
	{"loose", "L", "", "edgetable ignores what Azure ignores"},
	{"skipApiVersionCheck", "", "", "every version is served"},
	{"disableTelemetry", "", "", "edgetable sends no telemetry"},
	{"disableProductStyleUrl", "", "--path-style", ""},
	{"cert", "", "--tls-cert FILE", "in PEM"},
	{"key", "", "--tls-key FILE", "in PEM"},
	{"pwd", "", "", "certificates must be files in PEM; 'openssl pkcs12' converts a PFX to them"},
	{"oauth", "", "--oidc-issuer URL", "edgetable verifies tokens, which Azurite does not"},
	{"tableKeepAliveTimeout", "", "", "idle connections are closed when new connections need room"},
	{"extentMemoryLimit", "", "", "it is for blobs and queues, which are not served"},
}

// Azurite's flags for blobs and queues are named by service and ending.
var (
	services = []string{"blob", "queue"}
	endings  = []string{"Host", "Port", "KeepAliveTimeout"}
)

// Hint returns a replacement for a flag of Azurite that serve does not have, or "" for other errors.
func Hint(err error) string {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return ""
	}
	name, letters := unknown.GetSpecifiedName(), unknown.GetSpecifiedShortnames()
	const also = "; 'edgetable azurite' accepts Azurite's flags unchanged"
	for _, e := range Equivalents {
		switch {
		case letters == "" && name != e.Flag, letters != "" && (e.Short == "" || letters != e.Short):
			continue
		case e.Here == "":
			return fmt.Sprintf("--%s of Azurite is not needed here: %s%s", e.Flag, e.Why, also)
		}
		return fmt.Sprintf("--%s of Azurite is %s here%s", e.Flag, e.Here, also)
	}
	for _, service := range services {
		if slices.ContainsFunc(endings, func(ending string) bool { return name == service+ending }) {
			return fmt.Sprintf("--%s of Azurite is not needed here: %ss are not served%s", name, service, also)
		}
	}
	return ""
}
