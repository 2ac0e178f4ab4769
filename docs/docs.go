// Package docs holds the documents of this folder, for the manual that a server shows.
package docs

import "embed"

// Files are the documents, Markdown.
//
//go:embed *.md decisions/*.md
var Files embed.FS
