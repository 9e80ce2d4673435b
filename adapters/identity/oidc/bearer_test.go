package oidc

import (
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"edgetable/core/protocol"
	"edgetable/core/table"
)

func TestBearer(t *testing.T) {
	t.Parallel()
	is, c := newIssuer(t, ecSigner()), newClock()
	down := newIssuer(t)
	down.answer(http.NotFound)
	sign := func(roles ...string) string { return ecSigner().sign(is.claims(c, map[string]any{"roles": roles})) }
	for _, tt := range []struct {
		name  string
		is    *issuer
		token string
		want  protocol.Identity
		code  table.Code // error code of the protocol; "" for no error, or for an error without such a code
		cause error
	}{
		{"contributor", is, sign("StorageTableDataContributor"), protocol.Identity{ObjectID: "object", TenantID: "tenant", Audiences: []string{audience}, Contributor: true}, "", nil},
		{"reader", is, sign("StorageTableDataReader"), protocol.Identity{ObjectID: "object", TenantID: "tenant", Audiences: []string{audience}}, "", nil},
		{"known, but without a role: 403", is, sign(), protocol.Identity{}, table.AuthorizationPermissionMismatch, errNoRole},
		{"the issuer is down: 503, clients try again", down, ecSigner().sign(down.claims(c, nil)), protocol.Identity{}, table.ServerBusy, errUnavailable},
		{"unknown: 401, which the handler makes of it", is, "garbage", protocol.Identity{}, "", errMalformed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := tt.is.verifier(t, c).bearer(t.Context(), tt.token)
			if !reflect.DeepEqual(got, tt.want) || !errors.Is(err, tt.cause) {
				t.Errorf("%+v, %v; want %+v, %v", got, err, tt.want, tt.cause)
			}
			var code table.Code
			if e, ok := errors.AsType[*table.Error](err); ok {
				code = e.Code
				if strings.Contains(e.Message, "127.0.0.1") {
					t.Errorf("strangers are told the issuer's address: %s", e.Message)
				}
			}
			if code != tt.code {
				t.Errorf("code %q, want %q", code, tt.code)
			}
		})
	}
}
