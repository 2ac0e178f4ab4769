// Package wire has what requests and answers look like on the way: bodies and parameters are decoded and checked, entries and
// problems are encoded, lists continue at cursors, answers have ETags and codings. It knows no route, no caller and no handler.
//
// The files read in layers; each uses only those above it.
//
//	jsonstring.go, elements.go, numbers.go, requestid.go   JSON as text: strings, outlines, wide numbers as strings; ids of requests
//	document.go                                            the JSON of documents of package api
//	problems.go, problem.go                                the table of problems; the only place where an error becomes an answer
//	query.go, decode.go, patch.go                          parameters, bodies, merge patches
//	cursor.go, coding.go, etag.go, entry.go                where a list continues; compression; what an answer is known by; entries
//	changes.go                                             the change log
package wire
