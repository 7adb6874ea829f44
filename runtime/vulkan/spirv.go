package vulkan

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
)

// shader holds properties of a SPIR-V module that drivers do not check.
type shader struct {
	words        []uint32
	capabilities []uint32
	// entry points for compute with a LocalSize, in order
	names []string
	// LocalSize of each entry point, by name
	blocks map[string][3]int
}

const (
	opEntryPoint    = 15
	opExecutionMode = 16
	opCapability    = 17
	opFunctionEnd   = 56
)

var errCutOff = errors.New("the code of SPIR-V is cut off")

// readShaders reads concatenated SPIR-V modules from little-endian words. It returns an error if
// the code is malformed, or if the version of a module is above 1.`highest`.
func readShaders(code []byte, highest uint32) ([]*shader, error) {
	if len(code)%4 != 0 || len(code) < 4*headerWords {
		return nil, fmt.Errorf("%d bytes are not a module of SPIR-V", len(code))
	}
	words := make([]uint32, len(code)/4)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(code[4*i:])
	}
	if words[0] != magic {
		return nil, fmt.Errorf("the code begins with 0x%08x, SPIR-V with 0x%08x", words[0], magic)
	}
	var all []*shader
	for len(words) > 0 {
		s, err := readShader(words, highest)
		if err != nil {
			return nil, err
		}
		all, words = append(all, s), words[len(s.words):]
	}
	return all, nil
}

// readShader reads the module at the start of words. Another module may follow it.
func readShader(words []uint32, highest uint32) (*shader, error) {
	if len(words) < headerWords {
		return nil, errCutOff
	}
	if v := words[1]; v>>16 != 1 || v>>8&0xff > highest {
		return nil, fmt.Errorf("the code is SPIR-V %d.%d, the device takes 1.%d at most", v>>16, v>>8&0xff, highest)
	}
	s := &shader{blocks: map[string][3]int{}}
	names := map[uint32]string{} // of entry points
	var op uint32
	read := headerWords
	for next, operands := range instructions(words) {
		op = next
		s.read(op, operands, names)
		read += 1 + len(operands)
	}
	if op != opFunctionEnd || read < len(words) && words[read] != magic {
		return nil, errCutOff
	}
	s.words = words[:read:read]
	return s, nil
}

// headerWords is the number of words before the instructions of a module. The first of these words
// is magic.
const (
	headerWords = 5
	magic       = 0x07230203
)

// instructions yields the opcode and the operands of each instruction of a module. It stops at a
// truncated instruction. It also stops at the next module, which begins with the word `magic`; no
// instruction begins with this word.
func instructions(words []uint32) iter.Seq2[uint32, []uint32] {
	return func(yield func(uint32, []uint32) bool) {
		for rest := words[headerWords:]; len(rest) > 0; {
			length := int(rest[0] >> 16)
			if rest[0] == magic || length == 0 || length > len(rest) || !yield(rest[0]&0xffff, rest[1:length]) {
				return
			}
			rest = rest[length:]
		}
	}
}

// read records the capability, entry point or LocalSize that an instruction declares. entries maps
// ids of entry points to names.
func (s *shader) read(op uint32, operands []uint32, entries map[uint32]string) {
	const modelGLCompute, modeLocalSize = 5, 17
	switch {
	case op == opCapability && len(operands) == 1:
		s.capabilities = append(s.capabilities, operands[0])
	case op == opEntryPoint && len(operands) > 2 && operands[0] == modelGLCompute:
		entries[operands[1]] = literalString(operands[2:])
	case op == opExecutionMode && len(operands) == 5 && operands[1] == modeLocalSize:
		if name, ok := entries[operands[0]]; ok {
			s.names = append(s.names, name)
			s.blocks[name] = [3]int{int(operands[2]), int(operands[3]), int(operands[4])}
		}
	}
}

func literalString(words []uint32) string {
	var s []byte
	for _, w := range words {
		for range 4 {
			if byte(w) == 0 {
				return string(s)
			}
			s = append(s, byte(w))
			w >>= 8
		}
	}
	return string(s)
}
