package serve

import (
	"github.com/burngen/burngen/runtime/rt"
)

// Model is a model that a server offers.
type Model struct {
	// Name is the model's name in requests. Methods after the first are separate models in the protocol,
	// with names such as NAME.Method.
	Name string
	// File is the weights file of a package that does not have its weights in the program.
	File string
	// Load loads the model from File. The server calls it when it starts, and when a client loads the
	// model again.
	Load func(file string) (rt.Served, error)
	// Weights is a file of weights that replace the model's own, "" for none. The server reads it
	// after Load, and again for new weights.
	Weights string
}

// Package returns the model of a package that was generated with -serve. load is the package's function
// Load.
func Package[M interface{ Served() rt.Served }](name string, load func() (M, error)) Model {
	return PackageFile(name, "", func(string) (M, error) { return load() })
}

// PackageFile is like [Package] for a package whose weights are in a file. load is the package's function
// Load, which gets the path.
func PackageFile[M interface{ Served() rt.Served }](name, path string, load func(path string) (M, error)) Model {
	return Model{Name: name, File: path, Load: func(file string) (rt.Served, error) {
		m, err := load(file)
		if err != nil {
			return rt.Served{}, err
		}
		return m.Served(), nil
	}}
}
