package protocol

// verb is an HTTP method, or a set of HTTP methods.
type verb uint8

const (
	get verb = 1 << iota
	head
	put
	post
	merge
	patch
	del
)

// parseVerb returns the verb of a method, or 0 for an unsupported method.
func parseVerb(method string) verb {
	switch method {
	case "GET":
		return get
	case "HEAD":
		return head
	case "PUT":
		return put
	case "POST":
		return post
	case "MERGE":
		return merge
	case "PATCH":
		return patch
	case "DELETE":
		return del
	}
	return 0
}
