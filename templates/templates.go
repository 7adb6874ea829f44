// Package templates holds text that the generator fills in. It does not know any target, or what is
// filled in.
//
// The files in skeleton are a Go package that compiles: the parts of a generated package that do
// not depend on the model. An identifier that ends in an underscore is a placeholder. If an
// identifier has an underscore inside, only the part before the underscore is printed. So a
// declaration can have two versions. Package emit fills in the placeholders.
package templates

import "embed"

// Skeleton holds the files of a generated package's skeleton.
//
//go:embed skeleton/*.go
var Skeleton embed.FS

// Web holds the files for browsers: a page, a module, and the script of a worker. The generator puts a script of
// the Go toolchain before the worker's script.
//
//go:embed web
var Web embed.FS
