package sandbox

import "slices"

// appendEach appends f of every element.
func appendEach[T, U any](to []U, from []T, f func(T) U) []U {
	for _, v := range from {
		to = append(to, f(v))
	}
	return to
}

// newestFirst are elements turned around.
func newestFirst[T any](elements []T) []T {
	turned := slices.Clone(elements)
	slices.Reverse(turned)
	return turned
}

// kept are the elements that fit.
func kept[T any](from []T, fits func(T) bool) (fitting []T) {
	for _, v := range from {
		if fits(v) {
			fitting = append(fitting, v)
		}
	}
	return fitting
}

// findIn is the first element that fits, or nil.
func findIn[T any](among []T, fits func(*T) bool) *T {
	for i := range among {
		if fits(&among[i]) {
			return &among[i]
		}
	}
	return nil
}

// find is the first element that fits, or nil.
func find[T any](among []*T, fits func(*T) bool) *T {
	if i := slices.IndexFunc(among, fits); i >= 0 {
		return among[i]
	}
	return nil
}
