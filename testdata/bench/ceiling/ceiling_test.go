package ceiling_test

import (
	"testing"
	"time"

	"edgetable/core/protocol"
	"edgetable/core/sharedkey"
	"edgetable/functions/edgetable/load"
	"edgetable/functions/edgetable/load/wire"
	"edgetable/testdata/bench/ceiling"
)

// TestVerifies checks that a ceiling server refuses wrong signatures. So it really computes the HMAC.
func TestVerifies(t *testing.T) {
	t.Parallel()
	h, err := ceiling.New(ceiling.Null, "", wire.Development("a"), "t", load.Layout{})
	if err != nil {
		t.Fatal(err)
	}
	date := sharedkey.FormatDate(time.Unix(1e9, 0))
	sign := func(path string) string {
		return wire.Development("a").Keys[0].Authorization(sharedkey.SharedKeyLite, "a", sharedkey.Request{Path: path, XMSDate: date})
	}
	for _, tt := range []struct {
		name, target, authorization string
		want                        int
	}{
		{"right", "/a/t", sign("/a/t"), 204},
		{"the query is not signed", "/a/t?x=1", sign("/a/t"), 204},
		{"another path", "/a/t", sign("/a/u"), 403},
		{"none", "/a/t", "", 403},
		{"another account", "/a/t", "SharedKeyLite b:" + sign("/a/t")[len("SharedKeyLite a:"):], 403},
		{"cut short", "/a/t", sign("/a/t")[:40], 403},
		{"not base64", "/a/t", "SharedKeyLite a:!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!=", 403},
	} {
		r := &protocol.Request{Method: "POST", Target: tt.target, Header: protocol.Header{
			"X-Ms-Date": {date}, "Authorization": {tt.authorization},
		}}
		if got := h.Serve(t.Context(), r).Status; got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestUnknownKind(t *testing.T) {
	t.Parallel()
	if _, err := ceiling.New("tall", t.TempDir(), wire.Development("a"), "t", load.Layout{}); err == nil {
		t.Error("an unknown kind was accepted")
	}
}
