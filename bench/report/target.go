package main

// target holds the ratios of medians that a model should reach: with one thread, and with two or more. 0 means that
// there is no target.
type target struct{ one, two float64 }

var targets = map[string]target{
	"resnet50":       {1.22, 1.02},
	"vgg19":          {2.1, 1.02},
	"inception-v1":   {2, 1.02},
	"inception-v2":   {1.4, 1.02},
	"alexnet":        {1.4, 1.02},
	"densenet121":    {1.3, 1.02},
	"squeezenet":     {1.25, 1.02},
	"shufflenet":     {1.25, 1.02},
	"bert-base-s128": {1.11, 1.02},
	"minilm-s128":    {1.15, 1.02},
	"bert-base-s1":   {1.15, 1.02},
	"mnist-cnn":      {1.5, 1.02},
	"mlp-784":        {1.35, 1.02},
	"mlp-16-64-64-4": {10, 1.02},
}

// others is the target of models that targets does not list.
var others = target{0.98, 1.02}

func (r result) target() float64 {
	t, ok := targets[r.Model]
	if !ok {
		t = others
	}
	if r.Threads > 1 {
		return t.two
	}
	return t.one
}
