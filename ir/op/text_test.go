package op

import (
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
)

func TestTextValues(t *testing.T) {
	one := func(name string, v any) attrs { return attrs{name: v} }
	grams := func(more attrs) attrs {
		a := attrs{
			"ngram_counts": []int{0, 2}, "ngram_indexes": []int{3, 0, 2, 1}, "pool_int64s": []int{7, 5, 7, 5, 5, 7},
			"min_gram_length": 1, "max_gram_length": 2, "max_skip_count": 0, "mode": "TF",
		}
		for name, v := range more {
			if a[name] = v; v == nil {
				delete(a, name)
			}
		}
		return a
	}
	for _, test := range []struct {
		name     string
		op       string
		attrs    attrs
		operands []string
		want     []string // results, or part of the error
	}{
		{"joins", "StringConcat", nil, []string{`string[2]("a","")`, `string[2]("b","ü")`}, []string{`string[2]("ab","\u00fc")`}},
		{"joins with one", "StringConcat", nil, []string{`string[2,1]("a","b")`, `string[2]("c","d")`}, []string{`string[2,2]("ac","ad","bc","bd")`}},
		{"refuses numbers", "StringConcat", nil, []string{`string[1]("a")`, `f32[1](1)`}, []string{"operand 1 is f32"}},
		{"compares with one", "Equal", nil, []string{`string[2]("a","b")`, `string[]("b")`}, []string{"bool[2](0,1)"}},
		{"chooses from one", "Where", nil, []string{"bool[2,1](1,0)", `string[2]("a","b")`, `string[]("c")`}, []string{`string[2,2]("a","b","c","c")`}},

		{"splits", "StringSplit", one("delimiter", "."), []string{`string[2]("a.b","c")`}, []string{`string[2,2]("a","b","c","")`, "i64[2](2,1)"}},
		{"splits once", "StringSplit", attrs{"delimiter": "..", "maxsplit": 1}, []string{`string[]("a..b..")`}, []string{`string[2]("a","b..")`, "i64[](2)"}},
		{"splits at white space", "StringSplit", one("delimiter", ""), []string{`string[2,1](" a  b\t","")`}, []string{`string[2,1,2]("a","b","","")`, "i64[2,1](2,0)"}},
		{"splits at white space once", "StringSplit", one("maxsplit", 1), []string{`string[1](" a b  c ")`}, []string{`string[1,2]("a","b  c ")`, "i64[1](2)"}},
		{"splits without bounds", "StringSplit", attrs{"delimiter": "-", "maxsplit": -1}, []string{`string[1]("--")`}, []string{`string[1,3]("","","")`, "i64[1](3)"}},
		{"splits nothing", "StringSplit", nil, []string{`string[0,2]()`}, []string{`string[0,2,0]()`, "i64[0,2]()"}},
		{"refuses to split numbers", "StringSplit", nil, []string{`i64[1](1)`}, []string{"strings expected"}},

		{"matches", "RegexFullMatch", one("pattern", `a+|b`), []string{`string[3]("aa","ab","b")`}, []string{"bool[3](1,0,1)"}},
		{"refuses what is not an expression", "RegexFullMatch", one("pattern", `a)(b`), []string{`string[1]("a")`}, []string{"unexpected )"}},
		{"refuses what RE2 does not know", "RegexFullMatch", one("pattern", `(?=a)`), []string{`string[1]("a")`}, []string{"invalid or unsupported"}},

		{"changes nothing", "StringNormalizer", nil, []string{`string[2]("A","b")`}, []string{`string[2]("A","b")`}},
		{"raises", "StringNormalizer", attrs{"case_change_action": "UPPER", "locale": "tr_TR"}, []string{`string[1,2]("i","\u00e9")`}, []string{`string[1,2]("I","\u00c9")`}},
		{"removes in any case", "StringNormalizer", attrs{"stopwords": []string{"mon"}, "case_change_action": "LOWER"}, []string{`string[1,2]("MON","Tue")`}, []string{`string[1,1]("tue")`}},
		{"removes by case", "StringNormalizer", attrs{"stopwords": []string{"mon"}, "is_case_sensitive": 1}, []string{`string[2]("MON","mon")`}, []string{`string[1]("MON")`}},
		{"leaves an empty string", "StringNormalizer", one("stopwords", []string{"a"}), []string{`string[1,2]("a","A")`}, []string{`string[1,1]("")`}},
		{"refuses two rows", "StringNormalizer", nil, []string{`string[2,1]("a","b")`}, []string{"2 rows"}},
		{"refuses three axes", "StringNormalizer", nil, []string{`string[1,1,1]("a")`}, []string{"rank 1 or 2"}},
		{"refuses other cases", "StringNormalizer", one("case_change_action", "TITLE"), []string{`string[1]("a")`}, []string{"unknown case_change_action"}},

		{"counts", "TfIdfVectorizer", grams(nil), []string{"i32[5](7,5,7,5,5)"}, []string{"f32[4](3,1,2,2)"}},
		{"counts with skips", "TfIdfVectorizer", grams(attrs{"max_skip_count": 9}), []string{"i64[5](7,5,7,5,5)"}, []string{"f32[4](3,1,5,2)"}},
		{"counts rows of strings", "TfIdfVectorizer", grams(attrs{"pool_int64s": nil, "pool_strings": []string{"b", "a", "b", "a", "a", "b"}}), []string{`string[2,3]("b","a","b","a","a","c")`}, []string{"f32[2,4](1,1,1,2,2,0,0,0)"}},
		{"counts pairs only", "TfIdfVectorizer", grams(attrs{"min_gram_length": 2}), []string{"i64[5](7,5,7,5,5)"}, []string{"f32[4](0,1,2,0)"}},
		{"finds with weights", "TfIdfVectorizer", grams(attrs{"mode": "IDF", "weights": []float64{.5, 2, 3, 4}}), []string{"i64[5](7,5,7,5,5)"}, []string{"f32[4](0.5,2,3,4)"}},
		{"weighs counts", "TfIdfVectorizer", grams(attrs{"mode": "TFIDF", "weights": []float64{.5, 2, 3, 4}}), []string{"i64[5](7,5,7,5,5)"}, []string{"f32[4](1.5,2,6,8)"}},
		{"counts nothing", "TfIdfVectorizer", grams(nil), []string{"i64[2,0]()"}, []string{"f32[2,4](0,0,0,0,0,0,0,0)"}},
		{"refuses two pools", "TfIdfVectorizer", grams(attrs{"pool_strings": []string{"a"}}), []string{"i64[1](1)"}, []string{"one of the two"}},
		{"refuses another pool", "TfIdfVectorizer", grams(nil), []string{`string[1]("a")`}, []string{"operand 1 is i64"}},
		{"refuses a mode", "TfIdfVectorizer", grams(attrs{"mode": "TFI"}), []string{"i64[1](1)"}, []string{"unknown mode"}},
		{"refuses starts that descend", "TfIdfVectorizer", grams(attrs{"ngram_counts": []int{0, 3, 2}}), []string{"i64[1](1)"}, []string{"n-grams of length 2"}},
		{"refuses a pool of halves", "TfIdfVectorizer", grams(attrs{"ngram_counts": []int{0, 3}}), []string{"i64[1](1)"}, []string{"n-grams of length 2"}},
		{"refuses missing columns", "TfIdfVectorizer", grams(attrs{"ngram_indexes": []int{0, 1}}), []string{"i64[1](1)"}, []string{"2 ngram_indexes for 4"}},
		{"refuses negative columns", "TfIdfVectorizer", grams(attrs{"ngram_indexes": []int{0, 1, 2, -1}}), []string{"i64[1](1)"}, []string{"negative"}},
		{"refuses missing weights", "TfIdfVectorizer", grams(attrs{"weights": []float64{1}}), []string{"i64[1](1)"}, []string{"1 weights"}},

		{"reads numbers", "Cast", one("to", ir.F16), []string{`string[3]("1.1"," -2","inf")`}, []string{"f16[3](1.1,-2,+Inf)"}},
		{"reads narrow integers", "Cast", one("to", ir.I4), []string{`string[2]("9","-1")`}, []string{"i4[2](-7,-1)"}},
		{"reads no words", "Cast", one("to", ir.F32), []string{`string[1]("one")`}, []string{`"one" is not a number`}},
	} {
		t.Run(test.op+" "+test.name, func(t *testing.T) {
			var args []*ir.Tensor
			var params []ir.Type
			for _, text := range test.operands {
				x := parsed(t, text)
				args, params = append(args, x), append(params, x.Type())
			}
			f, err := importFunc(test.op, 21, len(test.want), test.attrs, params)
			var got []*ir.Tensor
			if err == nil {
				lowered(t, f)
				got, err = tryRun(f, args...)
			}
			if err != nil {
				if !strings.Contains(err.Error(), test.want[0]) {
					t.Fatalf("error %q, want %q", err, test.want[0])
				}
				return
			}
			checkLower(t, f, 1e-6, args...)
			for i, text := range test.want {
				if want := parsed(t, text); !closeTo(got[i], want, 0) {
					t.Errorf("result %d is %s, want %s", i, got[i], want)
				}
			}
		})
	}
}

