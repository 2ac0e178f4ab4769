// Package deploy holds what the service is run with elsewhere, and the tests that hold it to the tools it is for.
package deploy
