package onnx

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/burngen/burngen/internal/file"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx/internal/wire"
	"github.com/burngen/burngen/runtime/rt"
)

// Options configures how a model is read.
type Options struct {
	// Inputs gives inputs another shape, such as "1x3x224x224" or "Nx3xHxW".
	Inputs map[string]string
	// Dims sets the value of symbols, as in "4", or their bounds, as in "1..64".
	Dims map[string]string
	// Outputs names the values to compute, which may be any values of the graph. Only the nodes and
	// inputs that they depend on are imported. If empty, the model's outputs are computed.
	Outputs []string
	// Custom returns the import function of an operator that package op does not have, by domain
	// and name. It may be nil.
	Custom func(domain, name string) (CustomOp, bool)
}

// CustomOp imports a node of an operator defined by the caller.
type CustomOp func(ir.Importer) ([]*ir.Value, error)

// Model is an imported model.
type Model struct {
	Name string // base name of the file without extension
	File string // base name of the file
	Sum  string // SHA-256 of the file, in hexadecimal
	Doc  string
	Meta rt.Meta
	// Module has the function "forward".
	Module *ir.Module
	// Limits maps symbols to the largest extents that Options.Dims allows.
	Limits map[string]int
	// Nodes is the number of nodes in the graph.
	Nodes int
	// Operators maps the graph's operators to the number of their nodes.
	Operators map[string]int
	// Warnings describes what was ignored, one line each.
	Warnings []string
}

// maxFile is the maximum size of a model file in bytes: the maximum of a protocol buffer.
const maxFile = 2 << 30

// Open reads and imports an ONNX file. It reads external data from the file's folder. If the model
// has problems, Open returns an error with one line for each of the first 100 problems.
func Open(path string, o Options) (*Model, error) {
	name := filepath.Base(path)
	data, err := readFile(path)
	if err != nil {
		return nil, lineError(name, err)
	}
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, lineError(name, file.Cause(err))
	}
	defer root.Close()
	return Read(name, data, root, o)
}

func readFile(path string) ([]byte, error) {
	data, err := file.Read(path, maxFile)
	if err == nil && len(data) == 0 {
		err = errors.New("is empty")
	}
	return data, err
}

// Read reads and imports a model from data, the bytes of an ONNX file. `name` is the file's name in
// errors. data must not change afterwards, because the model shares it. Read reads external data
// from root, which may be nil if the model has no external data. Errors are as for [Open].
func Read(name string, data []byte, root *os.Root, o Options) (*Model, error) {
	proto, err := wire.ReadModel(data, wire.Limits{})
	if err != nil {
		if !strings.HasPrefix(err.Error(), "not an ONNX model") {
			err = fmt.Errorf("not a readable ONNX model: %w", err)
		}
		return nil, lineError(name, err)
	}
	sum := sha256.Sum256(data)
	m := &Model{
		Name:      strings.TrimSuffix(name, filepath.Ext(name)),
		File:      name,
		Sum:       hex.EncodeToString(sum[:]),
		Doc:       proto.Doc,
		Module:    &ir.Module{},
		Limits:    map[string]int{},
		Nodes:     len(proto.Graph.Nodes),
		Operators: map[string]int{},
	}
	im := &importer{
		Model: m, proto: proto, options: o, outside: newOutside(root), symbols: newSymbols(), weights: newWeights(),
		captures: map[*wire.Graph][]string{}, reported: map[reportKey]bool{}, warned: map[string]bool{},
	}
	if err := im.run(); err != nil {
		return nil, err
	}
	return m, nil
}
