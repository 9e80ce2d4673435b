package profiles

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os/exec"
	"runtime"
	"strings"

	"edgetable/adapters/client/remote"
)

// Profile is a named table service. Its connection string may lack the key.
type Profile struct {
	Connection string `json:"connection,omitempty"`
	KeyEnv     string `json:"keyEnvironment,omitempty"` // environment variable with the key
	KeyCommand string `json:"keyCommand,omitempty"`     // command that prints the key
	ReadOnly   bool   `json:"readOnly,omitempty"`       // if true, commands and the explorer must not write
	Color      string `json:"color,omitempty"`          // color of the explorer for this profile

	stored json.RawMessage // JSON of the profile in the file; nil for a new profile
}

// UnmarshalJSON decodes a profile and retains the JSON for MarshalJSON.
func (one *Profile) UnmarshalJSON(text []byte) error {
	type fields Profile
	one.stored = bytes.Clone(text)
	return json.Unmarshal(text, (*fields)(one))
}

// MarshalJSON returns the JSON in the file, if any, because it may contain fields of later versions.
func (one Profile) MarshalJSON() ([]byte, error) {
	type fields Profile
	if one.stored != nil {
		return one.stored, nil
	}
	return json.Marshal(fields(one))
}

// WithoutKey returns the connection string, with a placeholder for a key that is stored elsewhere.
func (one Profile) WithoutKey() string {
	if one.Connection != "" && cmp.Or(one.KeyEnv, one.KeyCommand) != "" {
		return withSecret(one.Connection, "a2V5")
	}
	return one.Connection
}

// Endpoint returns the URL of the service. If the connection string is invalid, it returns the error text. If the
// connection string is stored elsewhere, it returns "".
func (one Profile) Endpoint() string {
	connection := one.WithoutKey()
	if connection == "" {
		return ""
	}
	e, err := remote.ParseConnection(connection)
	if err != nil {
		return err.Error()
	}
	return e.String()
}

// Colors are the colors for the explorer.
var Colors = []string{"none", "red", "orange", "yellow", "green", "blue", "purple", "gray"}

// ConnectionString returns the connection string with the key. Its errors contain the given name of the profile.
func (one Profile) ConnectionString(name string, environment func(string) string) (string, error) {
	var secret string
	switch {
	case one.KeyEnv != "":
		if secret = environment(one.KeyEnv); secret == "" {
			return "", fmt.Errorf("profile %s: $%s is not set", name, one.KeyEnv)
		}
	case one.KeyCommand != "":
		shell := []string{"/bin/sh", "-c"}
		if runtime.GOOS == "windows" {
			shell = []string{"cmd", "/C"}
		}
		command := exec.Command(shell[0], shell[1], one.KeyCommand)
		var says bytes.Buffer
		command.Stderr = &says
		out, err := command.Output()
		if err != nil {
			return "", fmt.Errorf("profile %s: %s: %w: %s", name, one.KeyCommand, err, strings.TrimSpace(says.String()))
		}
		secret = strings.TrimSpace(string(out))
	default:
		return one.Connection, nil
	}
	if one.Connection == "" {
		return secret, nil
	}
	return withSecret(one.Connection, secret), nil
}

// withSecret adds a key or a SAS to a connection string.
func withSecret(connection, secret string) string {
	name := ";AccountKey="
	if strings.Contains(secret, "sig=") {
		name = ";SharedAccessSignature="
	}
	return strings.TrimSuffix(connection, ";") + name + secret
}
