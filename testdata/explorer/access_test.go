package explorer

import (
	"net/http"
	"strings"
	"testing"
)

// TestToken checks that a token that the page makes permits what the page says about it, and that
// the server accepts the token.
func TestToken(t *testing.T) {
	t.Parallel()
	ways(t, func(b *tab, w way) {
		s := serve(b.T)
		s.fill("people", entity{"PartitionKey": "a", "RowKey": "1", "Name": "Ada"}, entity{"PartitionKey": "b c", "RowKey": "1"})
		b.enter(w, s, "people")
		b.seeText(`[role="gridcell"]`, "Ada")
		b.click(at("access-open"))
		b.seeText(at("sas-words"), "can read entities of the table people")
		b.click(at("sas-permissions-d"))
		b.seeText(at("sas-words"), "can read and delete entities of the table people")
		b.click("details > summary")
		b.fill(at("sas-fromPk"), "b c")
		b.seeText(at("sas-words"), `from PartitionKey "b c"`)
		b.click(at("sas-make"))
		b.see(at("sas-url"))
		b.shot("token-" + string(w))
		token := js[string](b, `document.querySelector(%s).innerText`, at("sas-url"))
		get := func(token, path string) int {
			resp, err := http.Get(strings.Replace(token, "/people?", path+"?$format=json&", 1))
			if err != nil {
				b.Fatal(err)
			}
			resp.Body.Close()
			return resp.StatusCode
		}
		if status := get(token, "/people(PartitionKey='b%20c',RowKey='1')"); status != 200 {
			b.Errorf("the token reads what it permits: %d", status)
		}
		if status := get(token, "/people(PartitionKey='a',RowKey='1')"); status == 200 {
			b.Error("the token reads what is before its first key")
		}
		b.click(at("sas-account"))
		b.seeText(at("sas-words"), "read entities of all tables; list tables")
		b.click(at("sas-make"))
		b.wait(`document.querySelector(%s)?.innerText.includes("srt=co")`, at("sas-url"))
		account := js[string](b, `document.querySelector(%s).innerText`, at("sas-url"))
		if status := get(strings.Replace(account, "/?", "/people?", 1), "/Tables"); status != 200 {
			b.Errorf("the token of the account lists tables: %d", status)
		}
		b.quiet()
	})
}

// TestPolicies checks that the page stores access policies and CORS rules. A token with the name of
// a policy must become invalid when the policy is removed.
func TestPolicies(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.fill("people", entity{"PartitionKey": "a", "RowKey": "1", "Name": "Ada"})
	b := newTab(t)
	b.enter("gateway", s, "people")
	b.seeText(`[role="gridcell"]`, "Ada")
	b.click(at("access-open"))
	b.click(at("access-policies"))
	b.click(at("policy-add"))
	b.fill(at("policy-id"), `a "<b>&`)
	b.fill(at("policy-expiry"), "2099-01-01T00:00:00Z")
	b.click(at("policy-save"))
	b.seeText(`[data-test="policies"]`, "Saved")
	b.shot("policies")
	b.click(at("access-token"))
	b.see(at("sas-policy"))
	b.choose(at("sas-policy"), `a "<b>&`)
	b.seeText(at("sas-words"), "stored access policy")
	b.click(at("sas-make"))
	b.see(at("sas-url"))
	token := js[string](b, `document.querySelector(%s).innerText`, at("sas-url"))
	resp, err := http.Get(strings.Replace(token, "/people?", "/people()?$format=json&", 1))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 200 {
		t.Errorf("the token of the policy: %d", resp.StatusCode)
	}
	b.click(at("access-cors"))
	b.click(at("cors-page"))
	b.fill(at("cors-origins"), "https://app.example.com")
	b.click(at("service-save"))
	b.seeText(`[data-test="service"]`, "Saved")
	b.shot("cors")
	req, err := http.NewRequestWithContext(t.Context(), "OPTIONS", s.endpoint+"/Tables", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Origin", "https://app.example.com")
	req.Header.Set("Access-Control-Request-Method", "MERGE")
	req.Header.Set("Access-Control-Request-Headers", "authorization,x-ms-date,if-match")
	resp, err = http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 200 || resp.Header.Get("Access-Control-Allow-Origin") != "https://app.example.com" {
		t.Errorf("the preflight: %d %v", resp.StatusCode, resp.Header)
	}
	b.click(at("access-service"))
	b.seeText(`[data-test="service"]`, "By the hour")
	b.click(`[data-test="service"] input[type="checkbox"]`)
	b.click(at("service-save"))
	b.seeText(`[data-test="service"]`, "Saved")
	b.quiet()
}
