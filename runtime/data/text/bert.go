package text

import (
	"fmt"
	"strings"
)

// BERTOptions configure a tokenizer of vocab.txt.
type BERTOptions struct {
	Cased bool // case and accents matter
}

// LoadBERT reads a vocabulary of WordPiece in the form of BERT: vocab.txt, a token in each line. It
// returns an error if the vocabulary lacks [UNK], [CLS] or [SEP].
func LoadBERT(vocab string, o BERTOptions) (*Tokenizer, error) {
	data, err := readFile(vocab)
	if err != nil {
		return nil, err
	}
	ids := map[string]int64{}
	for i, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		ids[strings.TrimRight(line, " \t\r\v\f")] = int64(i)
	}
	var added []addedToken
	number := map[string]int64{}
	for _, s := range []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"} {
		if id, ok := ids[s]; ok {
			added, number[s] = append(added, addedToken{ID: id, Content: s, Special: true}), id
		} else if s != "[PAD]" && s != "[MASK]" {
			return nil, fmt.Errorf("%s: %s is not in the vocabulary", vocab, s)
		}
	}
	t, err := build(map[string]any{
		"added_tokens":   added,
		"normalizer":     map[string]any{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": nil, "lowercase": !o.Cased},
		"pre_tokenizer":  map[string]any{"type": "BertPreTokenizer"},
		"post_processor": map[string]any{"type": "BertProcessing", "cls": []any{"[CLS]", number["[CLS]"]}, "sep": []any{"[SEP]", number["[SEP]"]}},
		"decoder":        map[string]any{"type": "WordPiece", "prefix": "##", "cleanup": true},
		"model":          map[string]any{"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": ids},
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", vocab, err)
	}
	return t, nil
}
