// Package deploy has the files for running the service elsewhere, and tests of them with the tools that they are for.
package deploy
