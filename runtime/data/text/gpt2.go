package text

import (
	"encoding/json"
	"fmt"
	"strings"
)

// GPT2Options configure a tokenizer of vocab.json and merges.txt.
type GPT2Options struct {
	Prefix bool   // add a space before a text that does not begin with one
	End    string // a token that is found in text, such as "<|endoftext|>"; "" for none
}

// LoadGPT2 reads the two files of GPT-2's byte-level BPE: vocab.json, which maps tokens to ids,
// and merges.txt, which has a pair of tokens on each line. It returns an error if a line is not a
// pair of tokens, or if the vocabulary lacks a token of a pair or the token that the pair becomes.
func LoadGPT2(vocab, merges string, o GPT2Options) (*Tokenizer, error) {
	v, err := readFile(vocab)
	if err != nil {
		return nil, err
	}
	m, err := readFile(merges)
	if err != nil {
		return nil, err
	}
	ids := map[string]int64{}
	if err := json.Unmarshal(v, &ids); err != nil {
		return nil, fmt.Errorf("%s: %w", vocab, err)
	}
	pairs := [][]string{}
	for i, line := range strings.Split(string(m), "\n") {
		line = strings.TrimSuffix(line, "\r")
		if strings.HasPrefix(line, "#version") || line == "" {
			continue
		}
		pair := strings.Split(line, " ")
		if len(pair) != 2 {
			return nil, fmt.Errorf("%s:%d: %q is not a pair of tokens", merges, i+1, line)
		}
		pairs = append(pairs, pair)
	}
	var added []addedToken
	if o.End != "" {
		id, ok := ids[o.End]
		if !ok {
			id = int64(len(ids))
		}
		added = []addedToken{{ID: id, Content: o.End, Special: true}}
	}
	t, err := byteLevelBPE(map[string]any{"vocab": ids, "merges": pairs}, added, o.Prefix)
	if err != nil {
		return nil, fmt.Errorf("%s, %s: %w", vocab, merges, err)
	}
	return t, nil
}

// byteLevelBPE returns a tokenizer with byte-level BPE and the pre-tokenizer of GPT-2.
func byteLevelBPE(model map[string]any, added []addedToken, prefix bool) (*Tokenizer, error) {
	model["type"] = "BPE"
	settings := map[string]any{"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": true, "use_regex": true}
	return build(map[string]any{
		"added_tokens": added, "model": model,
		"pre_tokenizer": settings, "post_processor": settings, "decoder": settings,
	})
}
