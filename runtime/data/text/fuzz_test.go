package text

import (
	"os"
	"testing"
	"unicode/utf8"
)

// FuzzRead asserts that no file makes Read or a tokenizer panic, and that what is read can be saved
// and read again.
func FuzzRead(f *testing.F) {
	for _, name := range references {
		data, err := os.ReadFile("testdata/" + name + ".json")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(minimal(`"padding":{"strategy":{"Fixed":9},"direction":"Left","pad_id":1,"pad_type_id":1,"pad_token":"p"},`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		tokenizer, err := Read(data)
		if err != nil {
			return
		}
		saved, err := tokenizer.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Read(saved); err != nil {
			t.Fatalf("saved: %v", err)
		}
		e, err := tokenizer.EncodePair("The lower é\u0301 中 <s> [MASK]'s \xff 12", "day\u200d \u00a9")
		if err != nil {
			return
		}
		if _, err := tokenizer.DecodeSpecial(e.IDs); err != nil {
			return
		}
		row := make([]int64, 8)
		_ = tokenizer.Batch([]string{"a b", "c"}, row, row, row)
	})
}

// FuzzEncode asserts that tokens of any text have offsets in it, and that byte-level tokens decode to
// the text.
func FuzzEncode(f *testing.F) {
	var tokenizers []*Tokenizer
	for _, name := range references {
		tokenizer, err := load(f, name).WithTruncation(nil)
		if err != nil {
			f.Fatal(err)
		}
		tokenizers = append(tokenizers, tokenizer)
	}
	for _, s := range []string{"", "The lower", "e\u0301\u0323\u0344", "\xff\xfe\xc3 \xe2\x82", "<s> <mask>day", "\u1100\u1161\u11a8 \u00a9\u200d\u00a9", "  \n\t "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for i, tokenizer := range tokenizers {
			e, err := tokenizer.Encode(s)
			if err != nil {
				t.Fatalf("%s: %v", references[i], err)
			}
			for k, o := range e.Offsets {
				if o.Start < 0 || o.Start > o.End || o.End > len(s) {
					t.Errorf("%s: token %q has the offsets %v in %d bytes", references[i], e.Tokens[k], o, len(s))
				}
			}
			got, err := tokenizer.DecodeSpecial(e.IDs)
			if err != nil {
				t.Fatal(err)
			}
			if references[i] == "gpt2" && got != lossy([]byte(s)) {
				t.Errorf("%q: decoded %q", s, got)
			}
			if !utf8.ValidString(got) && utf8.ValidString(s) {
				t.Errorf("%s: %q: decoded %q", references[i], s, got)
			}
		}
	})
}
