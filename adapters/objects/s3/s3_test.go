package s3_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"edgetable/adapters/objects/s3"
)

// open opens a bucket whose requests the handler answers.
func open(t *testing.T, h http.HandlerFunc) *s3.Bucket {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "nobody")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "nothing")
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	b, err := s3.Open(t.Context(), "s3://bucket/place?region=here&endpoint="+server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestDeleteMissing checks that deleting a missing object succeeds with every answer that services give.
func TestDeleteMissing(t *testing.T) {
	b := open(t, func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "<Error><Code>NoSuchKey</Code></Error>", http.StatusNotFound)
	})
	if err := b.Delete(t.Context(), "name"); err != nil {
		t.Error(err)
	}
	b = open(t, func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "<Error><Code>NoSuchBucket</Code></Error>", http.StatusNotFound)
	})
	if b.Delete(t.Context(), "name") == nil {
		t.Error("an object of a missing bucket is deleted")
	}
}

// TestRedirected checks that a redirected write, for example to a sign-in page, is an error, because nothing was
// stored.
func TestRedirected(t *testing.T) {
	for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther} {
		b := open(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/login" {
				http.Redirect(w, r, "/login", status)
			}
		})
		if err := b.Put(t.Context(), "name", []byte("content")); err == nil {
			t.Errorf("after %d the object counts as stored", status)
		}
	}
}
