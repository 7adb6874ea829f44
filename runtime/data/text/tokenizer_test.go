package text

import (
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
)

func load(t testing.TB, name string) *Tokenizer {
	t.Helper()
	tokenizer, err := Load("testdata/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return tokenizer
}

// TestTokens asserts that tokens and numbers belong together, and what the size is.
func TestTokens(t *testing.T) {
	for _, name := range references {
		tokenizer := load(t, name)
		if _, ok := tokenizer.Token(int64(tokenizer.Size()) - 1); !ok {
			t.Errorf("%s: the largest number has no token", name)
		}
		for id := int64(-1); id <= int64(tokenizer.Size()); id++ {
			token, ok := tokenizer.Token(id)
			if outside := id < 0 || id >= int64(tokenizer.Size()); outside && ok {
				t.Errorf("%s: %d has the token %q", name, id, token)
			}
			if back, known := tokenizer.ID(token); ok && (!known || back != id) {
				t.Errorf("%s: %d is %q, which is %d", name, id, token, back)
			}
		}
		if id, ok := tokenizer.ID("no such token"); ok {
			t.Errorf("%s: no such token: %d", name, id)
		}
	}
}

// TestWithoutSpecial asserts that the texts of a pair are encoded without what is around them.
func TestWithoutSpecial(t *testing.T) {
	e, err := load(t, "bert").WithoutSpecial().WithPadding(nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := e.EncodePair("the lower", "day")
	if err != nil || !slices.Equal(got.Tokens, []string{"the", "lower", "day"}) || !slices.Equal(got.TypeIDs, []int64{0, 0, 1}) {
		t.Errorf("got %q %v %v", got.Tokens, got.TypeIDs, err)
	}
}

// TestTruncation asserts what is removed, and when there is no room.
func TestTruncation(t *testing.T) {
	base, err := load(t, "bert").WithPadding(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		to   Truncation
		want string
	}{
		{Truncation{Length: 8}, "[CLS] a b [SEP] d e f [SEP]"},
		{Truncation{Length: 7}, "[CLS] a b [SEP] d e [SEP]"},
		{Truncation{Length: 7, Left: true}, "[CLS] b c [SEP] g h [SEP]"},
		{Truncation{Length: 9, Strategy: OnlySecond}, "[CLS] a b c [SEP] d e f [SEP]"},
		{Truncation{Length: 10, Strategy: OnlyFirst}, "[CLS] a b [SEP] d e f g h [SEP]"},
		{Truncation{Length: 3}, "[CLS] [SEP] [SEP]"},
		{Truncation{Length: 8, Strategy: OnlyFirst}, ""},
		{Truncation{Length: 2}, ""},
	} {
		tokenizer, err := base.WithTruncation(&c.to)
		if err != nil {
			t.Fatal(err)
		}
		e, err := tokenizer.EncodePair("a b c", "d e f g h")
		if c.want == "" {
			if err == nil {
				t.Errorf("%v: no error", c.to)
			}
			continue
		}
		if err != nil || strings.Join(e.Tokens, " ") != c.want {
			t.Errorf("%v: got %q %v, want %q", c.to, e.Tokens, err, c.want)
		}
	}
	second, err := base.WithTruncation(&Truncation{Length: 3, Strategy: OnlySecond})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := second.Encode("a b c d"); err == nil {
		t.Error("the second of one text: no error")
	}
	if _, err := base.WithTruncation(&Truncation{Length: 1, Strategy: 7}); err == nil {
		t.Error("strategy 7: no error")
	}
	if _, err := base.WithPadding(&Padding{Length: -1}); err == nil {
		t.Error("padding to -1: no error")
	}
}

// TestEncodeAll asserts that all encodings of a batch are filled up to the longest.
func TestEncodeAll(t *testing.T) {
	tokenizer, err := load(t, "bert").WithPadding(&Padding{Token: "[PAD]"})
	if err != nil {
		t.Fatal(err)
	}
	all, err := tokenizer.EncodeAll([]string{"a", "a b c", ""})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"[CLS] a [SEP] [PAD] [PAD]", "[CLS] a b c [SEP]", "[CLS] [SEP] [PAD] [PAD] [PAD]"} {
		if got := strings.Join(all[i].Tokens, " "); got != want {
			t.Errorf("text %d: got %q, want %q", i, got, want)
		}
	}
	pairs, err := tokenizer.EncodePairs([][2]string{{"a", "b"}, {"a b", "c"}})
	if err != nil || !slices.Equal(pairs[0].Attention, []int64{1, 1, 1, 1, 1, 0}) || pairs[1].Len() != 6 {
		t.Errorf("pairs: %v %v", pairs, err)
	}
}

// TestGoroutines asserts that a tokenizer may be used by several goroutines.
func TestGoroutines(t *testing.T) {
	tokenizer := load(t, "llama3")
	want, err := tokenizer.Encode("The lower newest 1234 river's")
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 50 {
				if got, err := tokenizer.Encode("The lower newest 1234 river's"); err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("got %v %v", got, err)
				}
			}
		})
	}
	group.Wait()
}

func BenchmarkEncode(b *testing.B) {
	text := strings.Repeat("The lower newest widest river's banks, 1234 of them. ", 20)
	for _, name := range []string{"gpt2", "llama3", "bert", "llama", "t5"} {
		tokenizer, err := load(b, name).WithTruncation(nil)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := tokenizer.Encode(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
