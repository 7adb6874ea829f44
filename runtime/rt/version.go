package rt

// EnforceVersion ties generated code to a runtime that can run it. Code of
// version n holds
//
//	const (
//		_ = rt.EnforceVersion(n - rt.MinVersion) // else: generate again
//		_ = rt.EnforceVersion(rt.MaxVersion - n) // else: update burngen's runtime
//	)
//
// where a version outside the range is a negative constant, which does not fit
// an unsigned type: the package does not compile, and the line says what to do.
type EnforceVersion uint

// The versions of generated code.
const (
	// GenVersion is what this module's generator writes. It grows with every
	// change of the runtime that code generated before cannot be run on.
	GenVersion = 2

	// MinVersion is the oldest that this runtime runs.
	MinVersion = 2

	// MaxVersion is the newest that this runtime runs.
	MaxVersion = GenVersion
)
