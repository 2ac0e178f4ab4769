// Package openapi has no code: its module pins the generator that make openapi runs, and what generated clients import.
package openapi

import _ "github.com/oapi-codegen/runtime"
