// Package tensors reads and writes files of tensors. The processes of a comparison exchange arguments and results in
// these files. It does not interpret the tensors.
//
// A file begins with a line that has the number of its tensors. A line for each tensor follows:
// element type, size in bytes, rank, extents, name, separated by single spaces. The name may
// contain spaces. Then come the elements of all tensors, little-endian. The element types are
// float64, float32, float16, bfloat16, int64 … int8, uint64 … uint8 and bool. The type "other"
// marks a result that is not a tensor of these types; it has no bytes.
package tensors

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Tensor is a named tensor.
type Tensor struct {
	Name, Type string
	Shape      []int
	Data       []byte
}

// Other is the type of a result that files cannot hold.
const Other = "other"

// Write writes a file. It returns an error if a name contains a line break, or if writing fails.
func Write(path string, list []Tensor) error {
	var head bytes.Buffer
	fmt.Fprintln(&head, len(list))
	for _, t := range list {
		if strings.Contains(t.Name, "\n") {
			return fmt.Errorf("%q: a name of several lines", t.Name)
		}
		fmt.Fprintf(&head, "%s %d %d", t.Type, len(t.Data), len(t.Shape))
		for _, d := range t.Shape {
			fmt.Fprintf(&head, " %d", d)
		}
		fmt.Fprintf(&head, " %s\n", t.Name)
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	w.Write(head.Bytes())
	for _, t := range list {
		w.Write(t.Data)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// Read reads a file. The tensors share one buffer. It returns an error for a file that [Write]
// cannot have written.
func Read(path string) ([]Tensor, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	list, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return list, nil
}

var errBroken = errors.New("not a file of tensors")

func decode(data []byte) ([]Tensor, error) {
	line, data, ok := bytes.Cut(data, []byte("\n"))
	n, err := strconv.Atoi(string(line))
	if !ok || err != nil || n < 0 {
		return nil, errBroken
	}
	var list []Tensor
	var sizes []int
	for range n {
		line, data, ok = bytes.Cut(data, []byte("\n"))
		t, size, err := parse(string(line))
		if !ok || err != nil {
			return nil, errBroken
		}
		list, sizes = append(list, t), append(sizes, size)
	}
	for i, size := range sizes {
		if size > len(data) {
			return nil, errBroken
		}
		list[i].Data, data = data[:size:size], data[size:]
	}
	if len(data) > 0 {
		return nil, errBroken
	}
	return list, nil
}

// parse parses the line of a tensor in the head of a file. size is the length of its data in bytes.
func parse(line string) (t Tensor, size int, err error) {
	number := func() (n int) {
		field, rest, ok := strings.Cut(line, " ")
		if n, err = strconv.Atoi(field); !ok || n < 0 {
			err = errBroken
		}
		line = rest
		return n
	}
	t.Type, line, _ = strings.Cut(line, " ")
	if size = number(); err != nil {
		return t, 0, err
	}
	for rank := number(); len(t.Shape) < rank && err == nil; {
		t.Shape = append(t.Shape, number())
	}
	t.Name = line
	return t, size, err
}
