// Package webtest looks at the pages as people do: in a real browser, against a real server with the demo.
//
// The browser is Chromium, fetched like the servers or from PATH. Each test opens a separate tab, which fails the test if
// the page breaks a rule for all pages: an error in the console, a request to another host.
package webtest
