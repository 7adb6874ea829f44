package data_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/burngen/burngen/golden/corpus"
	"github.com/burngen/burngen/runtime/data"
)

// house is a row of each kind of cell.
type house struct {
	Rooms   int8
	Sizes   [2]float32 `data:"size"`
	Sold    bool       `data:"is sold"`
	Owner   string
	Price   float64 `data:"price,optional"`
	Floors  uint16  `data:"Floors,optional"`
	Comment string  `data:"-"`
	hidden  int
}

const houses = "owner,rooms,size,garden,extra,is sold,price,Floors\n" +
	"\"Smith, J.\", 3,20.5,1e2,x,true,100,2\r\n" +
	"\n" +
	"Ä,-1,0,-0.5,,0,,\n"

var wantHouses = []house{
	{Rooms: 3, Sizes: [2]float32{20.5, 100}, Sold: true, Owner: "Smith, J.", Price: 100, Floors: 2},
	{Rooms: -1, Sizes: [2]float32{0, -0.5}, Owner: "Ä", Price: math.NaN()},
}

var sameHouses = cmp.Options{cmpopts.IgnoreUnexported(house{}), cmpopts.EquateNaNs()}

func TestCSV(t *testing.T) {
	for name, file := range map[string][]byte{
		"plain": []byte(houses),
		"gzip":  zipped(t, []byte(houses)),
		"mark":  []byte("\ufeff\"owner\"" + strings.TrimPrefix(houses, "owner")),
	} {
		got, err := data.CSV[house](write(t, "houses.csv", file), data.CSVOptions{})
		if d := cmp.Diff(wantHouses, got, sameHouses); d != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, d)
		}
		if len(got) > 0 && got[0].hidden != 0 {
			t.Errorf("%s: a field that is not exported was set", name)
		}
	}
	type pair struct {
		Label, Text string
	}
	for _, tt := range []struct {
		name, text string
		o          data.CSVOptions
		want       []pair
	}{
		{"no header", "a,b\nc,d\n", data.CSVOptions{NoHeader: true}, []pair{{"a", "b"}, {"c", "d"}}},
		{"another comma", "text;label\n1,5;2", data.CSVOptions{Comma: ';'}, []pair{{"2", "1,5"}}},
		{"comments", "# x\nlabel,text\n#a,b\nc,d", data.CSVOptions{Comment: '#'}, []pair{{"c", "d"}}},
		{"no quotes", "ham\tsay \"yes\"\r\n\nspam\t\"free\n", data.CSVOptions{Comma: '\t', NoHeader: true, NoQuotes: true}, []pair{{"ham", "say \"yes\""}, {"spam", "\"free"}}},
		{"no quotes but comments", "Label,Text\n#,\n\"a,b", data.CSVOptions{Comment: '#', NoQuotes: true}, []pair{{"\"a", "b"}}},
		{"lines in quotes", "label,text\na,\"1\n2\"\n", data.CSVOptions{}, []pair{{"a", "1\n2"}}},
		{"header only", "label,text\n", data.CSVOptions{}, nil},
		{"nothing", "", data.CSVOptions{NoHeader: true}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := data.ReadCSV[pair](strings.NewReader(tt.text), tt.o)
			if d := cmp.Diff(tt.want, got); d != "" || err != nil {
				t.Errorf("%v\n%s", err, d)
			}
		})
	}
}

