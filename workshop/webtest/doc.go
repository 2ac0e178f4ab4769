// Package webtest looks at the pages as people do: in a real browser, against a real server with the demo.
//
// The browser is Chromium, fetched like the servers or from PATH. Each test opens a tab of its own, which fails it for what
// no page may do: an error in the console, a request to another host.
package webtest
