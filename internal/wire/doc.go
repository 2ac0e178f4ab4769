// Package wire has the form of requests and answers: it decodes and checks bodies and parameters, encodes entries and problems,
// continues lists at cursors, and makes ETags and codings of answers. It knows no route, no caller and no handler.
//
// The files read in layers; each uses only the layers before it.
//
//	jsonstring.go, elements.go, numbers.go, requestid.go   JSON as text: strings, outlines, wide numbers as strings; ids of requests
//	document.go                                            the JSON of documents of package api
//	problems.go, problem.go                                the table of problems; the only place where an error becomes an answer
//	query.go, decode.go, patch.go                          parameters, bodies, merge patches
//	cursor.go, coding.go, etag.go, entry.go                where a list continues; compression; tags of answers; entries
//	changes.go                                             the change log
package wire
