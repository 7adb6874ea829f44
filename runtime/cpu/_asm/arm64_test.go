package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what GNU's assembler says to testdata")

// instructions lists every encoding with operands that set each of its operand bits. It returns the
// texts and the words.
func instructions() (texts []string, words []uint32) {
	add := func(name string, numbers ...int) {
		most := 31
		if o := encodings[name].operands; o == long || o == long2 {
			most = 15
		}
		for _, i := range numbers {
			for _, r := range [][3]int{{0, 0, 0}, {31, 0, 0}, {0, 31, 0}, {0, 0, most}, {5, 18, most &^ 4}} {
				word, text := encode(name, r[0], r[1], r[2], i)
				texts, words = append(texts, text), append(words, word)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(encodings)) {
		switch encodings[name].operands {
		case three, two:
			add(name, 0)
			add(name+double, 0)
		case long, long2:
			add(name, 0, 1, 2, 3, 4, 7)
		case element:
			add(name, 0, 1, 2, 3)
		case right:
			add(name, 1, 2, 15, 23, 31, 32)
			add(name+double, 1, 31, 32, 52, 64)
		default:
			add(name, 0)
		}
	}
	return texts, words
}

// TestEncodings compares the words with the words that GNU's assembler makes from the texts. These
// are in testdata/arm64.txt. If the assembler is installed, the test runs it, too.
func TestEncodings(t *testing.T) {
	const file = "testdata/arm64.txt"
	texts, words := instructions()
	if as, err := exec.LookPath("aarch64-linux-gnu-as"); err == nil {
		want := assembled(t, as, texts)
		if *update {
			if err := os.WriteFile(file, []byte(listing(texts, want)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := listing(texts, words); got != listing(texts, want) {
			t.Errorf("encoded:\n%s\nassembled:\n%s", got, listing(texts, want))
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := listing(texts, words); got != string(want) {
		t.Errorf("encoded:\n%s\nin %s:\n%s", got, file, want)
	}
}

// listing returns one line per instruction.
func listing(texts []string, words []uint32) string {
	var b strings.Builder
	for i, text := range texts {
		fmt.Fprintf(&b, "%08x %s\n", words[i], text)
	}
	return b.String()
}

// assembled runs an assembler on the instructions and returns their words.
func assembled(t *testing.T, as string, texts []string) []uint32 {
	object, code := filepath.Join(t.TempDir(), "o"), filepath.Join(t.TempDir(), "bin")
	cmd := exec.Command(as, "-o", object, "-")
	cmd.Stdin = strings.NewReader(strings.Join(texts, "\n") + "\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	objcopy := strings.TrimSuffix(as, "as") + "objcopy"
	if out, err := exec.Command(objcopy, "-O", "binary", "-j", ".text", object, code).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	bin, err := os.ReadFile(code)
	if err != nil || len(bin) != 4*len(texts) {
		t.Fatalf("%d instructions became %d bytes: %v", len(texts), len(bin), err)
	}
	words := make([]uint32, len(texts))
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(bin[4*i:])
	}
	return words
}
