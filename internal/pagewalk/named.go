package pagewalk

import (
	"errors"
	"iter"
	"strings"
)

// ErrAmbiguous says that several items have the name.
var ErrAmbiguous = errors.New("several items have this name")

// Named finds the only item with exactly this name, after trimming, and the names of the others.
func Named[T any](items iter.Seq2[*T, error], name string, nameOf func(*T) string) (match *T, others []string, err error) {
	name = strings.TrimSpace(name)
	for item, err := range items {
		switch {
		case err != nil:
			return nil, nil, err
		case strings.TrimSpace(nameOf(item)) != name:
			others = append(others, nameOf(item))
		case match != nil:
			return nil, nil, ErrAmbiguous
		default:
			match = item
		}
	}
	return match, others, nil
}
