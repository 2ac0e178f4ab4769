// Package openapi has no code: its module pins the generator that make openapi runs, and the imports of generated clients.
package openapi

import _ "github.com/oapi-codegen/runtime"
