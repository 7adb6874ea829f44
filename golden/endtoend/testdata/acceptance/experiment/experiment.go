package experiment

//burngen:config
type ExperimentConfig struct {
	HiddenSize int
	Dropout    float64 `default:"0.5"`
	Activation string  `default:"relu"`
	LR         float64 `default:"1e-4"`
}