func TestTextTypes(t *testing.T) {
	for _, test := range []struct {
		op       string
		attrs    attrs
		operands []string
		want     []string
	}{
		{"StringConcat", nil, []string{"string[N,1]", "string[M]"}, []string{"string[N,M]"}},
		{"StringSplit", nil, []string{"string[N,2]"}, []string{"string[N,2,parts]", "i64[N,2]"}},
		{"RegexFullMatch", nil, []string{"string[N]"}, []string{"bool[N]"}},
		{"StringNormalizer", nil, []string{"string[N]"}, []string{"string[N]"}},
		{"StringNormalizer", attrs{"stopwords": []string{"a"}}, []string{"string[N,C]"}, []string{"string[1,words]"}},
		{"TfIdfVectorizer", attrs{
			"ngram_counts": []int{0}, "ngram_indexes": []int{5}, "pool_strings": []string{"a"},
			"min_gram_length": 1, "max_gram_length": 1, "max_skip_count": 0, "mode": "TF",
		}, []string{"string[N,C]"}, []string{"f32[N,6]"}},
		{"Where", nil, []string{"bool[N]", "string[M]", "string[]"}, []string{"string[max(M,N)]"}},
	} {
		t.Run(test.op, func(t *testing.T) {
			f, err := importFunc(test.op, 21, len(test.want), test.attrs, types(t, test.operands...))
			if err != nil {
				t.Fatal(err)
			}
			verifyFunc(t, f)
			lowered(t, f)
			var got []string
			for _, r := range f.Results {
				got = append(got, r.Type.String())
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// The extents that strings are repeated to are checked when the model runs.
func TestTextsThatMayRepeatAreChecked(t *testing.T) {
	f, err := importFunc("StringConcat", 20, 1, nil, types(t, "string[N]", "string[M]"))
	if err != nil {
		t.Fatal(err)
	}
	g := lowered(t, f)
	texts := func(s ...string) *ir.Tensor { return textTensor(s) }
	if out := run(t, g, texts("a"), texts("b", "c")); out[0].String() != `string[2]("ab","ac")` {
		t.Error(out[0])
	}
	if out, err := tryRun(g, texts("a", "b"), texts("a", "b", "c")); err == nil {
		t.Errorf("two and three strings are joined to %s", out[0])
	}
}
