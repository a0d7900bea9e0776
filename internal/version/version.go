// Package version states the program's version.
package version

// Version is recorded with every result and checkpoint.
const Version = "0.4.0"
