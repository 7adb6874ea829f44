package images

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/data/datatest"
)

func TestFolder(t *testing.T) {
	file := func(n int) []byte { return encoded(t, few(n, 2)) }
	dir := tree(t, map[string][]byte{
		"dog/2.png": file(1), "dog/10.PNG": file(2), "dog/deep/1.bmp": encodings(t, 3, 2)["bmp"], "dog/notes.txt": nil, "dog/.hidden.png": nil, "dog/.thumbs/1.png": nil,
		"cat/a.b.gif": encodings(t, 4, 2)["gif"], "cat/Z.webp": encodings(t, 5, 2)["webp"], // any content of a known format
		"Ant/1.tif": file(6), "Ant/1.jpeg": file(7),
		".git/1.png": nil, "LICENSE": nil,
	})
	f, err := Folder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := f.Classes(), []string{"Ant", "cat", "dog"}; !slices.Equal(got, want) {
		t.Errorf("classes %v, want %v", got, want)
	}
	want := []struct {
		path         string
		label, width int
	}{{"Ant/1.jpeg", 0, 7}, {"Ant/1.tif", 0, 6}, {"cat/Z.webp", 1, 5}, {"cat/a.b.gif", 1, 4}, {"dog/10.PNG", 2, 2}, {"dog/2.png", 2, 1}, {"dog/deep/1.bmp", 2, 3}}
	if f.Len() != len(want) || f.Ignored() != 2 {
		t.Errorf("%d pictures, want %d; %d files are ignored", f.Len(), len(want), f.Ignored())
	}
	for i, w := range want {
		p, err := f.At(i)
		if err != nil || p.Path != w.path || p.Label != w.label || p.Image.Rect.Dx() != w.width || f.Labels()[i] != w.label {
			t.Errorf("item %d is %s of class %d, %v, want %v", i, p.Path, p.Label, err, w)
		}
	}
	datatest.Run(t, f, datatest.Options[Picture]{})
}

func TestMistakesInFolders(t *testing.T) {
	empty := t.TempDir()
	wantError(t, failed(Folder(empty)), "image folder: "+empty+": no folders of classes")
	dir := tree(t, map[string][]byte{"a/1.png": nil, "b/readme.md": nil})
	wantError(t, failed(Folder(dir)), "image folder: "+filepath.Join(dir, "b")+": no pictures of this class")
	if err := failed(Folder(filepath.Join(dir, "c"))); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// TestErrorsNameItems asserts that the error of a picture names the item and the file, and that a loader
// can go on without the item.
func TestErrorsNameItems(t *testing.T) {
	good := encoded(t, few(4, 3))
	dir := tree(t, map[string][]byte{"a/1.png": good, "a/2.png": good[:40], "b/1.png": good})
	f, err := Folder(dir)
	if err != nil {
		t.Fatal(err)
	}
	put := data.Pairs(func(p Picture, x *string, y *int, _ *rand.Rand) error { return nil })
	want := "item 1: " + filepath.Join(dir, "a", "2.png") + ": png: unexpected EOF"
	for _, err := range data.Load(f, put, data.LoaderOptions{Batch: 3}).Epoch(context.Background(), 0, 0) {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	for b, err := range data.Load(f, put, data.LoaderOptions{Batch: 3, OnError: data.Skip, Log: quiet}).Epoch(context.Background(), 0, 0) {
		if err != nil || len(b.X) != 2 {
			t.Errorf("%d items, %v", len(b.X), err)
		}
	}
}

func TestLinks(t *testing.T) {
	dir := tree(t, map[string][]byte{"real/1.png": encoded(t, few(4, 3)), "set/b/2.png": encoded(t, few(3, 3))})
	for link, to := range map[string]string{
		"set/a":       "../real",
		"set/b/1.png": "../../real/1.png",
		"set/b/loop":  "..", // a folder
	} {
		if err := os.Symlink(filepath.FromSlash(to), filepath.Join(dir, filepath.FromSlash(link))); err != nil {
			t.Skip(err)
		}
	}
	f, err := Folder(filepath.Join(dir, "set"))
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for p, err := range data.All[Picture](f) {
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, p.Path)
	}
	if want := []string{"a/1.png", "b/1.png", "b/2.png"}; !slices.Equal(paths, want) {
		t.Errorf("%v, want %v", paths, want)
	}
}
