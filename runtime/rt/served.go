package rt

// Served describes the model of a generated package to a server. The file serve.go of the package
// returns it.
type Served struct {
	// Name is the model's name.
	Name string
	// Methods are the methods that a server offers. The first is Forward, if the model has it.
	Methods []ServedMethod
	// Open opens a session. It returns a pointer to the Session of the package.
	Open func() (any, error)
	// Swap is the method Swap of the package's Model. It is nil if the package cannot take other
	// weights.
	Swap func(raw *Weights) error
}

// ServedMethod is a method that the Model and the Session of a generated package have.
type ServedMethod struct {
	Name            string // the method's name, such as "Forward"
	Inputs, Outputs []Port // in the order of the method's parameters and results
	// Batch is the symbol that every input and output has as its first extent, and no other extent
	// has. It is "" if there is no such symbol.
	Batch string
	// Stateful says that sessions keep states from one call of the method to the next.
	Stateful bool
}
