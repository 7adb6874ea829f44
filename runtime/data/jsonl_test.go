package data_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/burngen/burngen/runtime/data"
)

// talk is an object of each kind of value.
type talk struct {
	Text   string
	Scores [2]float32 `data:"score,optional"`
	Price  float64    `data:"price,optional"`
	Label  *int8      `data:"label,optional"`
	Turns  []struct {
		Who  string `json:"role"`
		Said string `json:"content"`
	} `data:"messages,optional"`
	Note string `data:"-"`
}

const talks = "\ufeff{\"Text\": \"hi\", \"score\": [1, 2.5], \"price\": 3, \"label\": -1, \"Note\": \"x\", \"other\": {}}\r\n" +
	"\n  \n" +
	"{\"text\": \"ä\\n\", \"messages\": [{\"role\": \"user\", \"content\": \"?\"}], \"price\": null}"

func TestJSONL(t *testing.T) {
	label := int8(-1)
	want := []talk{{Text: "hi", Scores: [2]float32{1, 2.5}, Price: 3, Label: &label}, {Text: "ä\n", Price: math.NaN()}}
	want[1].Turns = append(want[1].Turns, struct {
		Who  string `json:"role"`
		Said string `json:"content"`
	}{"user", "?"})
	for name, file := range map[string][]byte{"plain": []byte(talks), "gzip": zipped(t, []byte(talks))} {
		got, err := data.JSONL[talk](write(t, "talks.jsonl", file))
		if d := cmp.Diff(want, got, cmpopts.EquateNaNs()); d != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, d)
		}
	}
	if rows, err := data.ReadJSONL[talk](strings.NewReader("\n\n")); rows != nil || err != nil {
		t.Errorf("%v, %v", rows, err)
	}
	type pair struct{ Text, TEXT string }
	rows, err := data.ReadJSONL[pair](strings.NewReader(`{"text": "1", "TEXT": "2"}`))
	if d := cmp.Diff([]pair{{"2", "2"}}, rows); d != "" || err != nil {
		t.Errorf("%v\n%s", err, d)
	}
}

func TestMistakesInJSONL(t *testing.T) {
	type row struct {
		A float32
		B [2]int8 `data:"b"`
	}
	const good = `{"a": 1, "b": [1, 2]}` + "\n\n"
	for text, want := range map[string]string{
		`{"a": 1}`:                     `line 3: no key "b"`,
		`{"b": [1, 2]}`:                `line 3: no key "A"`,
		`{"a": "x", "b": [1, 2]}`:      `line 3: A: json: cannot unmarshal string into Go value of type float32`,
		`{"a": null, "b": [1, 2]}`:     `line 3: A: null is not a float32`,
		`{"a": 1e39, "b": [1, 2]}`:     `line 3: A: json: cannot unmarshal number 1e39 into Go value of type float32`,
		`{"a": 1, "b": [1]}`:           `line 3: b: 1 elements: [2]int8 expected`,
		`{"a": 1, "b": [1, 2, 3]}`:     `line 3: b: 3 elements: [2]int8 expected`,
		`{"a": 1, "b": [1, 300]}`:      `line 3: b: element 1: json: cannot unmarshal number 300 into Go value of type int8`,
		`{"a": 1, "b": [1, null]}`:     `line 3: b: element 1: null is not a int8`,
		`{"a": 1, "b": 2}`:             `line 3: b: json: cannot unmarshal number into Go value of type []json.RawMessage`,
		`[1]`:                          `line 3: json: cannot unmarshal array into Go value of type map[string]json.RawMessage`,
		`{"a": 1, "b": [1, 2]} {}`:     `line 3: invalid character '{' after top-level value`,
		`{"a": 1, "b": [1, 2]`:         `line 3: unexpected end of JSON input`,
		`null`:                         `line 3: no key "A"`,
		strings.Repeat(`{"a":`, 20000): `line 3: json: invalid character '{' exceeded max depth`,
	} {
		rows, err := data.ReadJSONL[row](strings.NewReader(good + text + "\n" + good))
		if rows != nil {
			t.Errorf("%.50s: rows beside an error", text)
		}
		if strings.Contains(want, "max depth") {
			if err == nil || !strings.Contains(err.Error(), "exceeded max depth") {
				t.Error(err)
			}
			continue
		}
		wantError(t, err, want)
	}
	path := write(t, "x.jsonl", []byte("{}"))
	wantError(t, failed(data.JSONL[row](path)), "jsonl: "+path+`: line 1: no key "A"`)
	wantError(t, failed(data.ReadJSONL[int](strings.NewReader("1"))), "rows are int: a struct expected")
}

func FuzzReadJSONL(f *testing.F) {
	for _, text := range []string{talks, "", "{}", "{\"text\":null}", "{\"text\":\"\\ud800\",\"score\":[1e400,2]}", "[[[[", "{\"label\":128}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := data.ReadJSONL[talk](strings.NewReader(text))
		if err != nil && rows != nil {
			t.Error("rows beside an error")
		}
		if lines := strings.Count(text, "\n") + 1; len(rows) > lines {
			t.Errorf("%d rows in %d lines", len(rows), lines)
		}
	})
}
