// Package browser holds the tests that drive the sandbox's dashboard in a headless browser. They are a module of their own for the
// sake of what they need.
package browser
