package rt

// What burngen calls tensors of weights files that are not the model's own begins so.
const (
	// ConstPrefix begins the names of the model's constants.
	ConstPrefix = "const/"
	// PreparedPrefix begins the names of what kernels read, made of the model's weights.
	PreparedPrefix = "prepared/"
)

// SourcesPrefix begins the keys of metadata that hold a digest of the weights which a
// prepared tensor was made of: "burngen.sources:NAME".
const SourcesPrefix = "burngen.sources:"
