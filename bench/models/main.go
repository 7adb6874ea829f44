// Models writes the ONNX files that compare.mjs times: the official light models with random
// weights, single operators, and small networks. It also writes models of thousands of nodes, to
// test how long burngen takes to compile them.
//
//	go run ./models [-o out/models] [-corpus DIR] [-list] [NAME ...]
//
// Each model gets a folder. NAME is a model or a group: "operators"; "large", models of thousands
// of nodes; or "all", all models except the large ones, about 2 GB. The default is "all". A suffix
// "-n" makes the batch of a model the symbol N. The light models are read from the folder
// BURNGEN_CORPUS (default: ../../shared/corpus).
package main

import (
	"bufio"
	"cmp"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

type model struct {
	name  string
	build func(corpus string) (*graph, error)
}

var models = []model{
	{"matmul-64", built(func() *graph { return matmul(64, 64, 64) })},
	{"matmul-512", built(func() *graph { return matmul(512, 512, 512) })},
	{"matmul-1024", built(func() *graph { return matmul(1024, 1024, 1024) })},
	{"matmul-1x768x3072", built(func() *graph { return matmul(1, 768, 3072) })},
	{"matmul-128x768x3072", built(func() *graph { return matmul(128, 768, 3072) })},

	{"conv-3x3-64-56", built(func() *graph { return conv(layer{64, 64, 56, 3, 1, 1}) })},
	{"conv-3x3-256-14", built(func() *graph { return conv(layer{256, 256, 14, 3, 1, 1}) })},
	{"conv-1x1-256-56", built(func() *graph { return conv(layer{64, 256, 56, 1, 1, 1}) })},
	{"conv-1x1-1024-14", built(func() *graph { return conv(layer{1024, 256, 14, 1, 1, 1}) })},
	{"conv-7x7-s2-224", built(func() *graph { return conv(layer{3, 64, 224, 7, 2, 1}) })},
	{"conv-depthwise-56", built(func() *graph { return conv(layer{128, 128, 56, 3, 1, 128}) })},

	{"mlp-16-64-64-4", built(func() *graph { return mlp(16, 64, 64, 4) })},
	{"mlp-784", built(func() *graph { return mlp(784, 256, 128, 10) })},
	{"mnist-cnn", built(cnn)},

	{"encoder-s128", built(encoder{1, 128, 768, 12, 3072}.graph)},
	{"minilm-s16", built(encoder{6, 16, 384, 12, 1536}.graph)},
	{"minilm-s128", built(encoder{6, 128, 384, 12, 1536}.graph)},
	{"bert-base-s1", built(encoder{12, 1, 768, 12, 3072}.graph)},
	{"bert-base-s128", built(encoder{12, 128, 768, 12, 3072}.graph)},

	{"squeezenet", lit("squeezenet")},
	{"shufflenet", lit("shufflenet")},
	{"alexnet", lit("bvlc_alexnet")},
	{"zfnet512", lit("zfnet512")},
	{"inception-v1", lit("inception_v1")},
	{"inception-v2", lit("inception_v2")},
	{"densenet121", lit("densenet121")},
	{"resnet50", lit("resnet50")},
	{"vgg19", lit("vgg19")},

	{"chain-5000", built(func() *graph { return chain(5000) })},
	{"web-5000", built(func() *graph { return web(5000) })},
}

func built(f func() *graph) func(string) (*graph, error) {
	return func(string) (*graph, error) { return f(), nil }
}

func lit(name string) func(string) (*graph, error) {
	return func(corpus string) (*graph, error) { return light(corpus, name) }
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("models: ")
	dir := flag.String("o", filepath.Join("out", "models"), "folder to write to")
	corpus := flag.String("corpus", cmp.Or(os.Getenv("BURNGEN_CORPUS"), "../../shared/corpus"), "folder of the light models")
	list := flag.Bool("list", false, "print the names and write nothing")
	flag.Parse()

	chosen, err := choose(flag.Args())
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range chosen {
		if *list {
			fmt.Println(m.name)
			continue
		}
		if err := m.write(*dir, *corpus); err != nil {
			log.Fatal(err)
		}
	}
}

// choose returns the models that names select. A name is the name of a model or of a group. If there are no names,
// choose returns all models. The suffix "-n" selects models with a symbolic batch. A group with this suffix leaves
// out models without a batch. choose returns an error for any other name.
func choose(names []string) ([]model, error) {
	if len(names) == 0 {
		names = []string{"all"}
	}
	var chosen []model
	for _, name := range names {
		base, open := strings.CutSuffix(name, "-n")
		found := false
		for _, m := range models {
			if !m.in(base) {
				continue
			}
			found = true
			switch {
			case !open:
				chosen = append(chosen, m)
			case m.name == base || m.batched():
				chosen = append(chosen, m.opened())
			}
		}
		if !found {
			return nil, fmt.Errorf("%s: no such model", name)
		}
	}
	return chosen, nil
}

// opened returns a variant of m with a symbolic batch size. Its name ends in "-n".
func (m model) opened() model {
	return model{m.name + "-n", func(corpus string) (*graph, error) {
		g, err := m.build(corpus)
		if err == nil {
			err = g.openBatch()
		}
		return g, err
	}}
}

// in reports whether name is the model's name or the name of one of its groups.
func (m model) in(name string) bool {
	large := m.named("chain", "web")
	switch name {
	case "all":
		return !large
	case "large":
		return large
	case "operators":
		return m.named("matmul", "conv")
	}
	return name == m.name
}

func (m model) batched() bool { return !m.named("matmul", "web") }

// named reports whether the model's name, up to its first hyphen, is one of the words.
func (m model) named(words ...string) bool {
	first, _, _ := strings.Cut(m.name, "-")
	return slices.Contains(words, first)
}

func (m model) write(dir, corpus string) error {
	g, err := m.build(corpus)
	if err != nil {
		return err
	}
	g.name = m.name
	folder := filepath.Join(dir, m.name)
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	part := filepath.Join(folder, "model.onnx.part")
	f, err := os.Create(part)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	if err := g.writeTo(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(part, filepath.Join(folder, "model.onnx"))
}
