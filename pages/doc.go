// Package pages serves what people look at: the public boards, a board's page, the console.
//
// A page is made here as far as a reader without JavaScript needs it, from the answers of the public API, which is asked in
// the same process and in the reader's name; so it shows what the reader may see, and costs what the reader may cost. The
// rest is done by the scripts of web/, built into the folder built and embedded.
package pages
