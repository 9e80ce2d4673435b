package oidc_test

import (
	"context"
	"fmt"

	"edgetable/adapters/identity/oidc"
	"edgetable/core/protocol"
)

// Example configures a server to accept the tokens of one Entra tenant. The issuer is not contacted before the first
// token arrives.
func Example() {
	verifier, err := oidc.Optional(context.Background(), oidc.Options{
		Issuer:    "https://sts.windows.net/00000000-0000-0000-0000-000000000000/",
		Audiences: []string{"https://storage.azure.com", "https://storage.azure.com/"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	var handler protocol.Handler
	verifier.Install(&handler)

	_, err = handler.Bearer(context.Background(), "not a token")
	fmt.Println(err)
	// Output: oidc: not a signed token with the required claims
}

// ExampleOptional configures a development server for a Keycloak on the same machine. The groups of Keycloak are used
// as roles.
func ExampleOptional() {
	_, err := oidc.Optional(context.Background(), oidc.Options{
		Issuer:           "http://localhost:8080/realms/dev",
		Audiences:        []string{"edgetable"},
		RolesClaim:       "groups",
		ReaderRoles:      []string{"/developers"},
		ContributorRoles: []string{"/developers/leads"},
	})
	fmt.Println(err)

	_, err = oidc.Optional(context.Background(), oidc.Options{
		Issuer:    "http://keycloak.example/realms/dev",
		Audiences: []string{"edgetable"},
	})
	fmt.Println(err)
	// Output:
	// <nil>
	// oidc: issuer "http://keycloak.example/realms/dev": must be an https URL (http is for loopback hosts only)
}
