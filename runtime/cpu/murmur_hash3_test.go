package cpu

import "testing"

// Known values of MurmurHash3_x86_32.
func TestMurmurHash3(t *testing.T) {
	texts := []string{"", "a", "abc", "abcd", "Hello, world!"}
	for _, c := range []struct {
		seed uint32
		want []uint32
	}{
		{0, []uint32{0, 0x3c2569b2, 0xb3dd93fa, 0x43ed676a, 0xc0363e43}},
		{0x9747b28c, []uint32{0xebb6c228, 0x7fa09ea6, 0xc84a62dd, 0xf0478627, 0x24884cba}},
	} {
		got := make([]uint32, len(texts))
		MurmurHash3(got, texts, c.seed)
		for i, want := range c.want {
			if got[i] != want {
				t.Errorf("seed %#x: %q has the hash %#x, want %#x", c.seed, texts[i], got[i], want)
			}
		}
	}
	words, signed := make([]uint32, 1), make([]int32, 1)
	MurmurHash3(words, []string{"abcd"}, 1)
	for name, hash := range map[string]func(){
		"int32":  func() { MurmurHash3(signed, []int32{0x64636261}, 1) },
		"uint32": func() { MurmurHash3(signed, []uint32{0x64636261}, 1) },
	} {
		if hash(); uint32(signed[0]) != words[0] {
			t.Errorf("%s: %#x, want %#x", name, uint32(signed[0]), words[0])
		}
	}
	MurmurHash3(words, []string{"abcdefgh"}, 1)
	if MurmurHash3(signed, []int64{0x6867666564636261}, 1); uint32(signed[0]) != words[0] {
		t.Errorf("int64: %#x, want %#x", uint32(signed[0]), words[0])
	}
}
