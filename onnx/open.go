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

// Options change a model while it is read.
type Options struct {
	// Inputs give inputs another shape, as in "1x3x224x224" or "Nx3xHxW".
	Inputs map[string]string
	// Dims fix symbols, as in "4", or bound them, as in "1..64".
	Dims map[string]string
	// Outputs are the values to compute, any of the graph's: only what they need
	// is imported, inputs included. None stands for the model's outputs.
	Outputs []string
	// Custom finds operators that the table of package op does not have, by domain
	// and name; nil stands for none.
	Custom func(domain, name string) (CustomOp, bool)
}

// CustomOp imports an operator that the caller brings.
type CustomOp func(ir.Importer) ([]*ir.Value, error)

// Model is an imported model.
type Model struct {
	Name string // the file's, without its extension
	File string // the file's base name
	Sum  string // SHA-256 of the file, in hexadecimal
	Doc  string
	Meta rt.Meta
	// Module has the function "forward".
	Module *ir.Module
	// Limits are the largest extents that Options.Dims allow, by symbol.
	Limits map[string]int
	// Nodes is the number of nodes in the graph.
	Nodes int
	// Operators counts the graph's operators.
	Operators map[string]int
	// Warnings tell what was passed over, a line each.
	Warnings []string
}

// maxFile is the largest file that is read: a protocol buffer cannot be larger.
const maxFile = 2 << 30

// Open reads the model in a file. External data is looked for beside it. The
// error joins all problems, one line each.
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

// readFile reads a regular file of a bounded size.
func readFile(path string) ([]byte, error) {
	data, err := file.Read(path, maxFile)
	if err == nil && len(data) == 0 {
		err = errors.New("is empty")
	}
	return data, err
}

// Read reads a model from the bytes of a file called name, which must not
// change afterwards. External data is looked for in root, which may be nil.
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
