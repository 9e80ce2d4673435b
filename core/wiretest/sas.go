package wiretest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"strings"

	"edgetable/core/wiretest/scene"
)

// signature signs a query as a shared access signature, and returns the query with the signature. It does not use
// package sas, because the test would then not notice errors in that package.
//
// AccountKey signs the query, unless the name of another key and a blank precede it: "wrong", "second", or an element
// of an earlier response such as 02<Value>.
func signature(text, account string, captured map[string]string) (string, error) {
	key := AccountKey
	query := text
	if i := strings.LastIndexByte(text, ' '); i >= 0 {
		query = text[i+1:]
		switch text[:i] {
		case "wrong":
			key = scene.WrongKey
		case "second":
			key = scene.SecondKey
		default:
			var err error
			if key, err = capture(text[:i], captured); err != nil {
				return "", err
			}
		}
	}
	secret, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		return "", err
	}
	toSign, err := stringToSign(query, account)
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(toSign))
	return query + "&sig=" + percentEncode(base64.StdEncoding.EncodeToString(mac.Sum(nil))), nil
}

func stringToSign(query, account string) (string, error) {
	v := make(map[string]string)
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		value, err := url.QueryUnescape(value)
		if err != nil {
			return "", err
		}
		v[strings.ToLower(name)] = value
	}
	lines := func(names ...string) string {
		values := make([]string, len(names))
		for i, name := range names {
			values[i] = v[name]
		}
		return strings.Join(values, "\n")
	}
	if v["ss"] != "" || v["srt"] != "" {
		s := account + "\n" + lines("sp", "ss", "srt", "st", "se", "sip", "spr", "sv") + "\n"
		if v["sv"] >= "2020-12-06" {
			s += v["ses"] + "\n"
		}
		return s, nil
	}
	v["resource"] = "/" + account + "/" + strings.ToLower(v["tn"])
	if v["sv"] >= "2015-02-21" {
		v["resource"] = "/table" + v["resource"]
	}
	switch {
	case v["skoid"] != "":
		return lines("sp", "st", "se", "resource", "skoid", "sktid", "skt", "ske", "sks", "skv", "skdutid", "sduoid", "sip", "spr", "sv", "spk", "srk", "epk", "erk"), nil
	case v["sv"] >= "2015-04-05":
		return lines("sp", "st", "se", "resource", "si", "sip", "spr", "sv", "spk", "srk", "epk", "erk"), nil
	}
	return lines("sp", "st", "se", "resource", "si", "sv", "spk", "srk", "epk", "erk"), nil
}
