package rt

// EnforceVersion makes generated code compile only with a runtime that can run it. Code of version
// n contains
//
//	const (
//		_ = rt.EnforceVersion(n - rt.MinVersion) // else: generate again
//		_ = rt.EnforceVersion(rt.MaxVersion - n) // else: update burngen's runtime
//	)
//
// If the version is outside the range, a constant is negative and does not fit an unsigned type.
// The package then does not compile, and the comment of the line says what to do.
type EnforceVersion uint

// The versions of generated code.
const (
	// GenVersion is the version that this module's generator writes. It increases with every change
	// of the runtime that breaks packages generated earlier. It also increases with every change of
	// generated packages that makes them unusable with an older runtime. Since version 4,
	// kernels.spv has several modules.
	GenVersion = 4

	// MinVersion is the oldest version that this runtime runs.
	MinVersion = 3

	// MaxVersion is the newest version that this runtime runs.
	MaxVersion = GenVersion
)