func TestMistakesInCSV(t *testing.T) {
	type number struct{ A, B float32 }
	read := func(text string, o data.CSVOptions) error {
		rows, err := data.ReadCSV[number](strings.NewReader(text), o)
		if err != nil && rows != nil {
			t.Error("rows beside an error")
		}
		return err
	}
	type (
		odd struct {
			A [2][2]float32
			B []float32
			C float32 `data:"c,omitempty"`
			D float32
			E [3]float32
		}
		huge struct{ A [1 << 20]int8 }
	)
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"no header", read("", data.CSVOptions{}), "no header"},
		{"not a number", read("a,b\n1,2\n3,x\n", data.CSVOptions{}), `line 3, column 3: B: "x" is not a float32`},
		{"an empty cell", read("a,b\n1,\n", data.CSVOptions{}), `line 2, column 3: B: "" is not a float32`},
		{"a number that is too large", read("a,b\n1e39,1\n", data.CSVOptions{}), `line 2, column 1: A: "1e39" is not a float32`},
		{"in a line without quotes", read("a;b\n\nö;2", data.CSVOptions{Comma: ';', NoQuotes: true}), `line 3, column 1: A: "ö" is not a float32`},
		{"in its second cell", read("a;b\n1;ö", data.CSVOptions{Comma: ';', NoQuotes: true}), `line 2, column 3: B: "ö" is not a float32`},
		{"a short record", read("a,b\n1,2\n3\n", data.CSVOptions{}), "line 3: 1 cells: 2 expected"},
		{"a long record", read("a,b\n1,2,3\n", data.CSVOptions{}), "line 2: 3 cells: 2 expected"},
		{"a column that is missing", read("a,c\n1,2\n", data.CSVOptions{}), `field B: no column "B"`},
		{"a quote in a cell", read("a,b\n1\"2,3\n", data.CSVOptions{}), `parse error on line 2, column 2: bare " in non-quoted-field`},
		{"an open quote", read("a,b\n\"1,3\n", data.CSVOptions{}), `parse error on line 2, column 6: extraneous or missing " in quoted-field`},
		{"columns beyond the fields", read("1,2,3\n", data.CSVOptions{NoHeader: true}), "3 columns: the fields of data_test.number take 2"},
		{"an odd comma", read("a,b\n", data.CSVOptions{Comma: '\n'}), "csv: invalid field or comment delimiter"},
		{"odd fields", failed(data.ReadCSV[odd](strings.NewReader("A,B,c,E\n"), data.CSVOptions{})),
			`field C: tag says "omitempty": optional or nothing expected
field A is a [2][2]float32: text, bools, numbers and arrays of them expected
field B is a []float32: text, bools, numbers and arrays of them expected
field D: no column "D"
field E: takes 3 columns from column 4 on: there are 4`},
		{"an array beyond the table", failed(data.ReadCSV[huge](strings.NewReader("1,2\n"), data.CSVOptions{NoHeader: true})),
			"field A: takes 1048576 columns from column 1 on: there are 2"},
		{"not a struct", failed(data.ReadCSV[float32](strings.NewReader("1\n"), data.CSVOptions{NoHeader: true})), "rows are float32: a struct expected"},
	} {
		t.Run(tt.name, func(t *testing.T) { wantError(t, tt.err, tt.want) })
	}
	path := write(t, "x.csv", []byte("a,b\n1,x"))
	_, err := data.CSV[number](path, data.CSVOptions{})
	wantError(t, err, "csv: "+path+`: line 2, column 3: B: "x" is not a float32`)
}

func TestCSVOfCorpus(t *testing.T) {
	type wine struct {
		Features [11]float32 `data:"fixed acidity"`
		Quality  float32
	}
	rows, err := data.CSV[wine](corpus.Path(t, "datasets/wine/winequality-red.csv"), data.CSVOptions{Comma: ';'})
	if err != nil || len(rows) != 1599 || rows[0].Features[0] != 7.4 || rows[0].Features[10] != 9.4 || rows[0].Quality != 5 {
		t.Errorf("%d wines, %v", len(rows), err)
	}
}

func FuzzReadCSV(f *testing.F) {
	for _, text := range []string{houses, "", "a,b\n1,2\n", "\ufeffa;b\n\"1\";2", "a\tb\n\"\t\n", "a,b\n1,\"2\n3\"\n", "\"a\",b\r\n,\r\n"} {
		for _, noQuotes := range []bool{false, true} {
			f.Add(text, uint32(','), uint32(0), false, noQuotes)
			f.Add(text, uint32(';'), uint32('#'), true, noQuotes)
		}
	}
	f.Add("x", uint32(0x110000), uint32(0xd800), true, true)
	f.Fuzz(func(t *testing.T, text string, comma, comment uint32, noHeader, noQuotes bool) {
		o := data.CSVOptions{Comma: rune(comma), Comment: rune(comment), NoHeader: noHeader, NoQuotes: noQuotes}
		type row struct {
			A string
			B [2]float32 `data:",optional"`
		}
		rows, err := data.ReadCSV[row](strings.NewReader(text), o)
		if err != nil && rows != nil {
			t.Error("rows beside an error")
		}
		if lines := strings.Count(text, "\n") + 1; len(rows) > lines {
			t.Errorf("%d rows in %d lines", len(rows), lines)
		}
	})
}

func TestNoReader(t *testing.T) {
	wantError(t, failed(data.ReadCSV[struct{ A int }](nil, data.CSVOptions{})), "no reader to read from")
	wantError(t, failed(data.ReadJSONL[struct{ A int }](nil)), "no reader to read from")
	wantError(t, failed(data.ReadIDX[uint8](nil)), "no reader to read from")
}
