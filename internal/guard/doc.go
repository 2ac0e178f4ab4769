// Package guard decides which requests get in, and how much they may take: keys and scopes, quotas, how many requests are
// served at once, the memory of bodies on their way in and out, and the pace of refusals. It knows requests and problems
// (package wire), and nothing of routes or handlers.
package guard
