package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	_ "github.com/burngen/burngen/internal/seeded"
	"github.com/burngen/burngen/runtime/rt"
)

// tree reads a value as encoding/json would: maps, lists, texts, numbers as json.Number.
func tree(r *walker) (any, error) {
	t, err := r.next()
	if err != nil {
		return nil, err
	}
	switch t.kind {
	case boolean:
		return t.bits == 1, nil
	case integer:
		if t.negative {
			return json.Number(fmt.Sprint(int64(t.bits))), nil
		}
		return json.Number(fmt.Sprint(t.bits)), nil
	case single, double:
		x, err := t.float(64)
		return x, err
	case decimal:
		return json.Number(t.text), nil
	case text:
		return string(t.text), nil
	case blob:
		return bytes.Clone(t.text), nil
	case list:
		all := []any{}
		err := r.items(t, func(int) error {
			x, err := tree(r)
			all = append(all, x)
			return err
		})
		return all, err
	case table:
		all := map[string]any{}
		err := r.fields(t, 0, func(key string) error {
			x, err := tree(r)
			all[key] = x
			return err
		})
		return all, err
	}
	return nil, nil
}

func wholeTree(s source) (any, error) {
	x, err := tree(&walker{source: s})
	if err == nil {
		err = s.end()
	}
	return x, err
}

func checkTable(t *testing.T, open func(file []byte) source, valid map[string]any, invalid []string) {
	for file, want := range valid {
		got, err := wholeTree(open([]byte(file)))
		if err != nil {
			t.Errorf("%x: %v", file, err)
			continue
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%x: %s", file, d)
		}
		for n := range len(file) {
			if _, err := wholeTree(open([]byte(file[:n]))); err == nil {
				t.Errorf("%x: no error", file[:n])
			}
		}
	}
	for _, file := range invalid {
		if got, err := wholeTree(open([]byte(file))); err == nil {
			t.Errorf("%x: %v", file, got)
		}
	}
}

// TestMessagePackSpecification has a value for every format of MessagePack's
// specification.
func TestMessagePackSpecification(t *testing.T) {
	n := func(s string) json.Number { return json.Number(s) }
	checkTable(t, func(file []byte) source { return &messagePack{bigEndian{file: file}} }, map[string]any{
		"\xc0": nil, "\xc2": false, "\xc3": true,
		"\x00": n("0"), "\x7f": n("127"), "\xff": n("-1"), "\xe0": n("-32"),
		"\xcc\xff": n("255"), "\xcd\xff\xff": n("65535"), "\xce\xff\xff\xff\xff": n("4294967295"),
		"\xcf\xff\xff\xff\xff\xff\xff\xff\xff": n("18446744073709551615"),
		"\xd0\x80":                             n("-128"), "\xd1\x80\x00": n("-32768"), "\xd2\x80\x00\x00\x00": n("-2147483648"),
		"\xd3\x80\x00\x00\x00\x00\x00\x00\x00": n("-9223372036854775808"), "\xd0\x7f": n("127"),
		"\xca\x3f\xc0\x00\x00":                 1.5,
		"\xcb\x40\x09\x21\xfb\x54\x44\x2d\x18": math.Pi,
		"\xa0":                                 "", "\xa2\xd0\xb6": "ж", "\xd9\x01a": "a", "\xda\x00\x01a": "a", "\xdb\x00\x00\x00\x01a": "a",
		"\xc4\x02\x00\xff": []byte{0, 255}, "\xc5\x00\x01\x07": []byte{7}, "\xc6\x00\x00\x00\x01\x07": []byte{7},
		"\x90": []any{}, "\x92\x01\xc0": []any{n("1"), nil}, "\xdc\x00\x01\x01": []any{n("1")}, "\xdd\x00\x00\x00\x01\x01": []any{n("1")},
		"\x80": map[string]any{}, "\x81\xa1a\x01": map[string]any{"a": n("1")},
		"\xde\x00\x01\xa1a\x01": map[string]any{"a": n("1")}, "\xdf\x00\x00\x00\x01\xa1a\x90": map[string]any{"a": []any{}},
	}, []string{
		"\xc1", "\xc7\x01\x01a", "\xc8\x00\x01\x01a", "\xc9\x00\x00\x00\x01\x01a", "\xd4\x01a", "\xd5\x01ab", "\xd6\x01abcd", "\xd7\x01abcdefgh",
		"\xd8\x01abcdefghabcdefgh", "\xa1\xff", "\x81\x01\x01", "\x81\xc4\x01a\x01", "\xc0\xc0", "",
	})
}

