// Package skeleton is the part of a generated package that does not depend on the model. See
// package templates.
package skeleton

import "github.com/burngen/burngen/runtime/rt"

const (
	// This code needs a compatible version of the runtime.
	_ = rt.EnforceVersion(version_ - rt.MinVersion)
	_ = rt.EnforceVersion(rt.MaxVersion - version_)
)
