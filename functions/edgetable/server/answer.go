package server

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// writeAnswer writes a string as plain text, and any other value as JSON.
func writeAnswer(w http.ResponseWriter, v any, err error) {
	text, plain := v.(string)
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	case plain:
		fmt.Fprint(w, text)
	default:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
}
