package metric

import "fmt"

// Loss returns the mean loss of all items. The loss and the number of items of an output come
// from its method Lost.
func Loss[O Output]() Metric[O] {
	return newMetric("loss", "", -1, rule[O, *mean]{
		empty: newMean,
		add: func(m *mean, o O) error {
			loss, items := o.Lost()
			if items < 0 {
				return fmt.Errorf("%d items", items)
			}
			m.addMean(loss, items)
			return nil
		},
		value: (*mean).value,
	})
}
