package claim_test

import (
	"fmt"

	"example.com/prospectkit/examples/claim"
)

func ExampleCheck() {
	text := "The NDA of jo@customer.example ends"
	for _, f := range claim.Check(text) {
		fmt.Printf("%s: %q\n", f.Rule, text[f.Start:f.End])
	}
	// Output:
	// contract vocabulary: "NDA"
	// e-mail address: "jo@customer.example"
}
