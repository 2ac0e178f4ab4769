package manual

import "bytes"

// based adds the base path to the addresses in a page.
func based(page []byte, base string) []byte {
	if base == "" {
		return page
	}
	return bytes.ReplaceAll(page, []byte(` href="/`), []byte(` href="`+base+`/`))
}

// basedDocument replaces the root in the OpenAPI document, in JSON or in YAML, by the base path, and puts it before the types of
// problems.
func basedDocument(doc []byte, base string) []byte {
	if base == "" {
		return doc
	}
	for _, before := range []string{`"`, "- ", "type: "} { // of types, and not of the path of their pages
		doc = bytes.ReplaceAll(doc, []byte(before+"/problems/"), []byte(before+base+"/problems/"))
	}
	doc = bytes.ReplaceAll(doc, []byte(`"`+base+"/problems/{code}"), []byte(`"/problems/{code}`))
	doc = bytes.Replace(doc, []byte(`"servers":[{"url":"/"}]`), []byte(`"servers":[{"url":"`+base+`"}]`), 1)
	return bytes.Replace(doc, []byte("servers:\n  - url: /\n"), []byte("servers:\n  - url: "+base+"\n"), 1)
}
