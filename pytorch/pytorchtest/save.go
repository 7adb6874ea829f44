// Package pytorchtest writes files as PyTorch's torch.save does, for tests and examples.
package pytorchtest

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
)

// Tensor is a contiguous tensor of a dictionary.
type Tensor struct {
	Name    string
	Storage string // class of its storage, such as FloatStorage or LongStorage
	Shape   []int
	Data    []byte // little-endian
}

// Save returns the file that torch.save writes for a dict of the tensors, keyed by name. If key is
// not "", the file holds a dict whose only key leads to this dict. Save panics if an extent or the
// number of elements exceeds 2³¹−1.
func Save(key string, tensors ...Tensor) []byte {
	var b, pickle bytes.Buffer
	archive := zip.NewWriter(&b)
	add := func(name string, data []byte) {
		w, err := archive.CreateHeader(&zip.FileHeader{Name: "archive/" + name, Method: zip.Store})
		if err == nil {
			_, err = w.Write(data)
		}
		if err != nil {
			panic(err) // a buffer takes everything
		}
	}
	pickle.WriteString("\x80\x02}")
	if key != "" {
		pickle.WriteString(text(key) + "}")
	}
	for i, t := range tensors {
		shape, strides, n := "", "", 1
		for k := len(t.Shape) - 1; k >= 0; k-- {
			shape, strides = number(t.Shape[k])+shape, number(n)+strides
			n *= t.Shape[k]
		}
		storage := fmt.Sprint(i)
		fmt.Fprint(&pickle, text(t.Name), "ctorch._utils\n_rebuild_tensor_v2\n((", text("storage"), "ctorch\n", t.Storage, "\n",
			text(storage), text("cpu"), number(n), "tQ", number(0), "(", shape, "t(", strides, "t\x89)tRs")
		add("data/"+storage, t.Data)
	}
	if key != "" {
		pickle.WriteByte('s')
	}
	pickle.WriteByte('.')
	add("data.pkl", pickle.Bytes())
	add("version", []byte("3\n"))
	if err := archive.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// text returns the opcode that pushes a string.
func text(s string) string {
	return "X" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(s)))) + s
}

// number returns the opcode that pushes n, 0 ≤ n < 2³¹.
func number(n int) string {
	if n < 0 || n > math.MaxInt32 {
		panic(fmt.Sprintf("pytorchtest: %d is out of range", n))
	}
	return "J" + string(binary.LittleEndian.AppendUint32(nil, uint32(n)))
}