// TestCBORExamples reads the examples of RFC 8949, appendix A, of the kinds that burnpack uses.
// Other examples must be refused.
func TestCBORExamples(t *testing.T) {
	n := func(s string) json.Number { return json.Number(s) }
	checkTable(t, func(file []byte) source { return &cbor{bigEndian{file: file}} }, map[string]any{
		"\x00": n("0"), "\x17": n("23"), "\x18\x18": n("24"), "\x18\x64": n("100"), "\x19\x03\xe8": n("1000"), "\x1a\x00\x0f\x42\x40": n("1000000"),
		"\x1b\x00\x00\x00\xe8\xd4\xa5\x10\x00": n("1000000000000"), "\x1b\xff\xff\xff\xff\xff\xff\xff\xff": n("18446744073709551615"),
		"\x20": n("-1"), "\x38\x63": n("-100"), "\x39\x03\xe7": n("-1000"), "\x3b\x7f\xff\xff\xff\xff\xff\xff\xff": n("-9223372036854775808"),
		"\xfa\x47\xc3\x50\x00": 100000.0, "\xfb\x3f\xf1\x99\x99\x99\x99\x99\x9a": 1.1,
		"\xf4": false, "\xf5": true, "\xf6": nil,
		"\x40": []byte{}, "\x44\x01\x02\x03\x04": []byte{1, 2, 3, 4}, "\x60": "", "\x64IETF": "IETF", "\x62\xc3\xbc": "ü",
		"\x80": []any{}, "\x82\x01\x82\x02\x03": []any{n("1"), []any{n("2"), n("3")}}, "\xa0": map[string]any{},
		"\xa2\x61a\x01\x61b\x82\x02\x03": map[string]any{"a": n("1"), "b": []any{n("2"), n("3")}},
		"\x9f\xff":                       []any{}, "\x9f\x01\x82\x02\x03\xff": []any{n("1"), []any{n("2"), n("3")}},
		"\xbf\x61a\x01\x61b\x9f\x02\x03\xff\xff": map[string]any{"a": n("1"), "b": []any{n("2"), n("3")}},
	}, []string{
		"\xc2\x49\x01\x00\x00\x00\x00\x00\x00\x00\x00", "\x3b\xff\xff\xff\xff\xff\xff\xff\xff", "\xf9\x3c\x00", "\xf7", "\xf0", "\xf8\xff",
		"\x5f\x42\x01\x02\xff", "\x7f\x61a\xff", "\xff", "\x1c", "\x1f", "\xa1\x01\x02", "\xa1\x40\x02", "\x62\xff\xff", "\x00\x00", "\xf8\x18", "\xf8\x14",
	})
}

