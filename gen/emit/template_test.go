package emit

import (
	"bytes"
	"go/format"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/templates"
)

// filled returns a declaration of the skeleton as it is printed.
func filled(key string, values fill) (text string, err error) {
	err = ir.Try(func() {
		f := jen.NewFile("model")
		f.Add(from(key, values))
		var b bytes.Buffer
		if err := f.Render(&b); err != nil {
			ir.FailWith(err)
		}
		text = b.String()
	})
	return text, err
}

func TestFrom(t *testing.T) {
	got, err := filled("Session.Reset", fill{"fields_": []jen.Code{jen.Id("a").Call(), jen.Id("b").Call()}})
	if err != nil {
		t.Fatal(err)
	}
	if want := "\tif s == nil {\n\t\treturn\n\t}\n\ta()\n\tb()\n}\n"; !strings.HasSuffix(got, want) {
		t.Errorf("got\n%s", got)
	}
	got, err = filled("Session", fill{"Field_": []jen.Code(nil)})
	if want := "type Session struct {\n\trt.Session[weights]\n}\n"; err != nil || !strings.HasSuffix(got, want) || !strings.Contains(got, rtPath) {
		t.Errorf("no field: got\n%s, error %v", got, err)
	}
	got, err = filled("Load_rawFile", fill{"file_": prose("one,\nor another"), "opened_": jen.Nil(),
		"opens_": prose(""), "Option_": []jen.Code(nil), "open_": []jen.Code(nil), "device_": []jen.Code(nil)})
	if want := "// Load returns the model with the weights of one,\n// or another, which it maps into memory.\nfunc Load(path string)"; err != nil || !strings.Contains(got, want) {
		t.Errorf("a variant: got\n%s, error %v", got, err)
	}
}

// TestFromRefuses asserts that every placeholder needs a replacement of the right kind.
func TestFromRefuses(t *testing.T) {
	for _, c := range []struct {
		name, key string
		values    fill
		want      string
	}{
		{"no value", "Session", nil, "nothing stands for Field_"},
		{"no placeholder", "Model.loaded", fill{"x_": jen.Nil()}, "has no placeholder x_"},
		{"no declaration", "Model.lost", nil, "does not declare Model.lost"},
		{"code for a name", "Trainer.Backward", fill{
			"Method_": name("x() }; func init() {"), "Param_": []jen.Code(nil), "method_": jen.Nil(), "passed_": jen.Nil(),
			"checks_": []jen.Code(nil), "schedule_": name("x\n"), "param_": jen.Nil(),
		}, "is not an identifier"},
		{"text for an identifier", "Load_raw", fill{"opened_": prose("x"),
			"Option_": []jen.Code(nil), "open_": []jen.Code(nil), "device_": []jen.Code(nil)}, "stands for opened_"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := filled(c.key, c.values); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

// TestTemplates asserts that the files of the skeleton are formatted, and name no target.
func TestTemplates(t *testing.T) {
	files, err := fs.Glob(templates.Skeleton, "skeleton/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, error %v", len(files), err)
	}
	for _, file := range files {
		data, err := fs.ReadFile(templates.Skeleton, file)
		if err != nil {
			t.Fatal(err)
		}
		if out, err := format.Source(data); err != nil || !bytes.Equal(out, data) {
			t.Errorf("%s is not formatted; error %v", file, err)
		}
		for _, target := range []string{"cpu", "cuda", "vulkan"} {
			if bytes.Contains(bytes.ToLower(data), []byte(target)) {
				t.Errorf("%s names the target %s", file, target)
			}
		}
	}
}

// TestSkeletonIsPrinted asserts that no declaration of the skeleton is left over.
func TestSkeletonIsPrinted(t *testing.T) {
	var source strings.Builder
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(file, "_test.go") {
			source.Write(data)
		}
	}
	for key := range skeleton() {
		if !strings.Contains(source.String(), strconv.Quote(key)) {
			t.Errorf("nothing prints %s", key)
		}
	}
}
