package text

import (
	"slices"
	"testing"
)

// TestBatch asserts that rows are shortened and filled.
func TestBatch(t *testing.T) {
	tokenizer := load(t, "bert")
	ids, mask, types := make([]int64, 12), make([]int64, 12), make([]int64, 12)
	for i := range ids {
		ids[i], mask[i], types[i] = 99, 99, 99
	}
	if err := tokenizer.BatchPairs([][2]string{{"a", "b c d e"}, {"", ""}}, ids, mask, types); err != nil {
		t.Fatal(err)
	}
	id := func(token string) int64 {
		n, ok := tokenizer.ID(token)
		if !ok {
			t.Fatal(token)
		}
		return n
	}
	cls, sep := id("[CLS]"), id("[SEP]")
	if want := []int64{cls, id("a"), sep, id("b"), id("c"), sep, cls, sep, sep, 0, 0, 0}; !slices.Equal(ids, want) {
		t.Errorf("ids: got %d, want %d", ids, want)
	}
	if want := []int64{1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0}; !slices.Equal(mask, want) {
		t.Errorf("mask: got %d, want %d", mask, want)
	}
	if want := []int64{0, 0, 0, 1, 1, 1, 0, 0, 1, 0, 0, 0}; !slices.Equal(types, want) {
		t.Errorf("types: got %d, want %d", types, want)
	}
	left, err := tokenizer.WithPadding(&Padding{ID: 4, Left: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := left.Batch([]string{"a", "a b c d e f"}, ids[:8], nil, nil); err != nil {
		t.Fatal(err)
	}
	if want := []int64{4, cls, id("a"), sep, cls, id("a"), id("b"), sep}; !slices.Equal(ids[:8], want) {
		t.Errorf("ids: got %d, want %d", ids[:8], want)
	}
	for _, err := range []error{
		tokenizer.Batch([]string{"a", "b"}, ids[:7], nil, nil),
		tokenizer.Batch([]string{"a"}, ids[:8], mask[:7], nil),
		tokenizer.Batch(nil, ids[:8], nil, nil),
		tokenizer.Batch([]string{"a"}, ids[:1], nil, nil),
	} {
		if err == nil {
			t.Error("no error")
		}
	}
	if err := tokenizer.Batch(nil, nil, nil, nil); err != nil {
		t.Error(err)
	}
}
