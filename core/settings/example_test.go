package settings_test

import (
	"fmt"

	"edgetable/core/settings"
)

// Example allows a page of a shop to read the tables of its account.
func Example() {
	p := settings.Defaults()
	err := p.Update([]byte(`<StorageServiceProperties><Cors><CorsRule>
		<AllowedOrigins>https://shop.example</AllowedOrigins>
		<AllowedMethods>GET</AllowedMethods>
		<AllowedHeaders>x-ms-*,authorization</AllowedHeaders>
		<ExposedHeaders>ETag</ExposedHeaders>
		<MaxAgeInSeconds>3600</MaxAgeInSeconds>
	</CorsRule></Cors></StorageServiceProperties>`))
	fmt.Println(err)

	_, ok := p.CORS.Preflight("https://shop.example", "GET", "x-ms-date")
	fmt.Println("may read:", ok)
	_, ok = p.CORS.Preflight("https://shop.example", "DELETE", "x-ms-date")
	fmt.Println("may delete:", ok)
	for _, field := range p.CORS.Actual("https://shop.example", "GET", nil) {
		fmt.Println(field.Name+":", field.Value)
	}

	err = p.Update([]byte(`<StorageServiceProperties><Cors><CorsRule><AllowedMethods>get</AllowedMethods></CorsRule></Cors></StorageServiceProperties>`))
	fmt.Println(err)

	// Output:
	// <nil>
	// may read: true
	// may delete: false
	// Access-Control-Allow-Origin: https://shop.example
	// Access-Control-Allow-Credentials: true
	// Access-Control-Expose-Headers: ETag
	// Vary: Origin
	// InvalidXmlDocument: XML specified is not syntactically valid. StorageServiceProperties/Cors/CorsRule[1]/AllowedMethods: a method must be one of DELETE, GET, HEAD, MERGE, POST, OPTIONS, PUT, PATCH, TRACE and CONNECT.
}
