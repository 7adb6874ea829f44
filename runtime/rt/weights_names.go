package rt

// These are prefixes of names in weights files. Tensors with such names are not the model's
// own weights.
const (
	// ConstPrefix starts the names of the model's constants.
	ConstPrefix = "const/"
	// PreparedPrefix starts the names of packed weights, which kernels read.
	PreparedPrefix = "prepared/"
)

// SourcesPrefix begins the keys of metadata entries "burngen.sources:NAME". Such an entry is a
// digest of the weights from which the packed tensor NAME was computed.
const SourcesPrefix = "burngen.sources:"
