package text

import (
	"encoding/json"
	"os"
)

// Save writes the tokenizer as a tokenizer.json.
func (t *Tokenizer) Save(path string) error {
	data, err := t.MarshalJSON()
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o666)
}

// MarshalJSON returns the tokenizer as a tokenizer.json. The bytes are the same each time.
func (t *Tokenizer) MarshalJSON() ([]byte, error) {
	m, err := t.model.json()
	if err != nil {
		return nil, err
	}
	added, err := t.added.json()
	if err != nil {
		return nil, err
	}
	return marshal(file{
		"1.0", t.truncation.json(), t.padding.json(), added,
		t.sections["normalizer"], t.sections["pre_tokenizer"], t.sections["post_processor"], t.sections["decoder"], m,
	})
}

type file struct {
	Version       string          `json:"version"`
	Truncation    any             `json:"truncation"`
	Padding       any             `json:"padding"`
	Added         json.RawMessage `json:"added_tokens"`
	Normalizer    json.RawMessage `json:"normalizer"`
	PreTokenizer  json.RawMessage `json:"pre_tokenizer"`
	PostProcessor json.RawMessage `json:"post_processor"`
	Decoder       json.RawMessage `json:"decoder"`
	Model         json.RawMessage `json:"model"`
}

func direction(left bool) string {
	if left {
		return directions[1]
	}
	return directions[0]
}

// json returns the value of the field "truncation" of a tokenizer.json, nil for a nil t.
func (t *Truncation) json() any {
	if t == nil {
		return nil
	}
	return struct {
		Direction string `json:"direction"`
		Length    int    `json:"max_length"`
		Strategy  string `json:"strategy"`
		Stride    int    `json:"stride"`
	}{direction(t.Left), t.Length, strategies[t.Strategy], t.stride}
}

// json returns the value of the field "padding" of a tokenizer.json, nil for a nil p.
func (p *Padding) json() any {
	if p == nil {
		return nil
	}
	var strategy any = "BatchLongest"
	if p.Length > 0 {
		strategy = map[string]int{"Fixed": p.Length}
	}
	var multiple *int
	if p.Multiple > 0 {
		multiple = &p.Multiple
	}
	return struct {
		Strategy  any    `json:"strategy"`
		Direction string `json:"direction"`
		Multiple  *int   `json:"pad_to_multiple_of"`
		ID        int64  `json:"pad_id"`
		TypeID    int64  `json:"pad_type_id"`
		Token     string `json:"pad_token"`
	}{strategy, direction(p.Left), multiple, p.ID, p.TypeID, p.Token}
}
