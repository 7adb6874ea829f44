package safetensors

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Index maps each tensor to one of several files, as in "model.safetensors.index.json".
type Index struct {
	Files map[string]string // keyed by tensor name; file names in the same folder
}

const (
	maxIndex = maxHeader
	maxDepth = 64 // nesting depth of the members that are skipped
)

// ParseIndex parses an index: a JSON object whose "weight_map" maps names of tensors to names of
// files. It skips other members, and does not check that numbers and words in them are valid JSON.
// It returns an error if the text exceeds 100 MB or is otherwise not valid JSON. It also returns
// an error if "weight_map" is missing or occurs twice, if a tensor occurs twice, or if a file is
// not in the folder of the index.
func ParseIndex(data []byte) (*Index, error) {
	if len(data) > maxIndex {
		return nil, fmt.Errorf("safetensors: index of %d bytes: limit is %d", len(data), maxIndex)
	}
	s := scanner{text: data}
	x := &Index{}
	err := s.object(func(key string) error {
		if key != "weight_map" {
			return s.skip(0)
		}
		if x.Files != nil {
			return s.errorf("weight_map appears twice")
		}
		x.Files = map[string]string{}
		return s.object(func(name string) error {
			file, err := s.string()
			if err != nil {
				return err
			}
			if _, twice := x.Files[name]; twice {
				return s.errorf("tensor %.100q: name appears twice", name)
			}
			if file == "" || file == "." || file == ".." || strings.ContainsAny(file, "/\\:\x00") {
				return s.errorf("tensor %.100q: %.100q is not a file in the folder of the index", name, file)
			}
			x.Files[name] = file
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	if s.space(); s.at < len(s.text) {
		return nil, s.unexpected("end of index")
	}
	if x.Files == nil {
		return nil, fmt.Errorf("safetensors: index has no weight_map")
	}
	return x, nil
}

// Encode returns the text of the index, which [ParseIndex] reads. total is the size of all tensors
// in bytes. Encode returns an error if a name is not UTF-8.
func (x *Index) Encode(total int64) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\n  \"metadata\": {\"total_size\": %d},\n  \"weight_map\": {", total)
	for i, name := range slices.Sorted(maps.Keys(x.Files)) {
		if !utf8.ValidString(name) || !utf8.ValidString(x.Files[name]) {
			return nil, fmt.Errorf("safetensors: tensor %.100q: name is not UTF-8", name)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n    ")
		writeString(&b, name)
		b.WriteString(": ")
		writeString(&b, x.Files[name])
	}
	b.WriteString("\n  }\n}\n")
	return b.Bytes(), nil
}

// skip skips a JSON value at nesting depth `depth`. It returns an error if a part of the value is
// deeper than maxDepth.
func (s *scanner) skip(depth int) error {
	if depth > maxDepth {
		return s.errorf("more than %d values in one another", maxDepth)
	}
	switch c := s.next(); c {
	case '"':
		_, err := s.string()
		return err
	case '{':
		return s.object(func(string) error { return s.skip(depth + 1) })
	case '[':
		s.at++
		if s.next() == ']' {
			s.at++
			return nil
		}
		for {
			if err := s.skip(depth + 1); err != nil {
				return err
			}
			if s.next() != ',' {
				return s.expect(']')
			}
			s.at++
		}
	}
	start := s.at
	for s.at < len(s.text) && strings.IndexByte("+-.0123456789abcdefghijklmnopqrstuvwxyzE", s.text[s.at]) >= 0 {
		s.at++
	}
	if s.at == start {
		return s.unexpected("a value")
	}
	return nil
}