// TestJSONIsReadAsEncodingJSONDoes reads texts that encoding/json writes, and texts that may not be
// JSON. The reader must agree with encoding/json.
func TestJSONIsReadAsEncodingJSONDoes(t *testing.T) {
	check := func(text string) string {
		if !utf8.ValidString(text) {
			return "" // encoding/json replaces what is not UTF-8, which is refused here
		}
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		var want any
		wantErr := d.Decode(&want)
		if wantErr == nil && d.More() || wantErr == nil && strings.TrimLeft(text[d.InputOffset():], " \t\r\n") != "" {
			wantErr = fmt.Errorf("more")
		}
		got, err := wholeTree(&jsonText{file: []byte(text)})
		if (err == nil) != (wantErr == nil) {
			return fmt.Sprintf("%q: error %v, encoding/json has %v", text, err, wantErr)
		}
		if err != nil {
			return ""
		}
		return cmp.Diff(want, got)
	}
	for _, text := range []string{
		"0", "-0", "01", "-", "1.", ".1", "1e", "1e+", "1E-07", "-12.50e3", "+1", "1 2", "nul", "null", "true", "falsey", `""`, `"a`, `"\n\u0416\\\/\b\f\r\t\""`,
		`"\ud83d\ude00"`, `"\x"`, `"\u12"`, `"\u12g4"`, "\"\n\"", "[", "[]", "[1,]", "[,]", "[1 2]", " [ 1 , [ ] ] ", "{", "{}", `{"a":1}`, `{"a":1,}`, `{"a"}`, `{a:1}`,
		`{"a" : {"b":[{}]} }`, `{"a":1 "b":2}`, "", " ", "]", "}", "[}", "{]", `{"a":1]`, "\x00", "[1]\x00", "\ufeff[]",
	} {
		if d := check(text); d != "" {
			t.Error(d)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.MapOfN(rapid.String(), rapid.SliceOfN(rapid.OneOf(
			rapid.Map(rapid.String(), func(s string) any { return s }),
			rapid.Map(rapid.Float64(), func(x float64) any { return x }),
			rapid.Map(rapid.Int64(), func(x int64) any { return x }),
			rapid.Map(rapid.Bool(), func(x bool) any { return x })), 0, 4), 0, 4).Draw(t, "x")
		text, err := json.MarshalIndent(x, "", rapid.SampledFrom([]string{"", " ", "\t"}).Draw(t, "indent"))
		if err != nil {
			t.Fatal(err)
		}
		at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
		if rapid.Bool().Draw(t, "broken") {
			text[at] = rapid.SampledFrom([]byte(` {}[],:"0-e\`)).Draw(t, "by")
		}
		if d := check(string(text)); d != "" {
			t.Fatal(d)
		}
	})
}

// TestJSONIsJSON reads records with encoding/json.
func TestJSONIsJSON(t *testing.T) {
	for _, f := range []Format{JSON, PrettyJSON} {
		file := encode(t, Recorder{Format: f}, everything())
		var record struct {
			Burngen  int
			SHA256   string
			Metadata map[string]string
			Tensors  map[string]struct {
				DType string
				Shape []int
				Data  any
			}
		}
		if err := json.Unmarshal(file, &record); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]any{1.0, -0.1, math.Copysign(0, -1), 3.4028235e38, 1e-45, "-inf"}, record.Tensors["conv.weight"].Data); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff([]any{"nan:7fc01234", "nan:ffc00000"}, record.Tensors["nan.bits"].Data); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff([]any{true, false}, record.Tensors["bool"].Data); d != "" {
			t.Error(d)
		}
		sum, err := everything().Sum()
		if err != nil || record.Burngen != 1 || record.SHA256 == "" || sum == "" || len(record.Tensors) != len(everything().Names()) {
			t.Errorf("%+v", record)
		}
	}
}

// TestPrettyJSON is what it looks like.
func TestPrettyJSON(t *testing.T) {
	w := rt.NewWeights()
	rt.Add(w, "w", []float32{1, 2.5, -3e-7, 4}, 2, 2)
	rt.Add(w, "b", []int64{5})
	rt.Add(w, "e", []int64{}, 0)
	got := string(encode(t, Recorder{Format: PrettyJSON}, w))
	sum := got[strings.Index(got, "sha256")+10:][:64]
	want := `{
  "burngen": 1,
  "sha256": "` + sum + `",
  "metadata": {
    "burngen.record.version": "1"
  },
  "tensors": {
    "b": {
      "dtype": "i64",
      "shape": [],
      "data": [5]
    },
    "e": {
      "dtype": "i64",
      "shape": [0],
      "data": []
    },
    "w": {
      "dtype": "f32",
      "shape": [2, 2],
      "data": [
        1, 2.5,
        -3e-07, 4
      ]
    }
  }
}
`
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
