package spirv

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata anew")

// TestGolden compares listings of modules with testdata.
func TestGolden(t *testing.T) {
	byName := map[string]trial{}
	for _, c := range trials() {
		byName[c.name] = c
	}
	for _, g := range []struct {
		name string
		Options
	}{
		{"row_sum", Options{}},                  // loops, a branch, shared memory and a barrier
		{"copy_shared_f16_8", Options{}},        // narrow elements in vectors of words
		{"convert_f32_f16", Options{}},          // a conversion by integer arithmetic
		{"for_steps", Options{Loose: true}},     // an index that must not wrap
		{"neighbours_u8", Options{Words: true}}, // narrow elements as parts of words
		{"add_i64", Options{Words: true}},       // integers of 64 bits as pairs of words
		{"atomic_cas_i64_global", Options{}},    // atomics
	} {
		got := listing(t, byName[g.name].write(t, g.Options))
		file := filepath.Join("testdata", g.name+".spvasm")
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs from what is written, see -update:\n%s", file, got)
		}
	}
}

// listing returns a module as text. Ids have their names.
func listing(t *testing.T, code []byte) []byte {
	all, err := read(words(code))
	if err != nil {
		t.Fatal(err)
	}
	names := map[uint32]string{}
	for _, in := range all {
		switch in.name {
		case "Name":
			names[in.ids[0]] = in.text
		case "TypeVoid", "TypeBool":
			names[in.result] = strings.ToLower(in.name[len("Type"):])
		case "TypeInt", "TypeFloat":
			names[in.result] = fmt.Sprintf("%c%d", in.name[len("Type")]|0x20, in.literals[0])
		case "TypeVector":
			names[in.result] = fmt.Sprintf("%sx%d", names[in.ids[0]], in.literals[0])
		case "Constant":
			if names[in.typ] == "i32" {
				names[in.result] = fmt.Sprintf("i32_%d", int32(in.literals[0]))
			}
		}
	}
	id := func(n uint32) string {
		if names[n] != "" {
			return "%" + names[n]
		}
		return fmt.Sprintf("%%%d", n)
	}
	var out bytes.Buffer
	for _, in := range all {
		left := ""
		if in.result != 0 {
			left = id(in.result) + " ="
		}
		line := fmt.Sprintf("%12s Op%s", left, in.name)
		if in.typ != 0 {
			line += " " + id(in.typ)
		}
		ids, literals := in.ids, in.literals
		for _, letter := range strings.TrimLeft(in.operands, "tr") {
			switch letter {
			case 'i', 'I':
				for i := 0; len(ids) > 0 && (i == 0 || letter == 'I'); i++ {
					line += " " + id(ids[0])
					ids = ids[1:]
				}
			case 's':
				line += fmt.Sprintf(" %q", in.text)
			default:
				for i := 0; len(literals) > 0 && (i == 0 || letter != 'n'); i++ {
					line += fmt.Sprintf(" %d", literals[0])
					literals = literals[1:]
				}
			}
		}
		fmt.Fprintln(&out, line)
	}
	return out.Bytes()
}
