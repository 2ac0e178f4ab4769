// Package cache answers reads from the nearest layer that can, so that MySQL gets few questions. Reader keeps answers
// in the process, asks periods that are whole in memory (package resident) and copies of the top N in Redis (package
// topn), and ranks several boards as one. Catalog knows boards and periods by name, Loader keeps profiles and lists of
// friends. Every layer may be lost at any moment without losing anything.
//
// The files read in layers; each uses only files above it and on its own line.
//
//	observer.go, questions.go, options.go                            the observer of metrics; questions; the options of a Reader
//	calls.go, confirmation.go                                        work that callers share; when kept answers were last known to be true
//	layer.go                                                         a layer, and a question on its way through all of them
//	kept.go, memory.go                                               layers: answers of before, whole periods in memory
//	reader.go, freshness.go, copies.go, database.go                  the Reader, its judge, and the layers that it asks last: Redis, MySQL
//	combined.go, past.go                                             several boards as one; the past of a member
//	catalog.go, catalog_memo.go, catalog_labels.go, catalog_past.go  boards and periods by name
//	catalog_known.go                                                 which boards are known here
//	loader.go, table.go                                              profiles and lists of friends; small tables, all rows
package cache
