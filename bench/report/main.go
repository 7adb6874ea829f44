// Report writes a page and a picture of the measurements of compare.mjs.
//
//	go run ./report [-o .] [FILE ...]
//
// The files are the output of compare.mjs --json. If a case is in several files, the last one is
// used. If the last one has no times, only its accuracy is used. The merged results are written to
// results.json, which is read if no file is given. RESULTS.md and ratios.svg are made from
// results.json and from notes.json, which explains the ratios of models.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("report: ")
	dir := flag.String("o", ".", "folder of results.json, notes.json, RESULTS.md and ratios.svg")
	flag.Parse()
	if err := run(*dir, flag.Args()); err != nil {
		log.Fatal(err)
	}
}

func run(dir string, files []string) error {
	results := filepath.Join(dir, "results.json")
	if len(files) == 0 {
		files = []string{results}
	}
	all, err := read(files)
	if err != nil {
		return err
	}
	notes := map[string]string{}
	if err := decode(filepath.Join(dir, "notes.json"), &notes); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	data, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return err
	}
	image, err := picture(all.Cases)
	if err != nil {
		return err
	}
	for name, text := range map[string][]byte{
		"results.json": append(data, '\n'),
		"RESULTS.md":   page(all, notes),
		"ratios.svg":   image,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			return err
		}
	}
	return nil
}

func decode(path string, v any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
