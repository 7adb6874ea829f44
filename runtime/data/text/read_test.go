package text

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// minimal returns a tokenizer file of words, with more fields.
func minimal(fields string) string {
	return `{"version":"1.0",` + fields + `"model":{"type":"WordLevel","vocab":{"[UNK]":0,"a":1,"b":2},"unk_token":"[UNK]"}}`
}

// TestReadErrors asserts that a file that is not right is refused, with the place in the file.
func TestReadErrors(t *testing.T) {
	nested := strings.Repeat(`{"type":"Sequence","normalizers":[`, 40) + `{"type":"NFC"}` + strings.Repeat(`]}`, 40)
	model := func(fields string) string { return `{"model":{` + fields + `}}` }
	for _, c := range []struct{ file, want string }{
		{``, "unexpected end"},
		{`null`, "an object is missing"},
		{`{}`, "model: an object is missing"},
		{`{"version":"2.0"}`, `version: "2.0" is not supported`},
		{minimal(`"truncation":{"max_length":-1,"strategy":"LongestFirst","stride":0},`), "truncation: length -1"},
		{minimal(`"truncation":{"max_length":1,"strategy":"Longest","stride":0},`), `truncation.strategy: "Longest"`},
		{minimal(`"padding":{"strategy":"Batch","direction":"Right","pad_id":0,"pad_type_id":0,"pad_token":""},`), `padding.strategy: "Batch"`},
		{minimal(`"padding":{"strategy":{"Fixed":2000000000},"direction":"Right","pad_id":0,"pad_type_id":0,"pad_token":""},`), "padding: length 2000000000"},
		{minimal(`"normalizer":{"type":"NFX"},`), `normalizer.type: "NFX" is not supported`},
		{minimal(`"normalizer":{"type":"Sequence","normalizers":[{"type":"NFC"},{"type":"Foo"}]},`), `normalizer.normalizers[1].type: "Foo" is not supported`},
		{minimal(`"normalizer":` + nested + `,`), "more than 16 nested sequences"},
		{minimal(`"normalizer":{"type":"Precompiled","precompiled_charsmap":"AAAA"},`), "normalizer.precompiled_charsmap"},
		{minimal(`"normalizer":{"type":"Precompiled","precompiled_charsmap":"/////w=="},`), "a trie of 4294967295 bytes in 0"},
		{minimal(`"normalizer":{"type":"Replace","pattern":{"Regex":"(a"},"content":""},`), `normalizer.pattern.Regex: "(a": at 2: a group has no end`},
		{minimal(`"pre_tokenizer":{"type":"Split","pattern":{"String":"a"},"behavior":"Cut","invert":false},`), `pre_tokenizer.behavior: "Cut"`},
		{minimal(`"pre_tokenizer":{"type":"UnicodeScripts"},`), `pre_tokenizer.type: "UnicodeScripts" is not supported`},
		{minimal(`"pre_tokenizer":{"type":"FixedLength","length":0},`), "pre_tokenizer.length: 0"},
		{minimal(`"pre_tokenizer":{"type":"Metaspace","replacement":"ab"},`), `pre_tokenizer.replacement: "ab": one character expected`},
		{minimal(`"pre_tokenizer":{"type":"Metaspace","replacement":"_","add_prefix_space":false,"prepend_scheme":"first"},`), "pre_tokenizer.add_prefix_space"},
		{minimal(`"post_processor":{"type":"BertProcessing","cls":["a"],"sep":["b",1]},`), "post_processor.cls: a token and its number expected"},
		{minimal(`"post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"[X]","type_id":0}}],"pair":[],"special_tokens":{}},`), `post_processor.single[0].SpecialToken.id: "[X]" is not in special_tokens`},
		{minimal(`"post_processor":{"type":"TemplateProcessing","single":[{"Sequence":{"id":"B","type_id":0}}],"pair":[],"special_tokens":{}},`), "post_processor.single[0].Sequence.id"},
		{minimal(`"decoder":{"type":"Sequence","decoders":[{"type":"Strip","content":"","start":0,"stop":0}]},`), "decoder.decoders[0].content"},
		{minimal(`"added_tokens":[{"id":7,"content":"x","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true}],`), `added_tokens[0].id: 7: the vocabulary gives "x" the number 3`},
		{minimal(`"added_tokens":[{"id":1}],`), "added_tokens[0].content: the field is missing"},
		{model(`"type":"Foo"`), `model.type: "Foo" is not supported`},
		{model(`"type":"WordLevel","vocab":{"a":0},"unk_token":"x"`), `model.unk_token: "x" is not in the vocabulary`},
		{model(`"type":"WordLevel","vocab":{"a":0,"b":0},"unk_token":"a"`), `model.vocab: "a" and "b" have the same number 0`},
		{model(`"type":"WordLevel","vocab":{"a":-1},"unk_token":"a"`), `model.vocab: "a" has the number -1`},
		{model(`"type":"BPE","vocab":{"a":0},"merges":["a b"]`), `model.merges[0]: "b" is not in the vocabulary`},
		{model(`"type":"BPE","vocab":{"a":0},"merges":["a"]`), `model.merges[0]: ["a"] is not a pair`},
		{model(`"type":"BPE","vocab":{"a":0},"merges":[],"dropout":0.1`), "model.dropout: 0.1"},
		{model(`"type":"BPE","vocab":{"a":0},"merges":[],"end_of_word_suffix":"` + strings.Repeat("x", 300) + `"`), "model.end_of_word_suffix: 300 bytes"},
		{model(`"type":"Unigram","vocab":[["a"]]`), "model.vocab[0]: a token and its score expected"},
		{model(`"type":"Unigram","vocab":[["a",0]],"unk_id":1`), "model.unk_id: 1: the vocabulary has 1 tokens"},
	} {
		_, err := Read([]byte(c.file))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.150s: got %v, want %q", c.file, err, c.want)
		}
	}
}

