// Package pages serves the web pages: the public boards, a board's page, the console.
//
// It renders what a reader without JavaScript needs, from answers of the public API, which it asks in the same process
// and as the reader; so a page shows what the reader may see, and costs what the reader may cost. The scripts of web/,
// built into the folder built and embedded, do the rest.
package pages
