package hf_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	writer "github.com/parquet-go/parquet-go"

	"github.com/burngen/burngen/runtime/data/datatest"
	"github.com/burngen/burngen/runtime/data/store/hf"
)

// row is an item of the tests.
type row struct {
	Text  string `data:"text" parquet:"text"`
	Label int64  `data:"label" parquet:"label"`
}

// folder makes a folder of files.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	add(t, dir, files)
	return dir
}

func add(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

// shard returns a Parquet file.
func shard[R any](t testing.TB, rows ...R) string {
	t.Helper()
	var b bytes.Buffer
	w := writer.NewGenericWriter[R](&b, writer.MaxRowsPerRowGroup(2))
	_, err := w.Write(rows)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zipped(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// texts returns the texts of a split's items, and tests its laws.
func texts(t *testing.T, dir, config, split string) string {
	t.Helper()
	d, err := hf.OpenConfig[row](dir, config, split)
	if err != nil {
		t.Error(err)
		return ""
	}
	var list []string
	for i := range d.Len() {
		x, err := d.At(i)
		if err != nil {
			t.Error(err)
		}
		list = append(list, x.Text)
	}
	datatest.Run(t, d, datatest.Options[row]{})
	return strings.Join(list, " ")
}

func failed(dir, config, split string) error {
	d, err := hf.OpenConfig[row](dir, config, split)
	if err == nil {
		d.Close()
	}
	return err
}

func jsonl(texts ...string) string {
	var b strings.Builder
	for i, x := range texts {
		fmt.Fprintf(&b, "{\"text\": %q, \"label\": %d}\n", x, i)
	}
	return b.String()
}

// TestLayouts opens data sets whose files say by their names which split they belong to.
func TestLayouts(t *testing.T) {
	a, b, c := shard(t, row{"a", 1}), shard(t, row{"b", 2}, row{"bb", 2}, row{"bbb", 3}), shard(t, row{"c", 3})
	for name, tt := range map[string]struct {
		files  map[string]string
		splits map[string]string
	}{
		"shards": {map[string]string{
			"README.md": "# text\n", "data/train-00001-of-00002.parquet": b, "data/train-00000-of-00002-abc.parquet": a,
			"data/test.extra-00000-of-00001.parquet": c, "test.parquet": c, "dataset_infos.json": "{}",
		}, map[string]string{"train": "a b bb bbb", "test.extra": "c"}},
		"folders": {map[string]string{"x/train/1.jsonl": jsonl("a"), "x/train/2.jsonl": jsonl("b"), "dev-1/train.jsonl": jsonl("c"), "my_testing/d/1.jsonl": jsonl("d"), "e.jsonl": jsonl("e")},
			map[string]string{"train": "a b", "validation": "c", "test": "d"}},
		"files": {map[string]string{"train.csv": "text,label\na,1\n", "x/my-valid.csv": "text,label\nb,1\n", "eval_1.csv.gz": zipped(t, "label,text\n1,c\n"), "trained.csv": "text,label\nd,1\n", "notes.txt": "x"},
			map[string]string{"train": "a", "validation": "b", "test": "c"}},
		"one split": {map[string]string{"b.tsv": "text\tlabel\nb\t1\n", "a.tsv": "text\tlabel\na,\t1\n", ".hidden/c.tsv": "", "__cache__/d.tsv": "", ".e.tsv": ""},
			map[string]string{"train": "a, b"}},
		"most files": {map[string]string{"1.json": jsonl("a"), "2.json": " \n[{\"text\": \"b\",\n\"label\": 1}, {\"label\": 2, \"text\": \"c\"}]\n", "3.parquet": c, "4.json": "\ufeff[]"},
			map[string]string{"train": "a b c"}},
	} {
		dir := folder(t, tt.files)
		for split, want := range tt.splits {
			if got := texts(t, dir, "", split); got != want {
				t.Errorf("%s: %s is %q, want %q", name, split, got, want)
			}
		}
		if err := failed(dir, "", "other"); err == nil || !strings.Contains(err.Error(), `no split "other": there is "`) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

const described = `---
license: mit
size_categories: [n<1K]
configs:
- config_name: en
  data_files: en/*.jsonl
- config_name: all
  default: true
  data_files:
  - split: train
    path: ["*/b.jsonl", "./en/?.jsonl"]
  - split: test
    path: "**/[!ab].jsonl"
- config_name: map
  data_dir: de/
  data_files:
    train: a.jsonl
    val: [b.jsonl]
- config_name: folder
  data_dir: de
- config_name: list
  data_files: [fr.csv]
  sep: ";"
- config_name: none
  data_files: "../*.jsonl"
---
# Texts
`

func TestCards(t *testing.T) {
	dir := folder(t, map[string]string{
		"README.md": described, "en/a.jsonl": jsonl("ea"), "en/b.jsonl": jsonl("eb"), "de/a.jsonl": jsonl("da"), "de/b.jsonl": jsonl("db"), "c.jsonl": jsonl("c"),
		"fr.csv": "text;label\nf;1\n",
	})
	for _, tt := range []struct{ config, split, want string }{
		{"", "train", "db eb ea"}, {"", "test", "c"}, {"all", "test", "c"}, {"en", "train", "ea eb"},
		{"map", "train", "da"}, {"map", "val", "db"}, {"folder", "train", "da db"}, {"list", "train", "f"},
	} {
		if got := texts(t, dir, tt.config, tt.split); got != tt.want {
			t.Errorf("%s/%s is %q, want %q", tt.config, tt.split, got, tt.want)
		}
	}
	for _, tt := range []struct{ config, split, want string }{
		{"x", "train", `no configuration "x": there is "en", "all", "map", "folder", "list", "none"`},
		{"en", "test", `no split "test": there is "train"`},
		{"none", "train", `split "train": no files of Parquet, JSON or CSV match ../*.jsonl`},
	} {
		if err := failed(dir, tt.config, tt.split); err == nil || err.Error() != "hf: "+dir+": "+tt.want {
			t.Error(err)
		}
	}
	for card, want := range map[string]string{
		"---\nconfigs: 3\n---\n": "README.md: yaml: ",
		"---\nconfigs:\n- config_name: a\n  data_files:\n  - split: a\n    path: x\n  - split: a\n    path: y\n---\n":       `README.md: configuration "a": data_files: split "a": described twice`,
		"---\nconfigs:\n- config_name: a\n- config_name: a\n---\n":                                                          `README.md: configuration "a": described twice`,
		"---\nconfigs:\n- config_name: a\n- config_name: b\n---\n":                                                          `none of the configurations is the default one: name one of "a", "b"`,
		"---\nconfigs:\n- config_name: a\n  data_files:\n    train: {x: y}\n---\n":                                          `README.md: configuration "a": data_files: line 5: the path of files expected, or a list of paths`,
		"---\nconfigs:\n- config_name: a\n  sep: '::'\n---\n":                                                               `README.md: configuration "a": separator "::": one character expected`,
		"---\nconfigs:\n- config_name: a\n  data_files: '[z-a].jsonl'\n---\n":                                               "pattern \"[z-a].jsonl\": error parsing regexp",
		"---\na: &a [1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nconfigs:\n- config_name: c\n  data_files: x\n---\n": `split "train": no files of Parquet, JSON or CSV match x`,
		"---\n": "", "---\nconfigs:\n": "", "--- \n": "", "---\r\nlicense: mit\r\n---\r\n": "",
	} {
		add(t, dir, map[string]string{"README.md": card})
		err := failed(dir, "", "train")
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: error %v, want %s", card, err, want)
		}
	}
}

// TestPictures reads columns of pictures, as the hub has them.
func TestPictures(t *testing.T) {
	type picture struct {
		Bytes []byte  `parquet:"bytes,optional"`
		Path  *string `parquet:"path,optional"`
	}
	type stored struct {
		Image *picture `parquet:"image,optional"`
		Label int64    `parquet:"label"`
	}
	name := "cat.png"
	dir := folder(t, map[string]string{"data/train-00000-of-00001.parquet": shard(t, stored{&picture{[]byte("\x89PNG"), &name}, 4}, stored{&picture{[]byte("GIF"), nil}, 5})})
	type item struct {
		Image hf.File `data:"image"`
		Label int     `data:"label"`
	}
	d, err := hf.Open[item](dir, "train")
	if err != nil {
		t.Fatal(err)
	}
	if d.Block() != 2 {
		t.Errorf("blocks of %d", d.Block())
	}
	datatest.Run(t, d, datatest.Options[item]{Want: []item{{hf.File{[]byte("\x89PNG"), "cat.png"}, 4}, {hf.File{[]byte("GIF"), ""}, 5}}})
}

// cached makes the folder of a repository in a cache, with the file at revision/data/name.
func cached(t *testing.T, revisions ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "datasets--me--texts")
	for _, revision := range revisions {
		add(t, dir, map[string]string{"blobs/" + revision: jsonl(revision)})
		data := filepath.Join(dir, "snapshots", revision, "data")
		if err := errors.Join(os.MkdirAll(data, 0o755), os.Symlink("../../../blobs/"+revision, filepath.Join(data, "train.jsonl"))); err != nil {
			t.Skip(err)
		}
	}
	return dir
}

func TestCache(t *testing.T) {
	dir := cached(t, "abc", "def")
	if err := failed(dir, "", "train"); err == nil || !strings.Contains(err.Error(), "2 revisions, and none is main") {
		t.Error(err)
	}
	for _, revision := range []string{"abc", "def"} {
		if got := texts(t, filepath.Join(dir, "snapshots", revision), "", "train"); got != revision {
			t.Errorf("%s: %q", revision, got)
		}
	}
	add(t, dir, map[string]string{"refs/main": "def\n"})
	if got := texts(t, dir, "", "train"); got != "def" {
		t.Errorf("main is %q", got)
	}
	add(t, dir, map[string]string{"refs/main": "../blobs"})
	if err := failed(dir, "", "train"); err == nil || !strings.Contains(err.Error(), "the name of a revision expected") {
		t.Error(err)
	}
	if got := texts(t, cached(t, "one"), "", "train"); got != "one" {
		t.Errorf("the only revision is %q", got)
	}
}

// TestLinks asserts that links do not leave the folder.
func TestLinks(t *testing.T) {
	outside := folder(t, map[string]string{"secret.jsonl": jsonl("secret"), "d/train.jsonl": jsonl("secret")})
	for name, target := range map[string]string{"train.jsonl": filepath.Join(outside, "secret.jsonl"), "test.jsonl": "../x.jsonl"} {
		dir := folder(t, map[string]string{"valid.jsonl": jsonl("v")})
		if err := errors.Join(os.Symlink(target, filepath.Join(dir, name)), os.Symlink(filepath.Join(outside, "d"), filepath.Join(dir, "d"))); err != nil {
			t.Skip(err)
		}
		if err := failed(dir, "", strings.TrimSuffix(name, ".jsonl")); err == nil || !strings.Contains(err.Error(), "escapes") {
			t.Errorf("%s: %v", target, err)
		}
		if got := texts(t, dir, "", "validation"); got != "v" {
			t.Errorf("validation is %q", got)
		}
	}
	dir := folder(t, map[string]string{"real/a": jsonl("inside")})
	if err := os.Symlink("real/a", filepath.Join(dir, "train.jsonl")); err != nil {
		t.Skip(err)
	}
	if got := texts(t, dir, "", "train"); got != "inside" {
		t.Errorf("train is %q", got)
	}
}

func TestMistakes(t *testing.T) {
	dir := folder(t, map[string]string{"train.arrow": "x"})
	for want, err := range map[string]error{
		"hf: " + dir + ": no files of Parquet, JSON or CSV": failed(dir, "", "train"),
	} {
		if fmt.Sprint(err) != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if err := failed(filepath.Join(dir, "none"), "", "train"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	for text, want := range map[string]string{
		"{\"text\": \"a\"}\n":                  `train.jsonl: line 1: no key "label"`,
		"\n\n{\"text\": 1, \"label\": 1}":      "train.jsonl: line 3: text: json",
		"[{\"text\": \"\", \"label\": 1}, {}]": `train.jsonl: line 2: no key "text"`,
		"[{}":                                  "train.jsonl: unexpected EOF",
		"[] []":                                "train.jsonl: text after the array",
	} {
		add(t, dir, map[string]string{"train.jsonl": text})
		if err := failed(dir, "", "train"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
	add(t, dir, map[string]string{"train.jsonl.gz": "x", "train.jsonl": jsonl("a")})
	if err := failed(dir, "", "train"); err == nil || !strings.Contains(err.Error(), "train.jsonl.gz: ") {
		t.Error(err)
	}
	d := folder(t, map[string]string{"train.parquet": shard(t, row{"a", 1})[4:]})
	if err := failed(d, "", "train"); err == nil || !strings.Contains(err.Error(), "train.parquet: ") {
		t.Error(err)
	}
}