// TestLoad asserts that an error names the file.
func TestLoad(t *testing.T) {
	path := t.TempDir() + "/tokenizer.json"
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("no file: %v", err)
	}
	if err := os.WriteFile(path, []byte("{}"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil || !strings.HasPrefix(err.Error(), path+": model:") {
		t.Errorf("no model: %v", err)
	}
}

// TestOldModels asserts that the type of a model is found if the file does not name it.
func TestOldModels(t *testing.T) {
	for _, name := range references {
		var file map[string]json.RawMessage
		readJSON(t, name+".json", &file)
		var model map[string]json.RawMessage
		if err := json.Unmarshal(file["model"], &model); err != nil {
			t.Fatal(err)
		}
		delete(model, "type")
		old, err := marshal(map[string]any{"model": model, "added_tokens": file["added_tokens"], "normalizer": file["normalizer"]})
		if err != nil {
			t.Fatal(err)
		}
		got, err := Read(old)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want, err := Load("testdata/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		if g, w := fmt.Sprintf("%T", got.model), fmt.Sprintf("%T", want.model); g != w {
			t.Errorf("%s: got %s, want %s", name, g, w)
		}
	}
}

// TestGrowth asserts that no file makes much more of a text than there was.
func TestGrowth(t *testing.T) {
	double := strings.Repeat(`{"type":"Replace","pattern":{"String":"a"},"content":"aa"},`, 60)
	long := strings.Repeat("x", 1<<15)
	for _, normalizer := range []string{
		`{"type":"Sequence","normalizers":[` + double + `{"type":"NFC"}]}`,
		`{"type":"Replace","pattern":{"Regex":""},"content":"` + long + `"}`,
		`{"type":"Sequence","normalizers":[{"type":"Prepend","prepend":"` + long + `"},{"type":"Prepend","prepend":"` + long + `"},{"type":"Prepend","prepend":"` + long + `"}]}`,
	} {
		tokenizer, err := Read([]byte(minimal(`"normalizer":` + normalizer + `,`)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tokenizer.Encode("aaaa"); err == nil || !strings.Contains(err.Error(), "normalisation makes more than") {
			t.Errorf("%.80s: %v", normalizer, err)
		}
	}
	spaces := strings.Repeat(`{"type":"BPEDecoder","suffix":""},`, 40)
	for _, decoder := range []string{
		`{"type":"Sequence","decoders":[` + spaces + `{"type":"Fuse"}]}`,
		`{"type":"Sequence","decoders":[` + double + `{"type":"Fuse"}]}`,
	} {
		tokenizer, err := Read([]byte(minimal(`"decoder":` + decoder + `,`)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tokenizer.Decode([]int64{1, 1, 1}); err == nil || !strings.Contains(err.Error(), "decoding makes more than") {
			t.Errorf("%.80s: %v", decoder, err)
		}
	}
}
