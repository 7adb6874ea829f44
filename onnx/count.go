package onnx

import (
	"path/filepath"

	"github.com/burngen/burngen/onnx/internal/wire"
)

// CountNodes returns the number of nodes in a file's graph, those of functions
// and of graphs within nodes not counted.
func CountNodes(path string) (int, error) {
	data, err := readFile(path)
	if err != nil {
		return 0, lineError(filepath.Base(path), err)
	}
	m, err := wire.ReadModel(data, wire.Limits{})
	if err != nil {
		return 0, lineError(filepath.Base(path), err)
	}
	return len(m.Graph.Nodes), nil
}
