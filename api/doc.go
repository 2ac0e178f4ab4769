// Package api is the contract of the HTTP API: its OpenAPI document, and the Go types of the documents that requests and answers
// carry. Package client has an alias of each type that its calls take or return.
package api

import _ "embed"

var (
	//go:embed openapi.yaml
	openAPI string
	//go:embed openapi.json
	openAPIJSON string // make generate-docs makes it of openapi.yaml
)

// OpenAPI returns openapi.yaml.
func OpenAPI() []byte { return []byte(openAPI) }

// OpenAPIJSON returns the same document as JSON.
func OpenAPIJSON() []byte { return []byte(openAPIJSON) }
