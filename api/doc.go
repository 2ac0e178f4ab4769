// Package api is the contract of the HTTP API: its OpenAPI document, and the Go types of the documents that requests and answers
// carry. Package client has an alias of each type that its calls take or return.
package api

import _ "embed"

//go:embed openapi.yaml
var openAPI string

// OpenAPI returns openapi.yaml.
func OpenAPI() []byte { return []byte(openAPI) }
